package run_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/eval"
	"github.com/tributary-dev/tributary/eval/run"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// scene is what an agent of these tests plays in a turn.
type scene struct {
	context.Context

	host   agent.Host
	cwd    string
	prompt string
	*trace.Builder
}

// player is an agent that plays a scene.
type player func(scene) error

func (p player) Open(_ context.Context, host agent.Host, cfg agent.Config) (agent.Session, error) {
	return agentkit.Local{Name: "The agent", Play: func(ctx context.Context, prompt agent.Prompt, b *trace.Builder) error {
		return p(scene{ctx, host, cfg.Cwd, prompt.Text(), b})
	}}.Open(), nil
}

func says(text string) player {
	return func(s scene) error { s.Message("m", text); return nil }
}

// bench is a suite of one case, with its results.
type bench struct {
	t       *testing.T
	dir     string // of the suite
	cases   []*eval.Case
	cells   []run.Cell
	agents  map[string]agent.Runtime
	results *run.Results
	*run.Runner
}

// newBench makes a suite of one case, which is the text of a YAML file, and of all agents.
func newBench(t *testing.T, text string, agents map[string]agent.Runtime) *bench {
	t.Helper()
	dir := t.TempDir()
	b := &bench{t: t, dir: dir, agents: agents}
	write(t, filepath.Join(dir, "one.yaml"), text)
	b.plan(run.Choice{})
	b.open()
	return b
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// plan reads the case again.
func (b *bench) plan(want run.Choice) {
	b.t.Helper()
	suite, settings := &eval.Suite{Cases: []string{"*.yaml"}, Agents: map[string]any{}}, map[string]string{}
	for name := range b.agents {
		suite.Agents[name], settings[name] = nil, name
	}
	var err error
	if b.cases, err = suite.LoadCases(filepath.Join(b.dir, "suite.yaml")); err != nil {
		b.t.Fatal(err)
	}
	if b.cells, err = run.Plan(b.t.Context(), b.cases, settings, want); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) open() {
	b.t.Helper()
	var err error
	if b.results, err = run.OpenResults(filepath.Join(b.dir, "results")); err != nil {
		b.t.Fatal(err)
	}
	results := b.results
	b.t.Cleanup(func() { _ = results.Close() })
	b.Runner = &run.Runner{Results: results, Version: "1.2.3", Env: []string{"PATH=" + os.Getenv("PATH")}, Open: func(name string) (session.Options, error) {
		return session.Options{Agents: map[string]session.Agent{name: {Runtime: b.agents[name], InProcess: true}}}, nil
	}}
}

// again runs what has no result, and returns all results.
func (b *bench) again() []eval.Cell {
	b.t.Helper()
	if err := b.Run(b.t.Context(), b.cells, false); err != nil {
		b.t.Fatal(err)
	}
	return b.results.Of(b.cells)
}

// one runs a case with one agent once, and returns its only result.
func one(t *testing.T, text string, a player) eval.Cell {
	t.Helper()
	found := newBench(t, text, map[string]agent.Runtime{"a": a}).again()
	if len(found) != 1 {
		t.Fatalf("%d results", len(found))
	}
	return found[0]
}

func want(t *testing.T, c eval.Cell, v eval.Verdict, reason string) {
	t.Helper()
	if c.Verdict != v || !strings.Contains(c.Reason, reason) {
		t.Errorf("%s (%s), want %s (%s)", c.Verdict, c.Reason, v, reason)
	}
}
