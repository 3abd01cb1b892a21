package cli

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/adapter/echo"
	"github.com/tributary-dev/tributary/agent"
)

// told is an agent whose version tells what its adapter was given.
type told struct {
	echo.Runtime
	settings agent.Settings
}

func (r told) Probe(context.Context) (string, error) {
	s := r.settings
	return strings.Join(append([]string{s.Name, s.Preset, s.Command}, s.Args...), " "), nil
}

func strangers() []agent.Adapter {
	return []agent.Adapter{{
		Name: "many", Keys: agent.ProcessKeys("options"), Needs: "command", Environ: []string{"MANY_*"},
		Bypass:  []agent.Bypass{{Flag: "--go-wild"}},
		Presets: []agent.Preset{{Name: "one", Command: "sh", Args: []string{"--acp"}}, {Name: "two", Command: "no-such-program", Install: "npm install -g two"}},
		New:     func(s agent.Settings) (agent.Runtime, error) { return told{settings: s}, nil },
	}}
}

// An adapter of another module has presets: agents by name, of a few lines each.
func TestPresetsOfAnAdapter(t *testing.T) {
	t.Parallel()
	run := func(conf string) result {
		var out, errs output
		p := &program{stdin: strings.NewReader(""), stdout: &out, stderr: &errs, more: strangers()}
		status := p.main(t.Context(), []string{"agents", "--config", file(t, "tributary.yaml", conf)})
		return result{status, out.String(), errs.String()}
	}
	r := run("agents:\n  one: {args: [-v]}\n  other: {adapter: one, command: /bin/x}\n  own: {adapter: many, command: y}\ndefault_agent: one\n")
	r.want(t, exitOK, "")
	for _, line := range []string{"one       one       one one sh --acp -v " + string(boxHere()) + " ready (default)", "other     one       other one /bin/x --acp " + string(boxHere()) + " ready", "own       many      own  y", "two       many      -  -                          not configured: write `agents: {two: {}}`; no-such-program is not on PATH: npm install -g two"} {
		if !strings.Contains(strings.Join(strings.Fields(r.out), " "), strings.Join(strings.Fields(line), " ")) {
			t.Errorf("no line %q in\n%s", line, r.out)
		}
	}
	for conf, says := range map[string]string{
		"agents:\n  x: {adapter: many}":       "tributary.yaml:2: agents.x has no command, and the adapter many needs one: write it",
		"agents:\n  many: {}":                 "agents.many has no command",
		"agents:\n  one: {args: [--go-wild]}": "agents.one has --go-wild, by which the agent acts without asking",
		"agents:\n  one: {model: m}":          "agents.one.model means nothing to the adapter many: remove it",
		"agents:\n  x: {adapter: three}":      `agents.x.adapter is "three": write one of `,
	} {
		run(conf).want(t, exitUsage, says)
	}
}

// TestAnAddressHasASchemeOfItsAdapter holds for each adapter that takes an address.
func TestAnAddressHasASchemeOfItsAdapter(t *testing.T) {
	t.Parallel()
	websocket := map[string]bool{"openharness": true}
	for _, a := range builtIn() {
		if !slices.Contains(a.Keys, "url") {
			continue
		}
		for scheme, takes := range map[string]bool{"http": true, "https": true, "ws": websocket[a.Name], "wss": websocket[a.Name], "ftp": false} {
			_, err := a.Make(agent.Settings{URL: scheme + "://127.0.0.1:1"})
			wrong, _ := errors.AsType[*agent.SettingError](err)
			says := "write the address of a server, which begins with http:// or https://"
			if websocket[a.Name] {
				says = "write the address of a server, which begins with ws:// or wss:// or http:// or https://"
			}
			if refused := wrong != nil && wrong.Key == "url" && strings.HasSuffix(wrong.Sentence, says); refused == takes {
				t.Errorf("%s takes %s: %v (%v)", a.Name, scheme, takes, err)
			}
		}
	}
}

// The inbox offers to edit an input, and asks for a reason, where the agent gets them.
func TestTheAgentsThatTakeMoreThanAnOptionAreKnown(t *testing.T) {
	t.Parallel()
	both, reason := [2]bool{true, true}, [2]bool{false, true}
	takes := map[string][2]bool{
		"agentops": reason, "agui": both, "claude": both, "demo": both, "langgraph": both, "langgraph-events": both, "openai": both, "opencode": reason, "uiendpoint": reason,
	}
	for _, a := range builtIn() {
		settings := agent.Settings{Command: "true"}
		if strings.Contains(a.Needs, "url") {
			settings = agent.Settings{URL: "http://127.0.0.1:1"}
		}
		made, _ := a.Make(settings) // a setting that is missing changes nothing here
		var got [2]bool
		if r, is := made.(agent.AnswerTaker); is {
			got[0], got[1] = r.Takes()
		}
		if got != takes[a.Name] {
			t.Errorf("%s takes an input: %v, a reason: %v", a.Name, got[0], got[1])
		}
	}
}
