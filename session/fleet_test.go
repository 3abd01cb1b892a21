package session_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
)

// otherWaits prompts another session and returns how long that took to end.
func (b *bench) otherWaits(id string) time.Duration {
	b.t.Helper()
	if _, err := b.Ensure(b.t.Context(), session.Spec{ID: id}); err != nil {
		b.t.Fatal(err)
	}
	began := time.Now()
	turn, err := b.Prompt(b.t.Context(), id, promptOf("o-"+id, "bob"))
	if err != nil {
		b.t.Fatal(err)
	}
	for _, err := range b.Follow(b.t.Context(), id, turn.ID, turn.After) {
		if err != nil {
			b.t.Fatal(err)
		}
	}
	return time.Since(began)
}

func places(t *testing.T, n int, r agent.Runtime) func(*session.Options) {
	w := with(t, r)
	return func(o *session.Options) {
		w(o)
		o.MaxAgents, o.AgentIdle = n, 5*time.Minute
	}
}

// The agent asks in a turn of its own, and nobody is there.
func TestAnOwnTurnThatWaitsForNobodyMakesRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, places(t, 1, scripted{prompt: func(ctx context.Context, host agent.Host, p agent.Prompt, tb *trace.Builder) error {
			if p.Message.ID == "u1" {
				go func() {
					time.Sleep(time.Minute)
					own := host.Begin(agent.TurnInfo{Reason: "background_task"})
					id, _, _ := request(own, "1")
					_, _ = host.Permit(context.Background(), id)
					own.End(trace.Stop{Outcome: trace.OutcomeCompleted})
				}()
			}
			tb.Message("", "done")
			return nil
		}}))
		defer b.close()
		b.wait(b.say("u1", "x"))
		time.Sleep(2 * time.Minute)
		if took := b.otherWaits("other"); took > 10*time.Minute {
			t.Errorf("the other session waited %s for a place", took)
		}
	})
}

// A prompt that waits behind what is asked does not make the agent busy.
func TestAQueueBehindWhatIsAskedMakesRoomToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, places(t, 1, scripted{prompt: func(ctx context.Context, host agent.Host, p agent.Prompt, tb *trace.Builder) error {
			if p.Message.ID == "u1" {
				time.Sleep(time.Second)
				id, _, _ := request(tb, "1")
				_, err := host.Permit(ctx, id)
				return err
			}
			tb.Message("", "done")
			return nil
		}}))
		defer b.close()
		b.say("u1", "x")
		b.say("u2", "x")
		time.Sleep(time.Minute)
		if took := b.otherWaits("other"); took > 10*time.Minute {
			t.Errorf("the other session waited %s for a place", took)
		}
	})
}

// Of two open agents one works in a turn of its own and one is idle: the idle one
// makes room.
func TestAnIdleAgentMakesRoomBesideOneThatBeganATurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, places(t, 2, scripted{prompt: func(_ context.Context, host agent.Host, p agent.Prompt, tb *trace.Builder) error {
			if p.Message.ID == "u1" {
				go func() {
					time.Sleep(time.Second)
					own := host.Begin(agent.TurnInfo{Reason: "background_task"})
					time.Sleep(time.Minute)
					own.End(trace.Stop{Outcome: trace.OutcomeCompleted})
				}()
			}
			tb.Message("", "done")
			return nil
		}}))
		defer b.close()
		b.wait(b.say("u1", "x"))
		time.Sleep(5 * time.Second)
		b.otherWaits("idle")
		if took := b.otherWaits("other"); took > time.Second {
			t.Errorf("though an agent was idle the other session waited %s for a place", took)
		}
		time.Sleep(time.Minute) // until the turn of its own is over
	})
}
