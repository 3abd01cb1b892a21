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
	"github.com/tributary-dev/tributary/toolkind"
)

// Runtime runs an agent, one process for each session.
type Runtime struct {
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
)

// Open implements agent.Runtime. A conversation that the agent does not find any more
// is begun again, and the next turn says so.
func (r Runtime) Open(ctx context.Context, host agent.Host, cfg agent.Config) (agent.Session, error) {
	s, err := parseSettings(cfg.Options, r.Preset)
	if err != nil {
		return nil, err
	}
	if r.Command == "" {
		return nil, fmt.Errorf("%s: there is no program to run: set command, such as gemini, and args, such as [--acp]", r.name())
	}
	r.Env = r.environment()
	spec := r.spec()
	spec.New = func(c agentkit.Conn, _ string) agentkit.Protocol { return newProtocol(r, s, c) }
	return agentkit.Open(ctx, host, cfg, spec)
}

func (r Runtime) spec() agentkit.Spec {
	missing := fmt.Errorf("%s: %s was not found: correct command", r.name(), r.Command)
	if r.Preset.Install != "" {
		missing = fmt.Errorf("%s: %s was not found: install it with `%s`, or set command", r.name(), r.Command, r.Preset.Install)
	}
	return agentkit.Spec{
		Adapter: r.name(), Name: r.title(), Command: r.Command, Env: r.Env, NotFound: missing,
		StartTime: cmp.Or(r.StartTime, time.Minute), StopTime: r.StopTime, AnswerOnStop: true, Advice: r.advice,
		Args: func(string) []string { return r.Args },
	}
}

// Probe implements agent.Prober.
func (r Runtime) Probe(ctx context.Context) (string, error) {
	out, err := procio.Output(ctx, r.Command, r.Env, "--version")
	switch {
	case procio.NotFound(err):
		return "", r.spec().NotFound
	case err != nil:
		return "", fmt.Errorf("%s: `%s --version` failed: %w", r.name(), r.Command, err)
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
