package claude

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/policy/toolkind"
	"github.com/tributary-dev/tributary/trace"
)

// name is the agent's name in sentences.
const name = "Claude Code"

// Runtime runs Claude Code, one process for each session. The zero value runs
// the claude of the PATH with our own environment.
type Runtime struct {
	// Command is the program; "claude" if empty.
	Command string
	// Script comes before the arguments that the protocol needs: what an interpreter
	// runs, for a program of the user's own that speaks the same protocol.
	Script []string
	// Args come after the ones that the protocol needs. The program refuses those that
	// switch permission requests off.
	Args []string
	// Unguarded leaves the rules and modes of Claude Code in force that let calls run without a
	// request. Else the gateway is asked about every call.
	Unguarded bool
	// Hooks lets the hooks of settings files run. Nobody is asked about these programs, and a hook
	// PermissionRequest answers before a person.
	Hooks bool
	// Env is the whole environment of the process; nil is an empty one.
	Env []string
	// Tools says what the tools do; toolkind.Claude() if nil.
	Tools *toolkind.Table
	// StartTime and StopTime bound how long a start and a stop may take; 30 s
	// and 5 s if zero.
	StartTime, StopTime time.Duration
}

var (
	_ agent.Runtime  = Runtime{}
	_ agent.Prober   = Runtime{}
	_ agent.Rewinder = Runtime{}
)

// Rewinds implements agent.Rewinder.
func (r Runtime) Rewinds(token string) bool { return agentkit.Rewinds(token) }

// Open implements agent.Runtime. If the agent no longer knows the conversation,
// Open begins a new one. If the agent does not find its place in the conversation,
// Open resumes the conversation at its end. The next turn reports either case.
func (r Runtime) Open(ctx context.Context, host agent.Host, cfg agent.Config) (agent.Session, error) {
	if err := checkMode(cfg.Mode); err != nil {
		return nil, err
	}
	spec := r.spec()
	spec.Args = func(resume string) []string { return r.args(cfg, agentkit.ParseBookmark(resume)) }
	spec.New = func(c agentkit.Conn, resume string) agentkit.Protocol {
		p := r.protocol(c, resume)
		p.chosen, p.files = cfg.Mode, host.Files
		return p
	}
	return agentkit.Open(ctx, host, cfg, spec)
}

func (r Runtime) spec() agentkit.Spec {
	return agentkit.Spec{
		Adapter: "claude", Name: name, Command: cmp.Or(r.Command, "claude"), Env: r.Env, Advice: advice,
		Marks:     []string{"type"},
		NotFound:  agentkit.NotFound("claude", name, r.Command, "npm install -g @anthropic-ai/claude-code"),
		StartTime: r.StartTime, StopTime: r.StopTime,
	}
}

// checkMode refuses the modes in which Claude Code asks nobody: the gateway's policy and
// its users decide.
func checkMode(mode string) error {
	if mode == "" || slices.ContainsFunc(modes(), func(m trace.Mode) bool { return m.ID == mode }) {
		return nil
	}
	return fmt.Errorf("claude: the mode %.40q is not offered here: choose default, plan or acceptEdits", mode)
}

// Probe implements agent.Prober.
func (r Runtime) Probe(ctx context.Context) (string, error) {
	printed, err := r.spec().Probe(ctx, r.Script...)
	version, _, _ := strings.Cut(printed, " ")
	return version, err
}

func (r Runtime) args(cfg agent.Config, at agentkit.Bookmark) []string {
	args := append(slices.Clone(r.Script), closedArgs(cfg.Closed, cfg.Cwd)...) // in front, because a list of rules ends at the next option
	args = append(args,
		"-p", "--output-format", "stream-json", "--input-format", "stream-json", "--verbose",
		"--include-partial-messages", "--replay-user-messages", "--permission-prompt-tool", "stdio",
	)
	if r.ownHooksOnly() {
		args = append(args, "--managed-settings", ownHooksOnly)
	}
	args = append(args, resume(at)...)
	if cfg.Model != "" {
		args = append(args, "--model", cfg.Model)
	}
	args = append(args, "--permission-mode", cmp.Or(cfg.Mode, defaultMode)) // else a settings file chooses the mode
	return append(args, r.Args...)
}

// ownHooksOnly reports whether the hooks of settings files do not run.
func (r Runtime) ownHooksOnly() bool { return !r.Unguarded && !r.Hooks && len(r.Script) == 0 }

// Takes implements agent.AnswerTaker.
func (Runtime) Takes() (input, reason bool) { return true, true }
