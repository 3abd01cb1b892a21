package session_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/eventlog/memlog"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
)

// namer is an agent that calls what it does by the prompt, and the end of it too.
type namer struct{}

func (namer) Open(context.Context, agent.Host, agent.Config) (agent.Session, error) {
	return namer{}, nil
}

func (namer) Prompt(_ context.Context, p agent.Prompt, b *trace.Builder) error {
	for i, name := range []string{p.Text(), "end of " + p.Text(), p.Text()} {
		b.StepStart(trace.Step{NativeID: name})
		b.Message(string(rune('a'+i)), "well")
	}
	return nil
}

func (namer) Close() error { return nil }

// An agent may use a name of its own for two turns: it had forgotten the first, or the
// first was given up here and goes on there. A client that calls messages by such names
// must not take the one for the other, so each names one turn of a session.
func TestANativeNameIsThatOfOneTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := keeping{memlog.New()}
		names := func(s *bench, turn session.Turn) (all []string) {
			for _, r := range s.wait(turn) {
				if p, is := r.Payload.(trace.Step); is && p.Phase == trace.PhaseStart {
					all = append(all, p.NativeID)
				}
			}
			return all
		}
		first := benchOn(t, eventlog.New(store), with(t, namer{}))
		for i, want := range [][]string{{"up", "end of up", "up"}, {"up~2", "end of up~2", "up~2"}, {"down", "end of down", "down"}, {"up~2~2", "end of up~2~2", "up~2~2"}} {
			text := []string{"up", "up", "down", "up~2"}[i]
			if got := names(first, first.say("", text)); !slices.Equal(got, want) {
				t.Errorf("turn %d is called %q, want %q", i+1, got, want)
			}
		}
		first.close()
		second := benchOn(t, eventlog.New(store), with(t, namer{}))
		defer second.close()
		if got := names(second, second.say("", "up")); !slices.Equal(got, []string{"up~3", "end of up~3", "up~3"}) {
			t.Errorf("after a restart it is called %q", got)
		}
	})
}

// counting is a store that counts the durable records that are read.
type counting struct {
	eventlog.Store
	reads *atomic.Int32
}

func (c counting) Durable(ctx context.Context, session string, after, until uint64) iter.Seq2[trace.Record, error] {
	return func(yield func(trace.Record, error) bool) {
		for r, err := range c.Store.Durable(ctx, session, after, until) {
			if c.reads.Add(1); !yield(r, err) {
				return
			}
		}
	}
}

func TestAnUnknownMessageReadsNoRecords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, reads := keeping{memlog.New()}, new(atomic.Int32)
		first := benchOn(t, eventlog.New(store), with(t, namer{}))
		for range 30 {
			first.wait(first.say("", "up"))
		}
		first.close()
		second := benchOn(t, eventlog.New(counting{store, reads}), with(t, namer{}))
		defer second.close()
		reads.Store(0)
		for i := range 20 {
			_, err := second.Prompt(t.Context(), "s", session.Prompt{Regenerate: true, Of: fmt.Sprint("unknown", i), By: "ada"})
			if !errors.Is(err, session.ErrUnknownMessage) {
				t.Fatal(err)
			}
		}
		if n := reads.Load(); n != 0 {
			t.Errorf("20 unknown ids read %d records", n)
		}
		if _, err := second.Prompt(t.Context(), "s", session.Prompt{Regenerate: true, Of: "up~7", By: "ada"}); err != nil {
			t.Errorf("a known id: %v", err)
		}
	})
}

// lastFails is a store that cannot tell its last record.
type lastFails struct {
	eventlog.Store
	fails *atomic.Bool
}

func (s lastFails) Last(ctx context.Context, session string) (uint64, error) {
	if s.fails.Load() {
		return 0, errDisk
	}
	return s.Store.Last(ctx, session)
}

func TestATurnOfTheAgentBeginsWhereTheRecordsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fails := new(atomic.Bool)
		b := benchOn(t, eventlog.New(lastFails{memlog.New(), fails}), with(t, scripted{prompt: func(_ context.Context, host agent.Host, _ agent.Prompt, _ *trace.Builder) error {
			other := host.Begin(agent.TurnInfo{})
			other.Message("1", "By the way")
			other.End(trace.Stop{Outcome: trace.OutcomeCompleted})
			return nil
		}}))
		defer b.close()
		b.wait(b.say("u1", "hello"))
		synctest.Wait()
		fails.Store(true)
		turn, err := b.Prompt(t.Context(), "s", promptOf("u2", "ada"))
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		info, err := b.Get(t.Context(), "s")
		if err != nil || info.Last == nil || info.Last.After < turn.After {
			t.Errorf("the last turn is %+v, the prompt's began after %d: %v", info.Last, turn.After, err)
		}
	})
}
