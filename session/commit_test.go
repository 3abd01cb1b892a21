package session_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
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

// commits is a store that notes what each of its commits has.
type commits struct {
	eventlog.Store
	mu   sync.Mutex
	made []string
}

func (c *commits) Append(ctx context.Context, id, turn string, events []trace.Event) (uint64, error) {
	c.note("", events)
	return c.Store.Append(ctx, id, turn, events)
}

func (c *commits) AppendWith(ctx context.Context, e eventlog.Entry, turn string, events []trace.Event) (uint64, error) {
	var info session.Info
	if err := json.Unmarshal(e.Doc, &info); err != nil || (e.Phase == eventlog.Open) != (len(info.Open) > 0) {
		return 0, errDisk
	}
	name := "document"
	if e.Phase == eventlog.Open {
		name = "document with an open turn"
	}
	c.note(name, events)
	return c.Store.AppendWith(ctx, e, turn, events)
}

func (c *commits) note(doc string, events []trace.Event) {
	var kinds []string
	if doc != "" {
		kinds = append(kinds, doc)
	}
	for _, e := range events {
		kinds = append(kinds, string(e.Payload.Kind()))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.made = append(c.made, strings.Join(kinds, ", "))
}

func (c *commits) take() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	made := c.made
	c.made = nil
	return made
}

// A prompt costs one commit if the agent is free. The commit holds the session, if it is new, the
// turn, the message and the beginning of the answer: all or none of them. The end of a turn costs one
// commit as well. The first turn of a session has one more, which says what the agent is.
func TestAPromptIsOneCommitAndAStopIsOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &commits{Store: memlog.New()}
		b := benchOn(t, eventlog.New(store), with(t, scripted{prompt: func(ctx context.Context, _ agent.Host, _ agent.Prompt, _ *trace.Builder) error {
			<-ctx.Done()
			return ctx.Err()
		}}))
		defer b.close()
		store.take()
		if _, err := b.Ensure(t.Context(), session.Spec{ID: "new", Prompted: true}); err != nil || len(store.take()) != 0 {
			t.Errorf("a session whose prompt follows has a commit of its own, or %v", err)
		}
		for _, prompt := range []string{"u1", "u2"} {
			turn, err := b.Prompt(t.Context(), "new", session.Prompt{Message: text(prompt, "hello"), By: "ada"})
			if err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			want := []string{"document with an open turn, prompt, reply"}
			if prompt == "u1" {
				want = append(want, "data")
			}
			if made := store.take(); !slices.Equal(made, want) {
				t.Errorf("%s has made the commits %q", prompt, made)
			}
			if _, _, err := b.StopTurn(t.Context(), "new", turn.ID, "ada"); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			if made := store.take(); !slices.Equal(made, []string{"document, stop"}) {
				t.Errorf("the stop of %s has made the commits %q", prompt, made)
			}
		}
	})
}

// talker is an agent that says much of itself when it is opened.
type talker struct{ scripted }

func (a talker) Open(ctx context.Context, host agent.Host, cfg agent.Config) (agent.Session, error) {
	host.Note(trace.Modes("ask", nil))
	host.Note(trace.AgentInfo{Model: "m"}.Payload())
	host.Note(trace.Commands(nil))
	host.Resume("token")
	return a.scripted.Open(ctx, host, cfg)
}

// An agent that says much of itself while it opens makes one commit, with the token by which it is found again.
func TestWhatAnAgentSaysWhileItOpensIsOneCommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &commits{Store: memlog.New()}
		b := benchOn(t, eventlog.New(store), with(t, talker{scripted{prompt: func(ctx context.Context, _ agent.Host, _ agent.Prompt, _ *trace.Builder) error {
			<-ctx.Done()
			return ctx.Err()
		}}}))
		defer b.close()
		if _, err := b.Ensure(t.Context(), session.Spec{ID: "new", Prompted: true}); err != nil {
			t.Fatal(err)
		}
		store.take()
		if _, err := b.Prompt(t.Context(), "new", session.Prompt{Message: text("u1", "hello"), By: "ada"}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if made, want := store.take(), []string{"document with an open turn, prompt, reply", "document with an open turn, data, data, data"}; !slices.Equal(made, want) {
			t.Errorf("the commits are %q, and should be %q", made, want)
		}
		if info, err := b.Get(t.Context(), "new"); err != nil || info.Resume != "token" {
			t.Errorf("the session has the token %q, error %v", info.Resume, err)
		}
	})
}

// stops is a store that calls a function when the commit of a stop is made, before the Hub knows.
type stops struct {
	eventlog.Store
	made func()
}

func (s *stops) AppendWith(ctx context.Context, e eventlog.Entry, turn string, events []trace.Event) (uint64, error) {
	last, err := s.Store.AppendWith(ctx, e, turn, events)
	if s.made != nil && len(events) > 0 && events[len(events)-1].Payload.Kind() == trace.KindStop {
		s.made()
	}
	return last, err
}

// The stop is on record, and the Hub does not know yet, when the stream of a client is cut. The turn can
// be resumed all the same, also when the session has left memory.
func TestAStreamThatIsCutAsItsTurnEndsIsOnRecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &stops{Store: memlog.New()}
		b := benchOn(t, eventlog.New(store), nil)
		defer b.close()
		turn := b.say("u1", "slow")
		leave := b.Attach("s", turn.ID, nil)
		store.made = func() { leave(true) }
		b.wait(turn)
		time.Sleep(time.Hour)
		if got, ok, err := b.Resumable(t.Context(), "s", ""); !ok || got.ID != turn.ID || err != nil {
			t.Errorf("an hour later %q can be resumed, %v %v; want %q", got.ID, ok, err, turn.ID)
		}
	})
}
