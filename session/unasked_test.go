package session_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/trace"
)

// TestNewsWithoutEnd: an agent that tells news, or begins turns, without end fills neither the log
// nor the memory. Later it may tell news again.
//
//evidence:for limit-news limit-own-turns
func TestNewsWithoutEnd(t *testing.T) {
	t.Parallel()
	modes := func(n int) trace.Payload {
		return trace.Modes("m", []trace.Mode{{ID: strings.Repeat("m", n)}})
	}
	news := func(n int) func(agent.Host) {
		p := modes(n)
		return func(h agent.Host) { h.Note(p) }
	}
	for name, c := range map[string]struct {
		does  func(agent.Host)
		times int
		most  int // of them on record
	}{
		"small news":     {news(1), 1100, 1000},
		"news of 500 KB": {news(500 << 10), 40, 31},
		"news of 2 MB":   {news(2 << 20), 40, 0},
		"turns of its own": {func(h agent.Host) {
			if b := h.Begin(agent.TurnInfo{Reason: "agent"}); b != nil {
				b.End(trace.Stop{Reason: "end_turn", Outcome: trace.OutcomeCompleted})
			}
		}, 300, 250},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				hosts := make(chan agent.Host, 1)
				b := newBench(t, with(t, scripted{prompt: func(_ context.Context, host agent.Host, _ agent.Prompt, b *trace.Builder) error {
					b.Message("", "hello")
					hosts <- host
					return nil
				}}))
				defer b.close()
				told := func() (n int) { // pieces of news, and turns
					for r, err := range b.log.Durable(t.Context(), "s", 0, 0) {
						if err != nil {
							t.Fatal(err)
						}
						switch r.Payload.(type) {
						case trace.Data, trace.Stop:
							n++
						}
					}
					return n
				}
				b.wait(b.say("u1", "hello"))
				host := <-hosts
				before := told()
				for range c.times {
					c.does(host)
				}
				synctest.Wait()
				if got := told() - before; got > c.most || got < c.most*9/10 {
					t.Errorf("%d of %d are on record, want %d at most", got, c.times, c.most)
				}
				time.Sleep(10 * time.Second)
				host.Note(modes(2))
				synctest.Wait()
				if got := b.controls("s").Modes; len(got) != 1 || got[0].ID != "mm" {
					t.Errorf("later the agent offers the modes %.100v", got)
				}
			})
		})
	}
}
