//go:build linux

package agents_test

import (
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/internal/testkit/realagent"
	"github.com/tributary-dev/tributary/trace"
)

// TestRealAgentsWaitForAnAnswer: the agents, all under one gateway, wait for the answer to a request as long as
// TRIBUTARY_TEST_HOLD says. Then the tool runs, the turn completes, and the agent's processes are those that have asked.
// TRIBUTARY_TEST_AGENTS chooses the agents, -parallel has to be their number, and -timeout longer than the wait.
func TestRealAgentsWaitForAnAnswer(t *testing.T) {
	hold, err := time.ParseDuration(os.Getenv("TRIBUTARY_TEST_HOLD"))
	if err != nil {
		t.Skip("it takes as long as TRIBUTARY_TEST_HOLD says, such as 1h")
	}
	kinds := chosen()
	b := newBench(t, kinds[0])
	agents := []realagent.Agent{b.agent}
	b.configure(func(c map[string]any) {
		for _, k := range kinds[1:] {
			a := realagent.Get(t, k.Name)
			settings := map[string]any{"adapter": k.Name, "command": a.Path, "env": a.Settings, "cwd": a.Dir}
			if k.Options != nil {
				maps.Copy(settings, k.Options(a.Dirs))
			}
			c["agents"].(map[string]any)[k.Name] = settings
			agents = append(agents, a)
		}
	})
	b.start()
	t.Run("agent", func(t *testing.T) {
		for _, a := range agents {
			t.Run(a.Name, func(t *testing.T) {
				t.Parallel()
				one := &bench{T: t, agent: a, server: b.server, session: a.Name}
				one.waits(t, hold)
			})
		}
	})
	b.end()
}

// waits plays a turn whose request waits.
func (b *bench) waits(t *testing.T, hold time.Duration) {
	mark := filepath.Join(b.agent.Dir, "held")
	turn, err := b.turn("[[script:escalate touch "+mark+"]]", hold+2*patience, func(p trace.Payload) {
		request, ok := p.(trace.PermissionRequest)
		if !ok || request.DecidedBy != "" {
			return
		}
		before, began := b.processes(), time.Now()
		time.Sleep(hold)
		if _, err := os.Stat(mark); err == nil {
			t.Error("it acted before the answer")
		}
		if after := b.processes(); len(after) != len(before) {
			t.Errorf("its processes were %q, and are %q", before, after)
		}
		b.answer(request, trace.AllowOnce, false)
		t.Logf("it has waited for %v", time.Since(began).Round(time.Second))
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := shapeOf(turn); got != allowed {
		t.Errorf("the turn's shape is\n  %s\nwant\n  %s", got, allowed)
	}
	if _, err := os.Stat(mark); err != nil {
		t.Errorf("the command that was allowed has not run: %v", err)
	}
}
