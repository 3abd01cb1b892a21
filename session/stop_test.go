package session_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
)

func TestAStopReachesTheAgentWhileTheLogStalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stopped := make(chan time.Time, 1)
		bad := newBadLog()
		b := benchOn(t, eventlog.New(bad), with(t, scripted{prompt: func(ctx context.Context, _ agent.Host, _ agent.Prompt, b *trace.Builder) error {
			b.MessageDelta("1", "I delete ")
			<-ctx.Done()
			stopped <- time.Now()
			b.MessageDelta("1", "everything")
			return context.Cause(ctx)
		}}))
		defer b.close()
		turn := b.say("u1", "go")
		synctest.Wait()
		gate := bad.busy()
		pressed := time.Now()
		done := make(chan bool, 1)
		go func() {
			_, mine, err := b.StopTurn(t.Context(), "s", turn.ID, "ada")
			done <- mine && err == nil
		}()
		time.Sleep(5 * time.Second)
		select {
		case at := <-stopped:
			if at.After(pressed) {
				t.Errorf("the agent was stopped %s after the user pressed Stop", at.Sub(pressed))
			}
		default:
			t.Error("the agent goes on 5 s after the user pressed Stop")
		}
		select {
		case <-done:
			t.Error("the stop was acknowledged before it was on record")
		default:
		}
		close(gate)
		if !<-done {
			t.Error("the stop failed")
		}
		records := b.wait(turn)
		if s := stopOf(t, records); s.Reason != "stopped" || s.FinalOutput != "I delete " {
			t.Errorf("stop %+v", s)
		}
	})
}

func TestAPanicOfAnAdapterEndsOneTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, with(t, scripted{prompt: func(_ context.Context, _ agent.Host, p agent.Prompt, b *trace.Builder) error {
			b.Message("1", "I begin.")
			if p.Message.ID == "u1" {
				panic("no such message")
			}
			return nil
		}}))
		defer b.close()
		first, second := b.say("u1", "hello"), b.say("u2", "hello")
		if s := stopOf(t, b.wait(first)); s.Outcome != trace.OutcomeFailed || !strings.Contains(s.Error, "no such message") {
			t.Errorf("the turn ended with %+v", s)
		}
		if s := stopOf(t, b.wait(second)); s.Outcome != trace.OutcomeCompleted {
			t.Errorf("the next turn ended with %+v", s)
		}
	})
}

func TestAQueuedTurnThatIsStoppedWasNotRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		defer b.close()
		first, queued := b.say("u1", "slow"), b.say("u2", "hello")
		for _, c := range []struct{ id, reason string }{{queued.ID, "not_run"}, {first.ID, "stopped"}} {
			if _, done, err := b.StopTurn(t.Context(), "s", c.id, "ada"); !done || err != nil {
				t.Fatal(done, err)
			}
		}
		if s := stopOf(t, b.wait(queued)); s.Reason != "not_run" {
			t.Errorf("the queued turn: %+v", s)
		}
		if s := stopOf(t, b.wait(first)); s.Reason != "stopped" {
			t.Errorf("the running turn: %+v", s)
		}
	})
}

// A stop that the log does not take is not acknowledged. As soon as the log works again, the
// turn is closed as it was stopped.
func TestAStopThatIsNotOnRecordIsNotAcknowledged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bad := newBadLog()
		b := benchOn(t, eventlog.New(bad), with(t, scripted{prompt: func(ctx context.Context, host agent.Host, _ agent.Prompt, tb *trace.Builder) error {
			id, _, _ := request(tb, "1")
			_, err := host.Permit(ctx, id)
			return err
		}}))
		defer b.close()
		turn := b.say("u1", "go")
		time.Sleep(time.Minute) // it is paused, and writes nothing
		bad.on(func(string, []trace.Event) error { return errDisk })
		if _, done, err := b.StopTurn(t.Context(), "s", "", "ada"); done || !errors.Is(err, session.ErrLog) {
			t.Errorf("the stop is answered with %v, %v", done, err)
		}
		bad.on(nil)
		time.Sleep(5 * time.Second)
		if stop := stopOf(t, b.wait(turn)); stop.Reason != "stopped" || stop.Outcome != trace.OutcomeCanceled {
			t.Errorf("on record is %+v", stop)
		}
	})
}

// A stop that names a turn which is over, or which the session never had, stops nothing else.
func TestAStopOfAnotherTurnStopsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		defer b.close()
		first, second := b.say("u1", "hello"), b.say("u2", "hello")
		b.wait(second)
		running := b.say("u3", "slow")
		time.Sleep(time.Second)
		for _, id := range []string{first.ID, second.ID, "turn_nonsense", running.MessageID} {
			if stopped, done, err := b.StopTurn(t.Context(), "s", id, "ada"); done || stopped != id || err != nil {
				t.Errorf("a stop of %s stops %s: %v, %v", id, stopped, done, err)
			}
		}
		if s := stopOf(t, b.wait(running)); s.Outcome != trace.OutcomeCompleted {
			t.Errorf("the running turn ended with %+v", s)
		}
	})
}
