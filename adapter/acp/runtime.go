package acp

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/internal/procio"
	"github.com/tributary-dev/tributary/policy/toolkind"
)

// Runtime runs an agent, one process for each session.
type Runtime struct {
	// Name is the agent's name in the configuration; "" is that of the preset.
	Name string
	// Preset is what is known of the agent; zero for an agent without a preset.
	Preset Preset
	// Command and Args start the agent.
	Command string
	Args    []string
	// Env is the whole environment of the process.
	Env []string
	// Tools overrides what the agent says of the kinds of its tools.
	Tools toolkind.Table
	// StartTime and StopTime bound a start and a stop; 60 s and 5 s if zero.
	StartTime, StopTime time.Duration
}

var (
	_ agent.Runtime = Runtime{}
	_ agent.Prober  = Runtime{}
	_ agent.Lister  = Runtime{}
)

// Open implements agent.Runtime. A conversation that the agent does not find any more
// is begun again, and the next turn says so.
func (r Runtime) Open(ctx context.Context, host agent.Host, cfg agent.Config) (agent.Session, error) {
	r, s, err := r.checked(cfg)
	if err != nil {
		return nil, err
	}
	spec := r.spec()
	spec.New = func(c agentkit.Conn, _ string) agentkit.Protocol { return newProtocol(r, s, c) }
	return agentkit.Open(ctx, host, cfg, spec)
}

// checked returns the Runtime with its whole environment, and the settings.
func (r Runtime) checked(cfg agent.Config) (Runtime, Settings, error) {
	s, err := parseSettings(cfg.Options, r.Preset)
	if err == nil && r.Command == "" {
		err = fmt.Errorf("%s: there is no program to run: set command, such as gemini, and args, such as [--acp]", r.name())
	}
	r.Env = r.environment()
	return r, s, err
}

func (r Runtime) spec() agentkit.Spec {
	key := "agents." + cmp.Or(r.Name, r.name()) + ".command"
	missing := fmt.Errorf("%s: %s was not found: correct %s", r.name(), r.Command, key)
	if r.Preset.Install != "" {
		missing = fmt.Errorf("%s: %s was not found: install it with `%s`, or correct %s", r.name(), r.Command, r.Preset.Install, key)
	}
	return agentkit.Spec{
		Marks: []string{"method", "id"}, Adapter: r.name(), Name: r.title(), Command: r.Command, Env: r.Env, Files: r.Preset.Files, NotFound: missing,
		StartTime: cmp.Or(r.StartTime, time.Minute), StopTime: r.StopTime, AnswerOnStop: true, Advice: r.advice,
		Args: func(string) []string { return r.Args },
	}
}

// Probe implements agent.Prober.
func (r Runtime) Probe(ctx context.Context) (string, error) {
	out, err := procio.Output(ctx, r.Command, r.Env, "--version")
	if err != nil {
		return "", r.spec().Unversioned(err)
	}
	return version(string(out)), nil
}

var number = regexp.MustCompile(`\b\d+\.\d+[\w.+-]*`) //nolint:gochecknoglobals // compiled once

// version finds the version in what a program prints: among its name, or before advice.
func version(out string) string {
	return short(cmp.Or(strings.TrimRight(number.FindString(out), ".-"), lastLine(out)))
}

// environment is Env with what the preset sets.
func (r Runtime) environment() []string {
	env := slices.Clone(r.Env)
	for _, name := range slices.Sorted(maps.Keys(r.Preset.Set)) {
		if !slices.ContainsFunc(env, func(kv string) bool { return strings.HasPrefix(kv, name+"=") }) {
			env = append(env, name+"="+r.Preset.Set[name])
		}
	}
	return env
}

func (r Runtime) name() string  { return cmp.Or(r.Preset.Name, "acp") }
func (r Runtime) title() string { return cmp.Or(r.Preset.Title, "The agent") }

// advice is what to do about an error, if that is known.
func (r Runtime) advice(text string) string {
	login := ""
	if r.Preset.Login != "" {
		login = agentkit.Advice(text, r.Preset.Login, "log in", "login", "api key", "api_key", "authenticat")
	}
	return cmp.Or(
		agentkit.Advice(text, "correct args, or install a newer version", "unknown option", "unknown argument", "unrecognized", "unexpected argument"),
		agentkit.Advice(text, "install a newer Node.js", "unsupported engine"),
		login,
	)
}
