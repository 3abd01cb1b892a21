package codex

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/policy/toolkind"
)

// Runtime runs `codex app-server`, one process for each session.
type Runtime struct {
	// Command is the program; "codex" if empty.
	Command string
	// Args come after `app-server`.
	Args []string
	// Env is the whole environment.
	Env []string
	// Settings say what Codex may do without asking.
	Settings Settings
	// Tools says what the tools do; toolkind.Codex() if nil.
	Tools *toolkind.Table
	// StartTime and StopTime bound a start and a stop; 30 s and 5 s if zero.
	StartTime, StopTime time.Duration
}

// Settings are the options of an agent in the configuration.
type Settings struct {
	// Approval says when Codex asks. With "untrusted", the default, Codex asks before
	// every command and every patch, so the gateway's policy judges all of them. With
	// "on-request" Codex asks only for what its sandbox forbids.
	Approval string `json:"approval"`
	// Sandbox is what a command may do that was approved or needs no approval:
	// "read-only" or "workspace-write". Both let it read every file of this machine. An
	// approved command that the sandbox stops runs again without it. The default is
	// workspace-write if Codex asks for everything, else read-only.
	Sandbox string `json:"sandbox"`
}

// Filled returns the settings with their defaults. Settings with which Codex does
// everything unasked are refused.
func (s Settings) Filled() (Settings, error) {
	s.Approval = cmp.Or(s.Approval, "untrusted")
	s.Sandbox = cmp.Or(s.Sandbox, map[bool]string{true: "workspace-write", false: "read-only"}[s.Approval == "untrusted"])
	switch {
	case s.Approval != "untrusted" && s.Approval != "on-request":
		return s, agent.WrongSetting("options.approval", "is %q: write untrusted or on-request", s.Approval)
	case s.Sandbox != "read-only" && s.Sandbox != "workspace-write":
		return s, agent.WrongSetting("options.sandbox", "is %q: write read-only or workspace-write", s.Sandbox)
	}
	return s, nil
}

var (
	_ agent.Runtime  = Runtime{}
	_ agent.Prober   = Runtime{}
	_ agent.Lister   = Runtime{}
	_ agent.Rewinder = Runtime{}
)

// Rewinds implements agent.Rewinder.
func (r Runtime) Rewinds(token string) bool { return agentkit.Rewinds(token) }

// Open implements agent.Runtime. A conversation that Codex does not know any more is
// begun again, and the next turn says so.
func (r Runtime) Open(ctx context.Context, host agent.Host, cfg agent.Config) (agent.Session, error) {
	settings, err := r.Settings.Filled()
	if err != nil {
		return nil, err
	}
	model := new(atomic.Pointer[string])
	model.Store(&cfg.Model)
	spec := r.spec()
	spec.New = func(c agentkit.Conn, _ string) agentkit.Protocol { return newProtocol(c, settings, r.Tools, model) }
	return agentkit.Open(ctx, host, cfg, spec)
}

// oneStart is for all processes of Codex: one that starts, also for --version, removes what earlier ones left in its
// home. It may so remove the link to its sandbox of one that starts beside it, which then runs no command (0.171.0).
var oneStart = make(chan struct{}, 1) //nolint:gochecknoglobals // the home is that of all sessions

func (r Runtime) spec() agentkit.Spec {
	return agentkit.Spec{
		Adapter: "codex", Name: name, Command: cmp.Or(r.Command, "codex"), Env: r.Env, Advice: advice,
		Marks:     []string{"method", "id"},
		NotFound:  agentkit.NotFound("codex", name, r.Command, install),
		StartTime: r.StartTime, StopTime: r.StopTime, OneStart: oneStart,
		Args: func(string) []string { return append([]string{"app-server"}, r.Args...) },
	}
}

// Probe implements agent.Prober.
func (r Runtime) Probe(ctx context.Context) (string, error) {
	printed, err := r.spec().Probe(ctx)
	if err != nil {
		return "", err
	}
	_, version, _ := strings.Cut(printed, " ")
	return version, tooOld(version)
}

const (
	name       = "Codex"
	install    = "npm install -g @openai/codex"
	leastMinor = 160
)

// tooOld is the error for a version whose app-server lacks what this adapter needs.
func tooOld(version string) error {
	var major, minor int
	if _, err := fmt.Sscanf(version, "%d.%d", &major, &minor); err != nil {
		return fmt.Errorf("codex: the program prints no version of Codex for --version: correct agents.codex.command, or install Codex with `%s`", install)
	}
	if major == 0 && minor < leastMinor {
		return fmt.Errorf("codex: version %s is too old: install 0.%d or newer with `%s`", version, leastMinor, install)
	}
	return nil
}

// advice is what to do about an error, if that is known.
func advice(text string) string {
	return agentkit.Advice(text, "run `codex login` in a terminal, or pass the key that its configuration names (pass_env)",
		"unauthorized", "not logged in", "401", "missing environment variable")
}
