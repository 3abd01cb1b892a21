package session_test

import (
	"context"
	"errors"
	"iter"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/eventlog/memlog"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
)

// queued is a session in which two prompts waited for a first one.
func queued(t *testing.T, b *bench) []session.Turn {
	t.Helper()
	turns := []session.Turn{b.say("u1", "slow"), b.say("u2", "hello"), b.say("u3", "hello")}
	for _, turn := range turns {
		b.wait(turn)
	}
	return turns
}

func TestPagesOfAHistoryWithQueuedPrompts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := eventlog.New(memlog.New())
		b := benchOn(t, log, nil)
		defer b.close()
		queued(t, b)
		check := func(b *bench) {
			t.Helper()
			before := ""
			for _, want := range []string{"u3 A", "u2 A", "u1 A"} {
				page, err := b.History(t.Context(), "s", before, 1)
				if err != nil {
					t.Fatal(err)
				}
				got := ""
				for r, err := range page.Records {
					if err != nil {
						t.Fatal(err)
					}
					switch p := r.Payload.(type) {
					case trace.Prompt:
						got = p.Message.ID
					case trace.Reply:
						got += " A"
					default:
					}
				}
				if got != want {
					t.Errorf("before %q: %s, want %s", before, got, want)
				}
				if before = page.Before; (before == "") != (want == "u1 A") {
					t.Errorf("after %s comes %q", want, before)
				}
			}
			if ids := b.history(); ids != "u1 A u2 A u3 A" {
				t.Errorf("history %s", ids)
			}
		}
		check(b)
		next := benchOn(t, log, nil) // as it is read from the log
		check(next)
		_ = next.Close(t.Context())
	})
}

func TestRegenerateTheAnswerToAQueuedPrompt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		defer b.close()
		turns := queued(t, b)
		again, err := b.Prompt(t.Context(), "s", session.Prompt{Regenerate: true, Of: turns[1].MessageID, By: "ada"})
		if err != nil {
			t.Fatal(err)
		}
		b.wait(again)
		if ids := b.history(); ids != "u1 A u2 A" {
			t.Errorf("history %s", ids)
		}
	})
}

// halting is a store of which one reading of the messages takes a while to come back.
type halting struct {
	eventlog.Store
	mu     sync.Mutex
	refuse bool
	halt   chan struct{}
	read   chan struct{}
}

func (s *halting) AppendWith(ctx context.Context, e eventlog.Entry, turn string, events []trace.Event) (uint64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refuse {
		return 0, errDisk
	}
	return s.Store.AppendWith(ctx, e, turn, events)
}

func (s *halting) Messages(ctx context.Context, id string) iter.Seq2[eventlog.MessageMark, error] {
	return func(yield func(eventlog.MessageMark, error) bool) {
		for m, err := range s.Store.Messages(ctx, id) {
			if !yield(m, err) {
				return
			}
		}
		s.mu.Lock()
		halt := s.halt
		s.halt = nil
		s.mu.Unlock()
		if halt != nil {
			close(s.read)
			<-halt
		}
	}
}

// The history is read again after a prompt that could not be kept. A turn that begins
// meanwhile is not lost from it, and can be answered.
func TestATurnThatBeginsWhileTheHistoryIsReadAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &halting{Store: memlog.New(), read: make(chan struct{})}
		go1 := make(chan struct{})
		b := benchOn(t, eventlog.New(store), with(t, scripted{prompt: func(ctx context.Context, host agent.Host, p agent.Prompt, tb *trace.Builder) error {
			if p.Message.ID == "u1" {
				<-go1
				return nil
			}
			id, _, _ := request(tb, "1")
			_, err := host.Permit(ctx, id)
			return err
		}}))
		defer b.close()
		b.say("u1", "x")
		second := b.say("u2", "x")
		time.Sleep(time.Second)
		store.mu.Lock()
		store.refuse = true
		store.mu.Unlock()
		if _, err := b.Prompt(t.Context(), "s", promptOf("u3", "ada")); !errors.Is(err, session.ErrLog) {
			t.Fatal(err)
		}
		halt := make(chan struct{})
		store.mu.Lock()
		store.refuse, store.halt = false, halt
		store.mu.Unlock()
		go func() { _, _ = b.History(context.Background(), "s", "", 10) }()
		<-store.read
		close(go1) // the second turn begins
		time.Sleep(time.Second)
		close(halt)
		time.Sleep(time.Second)
		if b.state() != session.Paused {
			t.Fatal(b.state())
		}
		yes := true
		_, err := b.Continue(t.Context(), "s", session.Continuation{Message: second.MessageID, Sender: session.Sender{By: "ada"}, MayPermit: true, Replies: []session.Reply{
			{ID: all[trace.Pause](b, second)[0].Requests[0], Choice: session.Choice{Approved: &yes}},
		}})
		if err != nil {
			t.Errorf("the answer to what is asked gets %v", err)
		}
	})
}
