package session_test

import (
	"context"
	"errors"
	"fmt"
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

// queue is what waits, in a word each.
func (b *bench) queue() string {
	b.t.Helper()
	all, err := b.Queue(b.t.Context(), "s")
	if err != nil {
		b.t.Fatal(err)
	}
	var words []string
	for _, q := range all {
		word := q.By + ":" + q.Text
		if q.Files > 0 {
			word += fmt.Sprintf("+%d", q.Files)
		}
		if q.Held {
			word = "held:" + word
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

func (b *bench) edit(turn session.Turn, text string) {
	b.t.Helper()
	q, err := b.EditQueued(b.t.Context(), "s", turn.ID, text, session.QueueUser{By: turn.By})
	if err != nil {
		b.t.Fatal(err)
	}
	if q.Turn != turn.ID || q.Text != text {
		b.t.Errorf("the edited prompt is %+v", q)
	}
}

// texts are the prompts of the history, in its order.
func (b *bench) texts() string {
	b.t.Helper()
	page, err := b.History(b.t.Context(), "s", "", 100)
	if err != nil {
		b.t.Fatal(err)
	}
	var all []string
	for r, err := range page.Records {
		if err != nil {
			b.t.Fatal(err)
		}
		if p, is := r.Payload.(trace.Prompt); is {
			all = append(all, p.Message.ID+":"+agent.Prompt{Message: p.Message}.Text())
		}
	}
	return strings.Join(all, " ")
}

// recorder is an agent that notes what it gets. A prompt that begins with slow takes a minute.
func recorder(t *testing.T, got *[]trace.UserMessage) func(*session.Options) {
	t.Helper()
	return with(t, scripted{prompt: func(ctx context.Context, _ agent.Host, p agent.Prompt, b *trace.Builder) error {
		*got = append(*got, p.Message)
		if strings.HasPrefix(p.Text(), "slow") {
			select {
			case <-time.After(time.Minute):
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		b.Message("1", "ok")
		return nil
	}})
}

func TestTheQueueListsWhatWaitsInItsOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []trace.UserMessage
		b := newBench(t, recorder(t, &got))
		defer b.close()
		if all := b.queue(); all != "" {
			t.Errorf("of an idle session: %s", all)
		}
		b.say("u1", "slow")
		synctest.Wait() // the agent has it
		picture := trace.InputPart{Type: trace.InputFile, MediaType: "image/png", URL: "data:,x"}
		second, err := b.Prompt(t.Context(), "s", session.Prompt{By: "bob", Message: trace.UserMessage{ID: "u2", Parts: []trace.InputPart{picture, text("", "two").Parts[0], picture}}})
		if err != nil {
			t.Fatal(err)
		}
		third := b.say("u3", "three")
		if all := b.queue(); all != "bob:two+2 ada:three" {
			t.Errorf("the queue is %s", all)
		}
		all, _ := b.Queue(t.Context(), "s")
		if all[0].Turn != second.ID || all[0].MessageID != "u2" || all[0].At.IsZero() {
			t.Errorf("the first is %+v", all[0])
		}
		w := b.events(nil)
		w.next()
		if err := b.Promote(t.Context(), "s", third.ID, session.QueueUser{By: "ada"}); err != nil {
			t.Fatal(err)
		}
		if events := w.next(); len(events) == 0 || events[0].Turn != third.ID || events[0].State != session.TurnQueued {
			t.Errorf("the events of the promotion are %+v", events)
		}
		w.leave()
		b.wait(third)
		b.wait(second)
		if all := b.queue(); all != "" {
			t.Errorf("in the end: %s", all)
		}
		if len(got) != 3 || got[1].ID != "u3" || got[2].ID != "u2" {
			t.Errorf("the agent got %+v", got)
		}
	})
}

func TestAnEditedPromptRunsWithItsNewTextAndItsFiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []trace.UserMessage
		store := memlog.New()
		b := benchOn(t, eventlog.New(store), recorder(t, &got))
		first := b.say("u1", "slow")
		picture := trace.InputPart{Type: trace.InputFile, MediaType: "image/png", URL: "data:,x"}
		second, err := b.Prompt(t.Context(), "s", session.Prompt{By: "ada", Message: trace.UserMessage{ID: "u2", Parts: []trace.InputPart{picture, text("", "two").Parts[0], picture}}})
		if err != nil {
			t.Fatal(err)
		}
		third := b.say("u3", "three")
		w := b.events(nil)
		w.next()
		b.edit(second, "zwei")
		b.edit(second, "deux")
		b.edit(third, "trois")
		if events := w.next(); len(events) != 3 || events[0].Turn != second.ID || events[0].State != session.TurnQueued || events[2].Turn != third.ID {
			t.Errorf("the events are %+v", events)
		}
		w.leave()
		const want = "u1:slow u2:deux u3:trois"
		if all := b.queue(); all != "ada:deux+2 ada:trois" {
			t.Errorf("the queue is %s", all)
		}
		if all := b.texts(); all != want {
			t.Errorf("the history is %s, want %s", all, want)
		}
		b.wait(first)
		b.wait(third)
		if len(got) != 3 || len(got[1].Parts) != 3 || got[1].Parts[1].Text != "deux" || got[2].Parts[0].Text != "trois" {
			t.Errorf("the agent got %+v", got)
		}
		if ids := b.history(); ids != "u1 A u2 A u3 A" {
			t.Errorf("the history is %s", ids)
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if err := b.Close(ctx); err != nil {
			t.Error(err)
		}
		again := benchOn(t, eventlog.New(store), nil) // as after a restart
		defer again.close()
		if all := again.texts(); all != want {
			t.Errorf("after a restart the history is %s, want %s", all, want)
		}
		if err := again.Promote(t.Context(), "s", second.ID, session.QueueUser{By: "ada"}); !errors.Is(err, session.ErrNotQueued) {
			t.Errorf("after a restart: %v", err)
		}
	})
}

func TestUsersChangeOnlyTheirOwnPrompts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []trace.UserMessage
		b := newBench(t, recorder(t, &got))
		defer b.close()
		first := b.say("u1", "slow")
		second, third := b.say("u2", "two"), b.say("u3", "three")
		bob, owner := session.QueueUser{By: "bob"}, session.QueueUser{By: "bob", Owner: true}
		edit := func(turn string, u session.QueueUser) error {
			_, err := b.EditQueued(t.Context(), "s", turn, "x", u)
			return err
		}
		for name, c := range map[string]struct{ err, want error }{
			"another's, edited":           {edit(second.ID, bob), session.ErrNotYourPrompt},
			"another's, removed":          {b.Withdraw(t.Context(), "s", second.ID, bob), session.ErrNotYourPrompt},
			"another's, promoted":         {b.Promote(t.Context(), "s", second.ID, bob), session.ErrNotYourPrompt},
			"another's, edited by owner":  {edit(second.ID, owner), session.ErrNotYourPrompt},
			"the running one":             {edit(first.ID, session.QueueUser{By: "ada"}), session.ErrNotQueued},
			"one that runs, removed":      {b.Withdraw(t.Context(), "s", first.ID, owner), session.ErrNotQueued},
			"none":                        {edit("turn_none", bob), session.ErrUnknownTurn},
			"no session":                  {b.Withdraw(t.Context(), "none", second.ID, bob), session.ErrUnknownSession},
			"another's, removed by owner": {b.Withdraw(t.Context(), "s", second.ID, owner), nil},
			"one's own, emptied": {func() error {
				_, err := b.EditQueued(t.Context(), "s", third.ID, "", session.QueueUser{By: "ada"})
				return err
			}(), session.ErrEmptyPrompt},
		} {
			if !errors.Is(c.err, c.want) {
				t.Errorf("%s: %v, want %v", name, c.err, c.want)
			}
		}
		if s := stopOf(t, b.wait(second)); s.Reason != "not_run" {
			t.Errorf("the removed prompt ended as %+v", s)
		}
		if err := b.Withdraw(t.Context(), "s", second.ID, owner); !errors.Is(err, session.ErrNotQueued) {
			t.Errorf("removed again: %v", err)
		}
		if all := b.queue(); all != "ada:three" {
			t.Errorf("the queue is %s", all)
		}
	})
}

// The weight of a longer text counts, and an edit that is too large changes nothing.
func TestAnEditKeepsTheBoundOfPrompts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []trace.UserMessage
		b := newBench(t, func(o *session.Options) {
			recorder(t, &got)(o)
			o.MaxPromptBytes = 20_000
		})
		defer b.close()
		b.say("u1", "slow")
		second := b.say("u2", "two")
		if _, err := b.EditQueued(t.Context(), "s", second.ID, strings.Repeat("x", 30_000), session.QueueUser{By: "ada"}); !errors.Is(err, session.ErrLargePrompts) {
			t.Errorf("a text that is too large: %v", err)
		}
		b.edit(second, strings.Repeat("x", 10_000))
		if _, err := b.Prompt(t.Context(), "s", session.Prompt{Message: text("u3", strings.Repeat("x", 9_000)), By: "ada"}); !errors.Is(err, session.ErrLargePrompts) {
			t.Errorf("a prompt beside the longer text: %v", err)
		}
		b.edit(second, "short")
		third, err := b.Prompt(t.Context(), "s", session.Prompt{Message: text("u3", strings.Repeat("x", 9_000)), By: "ada"})
		if err != nil {
			t.Fatalf("a prompt beside the shorter text: %v", err)
		}
		b.wait(third)
		synctest.Wait()
		if _, err := b.Prompt(t.Context(), "s", session.Prompt{Message: text("u4", strings.Repeat("x", 18_000)), By: "ada"}); err != nil {
			t.Errorf("a prompt when all have run: %v", err)
		}
	})
}

// Edits, removals and promotions race with the starts of the turns. The agent gets the text
// of the newest edit that was not refused, no prompt that was removed, and each other prompt once.
func TestChangesOfTheQueueRaceWithTheStartsOfTurns(t *testing.T) {
	t.Parallel()
	for range 20 {
		var mu sync.Mutex
		got := map[string][]string{}
		b := newBench(t, func(o *session.Options) {
			with(t, scripted{prompt: func(_ context.Context, _ agent.Host, p agent.Prompt, b *trace.Builder) error {
				mu.Lock()
				defer mu.Unlock()
				got[p.Message.ID] = append(got[p.Message.ID], p.Text())
				b.Message("1", "ok")
				return nil
			}})(o)
			o.MaxQueue = 1000
		})
		const prompts = 12
		want, removed := map[string]string{}, map[string]bool{}
		var group sync.WaitGroup
		var turns []session.Turn
		for i := range prompts {
			id := fmt.Sprint("u", i)
			turn := b.say(id, "first")
			turns = append(turns, turn)
			mu.Lock()
			want[id] = "first"
			mu.Unlock()
			group.Go(func() {
				me := session.QueueUser{By: "ada"}
				for n := range 3 {
					text := fmt.Sprint("edit ", n)
					_, err := b.EditQueued(t.Context(), "s", turn.ID, text, me)
					if err != nil && !errors.Is(err, session.ErrNotQueued) {
						t.Errorf("edit: %v", err)
					}
					if err == nil {
						mu.Lock()
						want[id] = text
						mu.Unlock()
					}
				}
				change := b.Withdraw
				if i%2 == 0 {
					change = b.Promote
				}
				err := change(t.Context(), "s", turn.ID, me)
				if err != nil && !errors.Is(err, session.ErrNotQueued) {
					t.Errorf("change: %v", err)
				}
				mu.Lock()
				removed[id] = err == nil && i%2 == 1
				mu.Unlock()
			})
		}
		group.Wait()
		stopped := map[string]bool{}
		for _, turn := range turns {
			records := b.wait(turn)
			if p, is := records[0].Payload.(trace.Prompt); is {
				stopped[p.Message.ID] = stopOf(t, records).Outcome == trace.OutcomeCanceled
			}
		}
		mu.Lock()
		for id, text := range want {
			switch runs := got[id]; {
			case removed[id] && len(runs) > 0:
				t.Errorf("%s was removed, and ran with %q", id, runs)
			case removed[id] || stopped[id] && len(runs) == 0: // a promotion has stopped it before the agent had it
			case len(runs) != 1 || runs[0] != text:
				t.Errorf("%s ran with %q, want %q", id, runs, text)
			}
		}
		mu.Unlock()
		b.close()
	}
}

// A prompt waits for its own record, the turn before it ends meanwhile, and then the log takes nothing: the prompt's turn ends, as
// each does whose log fails.
func TestATurnThatBeginsBehindItsPromptEndsIfTheLogFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bad, gate, first := newBadLog(), make(chan struct{}), make(chan struct{})
		b := benchOn(t, eventlog.New(bad), with(t, scripted{prompt: func(_ context.Context, _ agent.Host, p agent.Prompt, b *trace.Builder) error {
			if p.Message.ID == "u1" {
				<-first
			}
			b.Message("1", "hello")
			return nil
		}}))
		defer b.close()
		b.say("u1", "hello")
		bad.on(func(_ string, events []trace.Event) error {
			if slices.ContainsFunc(events, func(e trace.Event) bool { p, is := e.Payload.(trace.Prompt); return is && p.Message.ID == "u2" }) {
				<-gate
				bad.on(func(string, []trace.Event) error { return errDisk })
			}
			return nil
		})
		taken := make(chan session.Turn)
		go func() { taken <- b.say("u2", "hello") }()
		synctest.Wait()
		close(first)
		synctest.Wait()
		close(gate)
		turn := <-taken
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		if _, err := lastOf(b.Follow(ctx, "s", turn.ID, turn.After)); !errors.Is(err, session.ErrUnfinished) {
			t.Fatalf("who follows gets %v", err)
		}
		bad.on(nil)
		if s := stopOf(t, b.wait(b.say("u3", "hello"))); s.Outcome != trace.OutcomeCompleted {
			t.Errorf("when the log works again: %+v", s)
		}
		if s := stopOf(t, b.wait(turn)); s.Outcome != trace.OutcomeCanceled || s.Reason != "not_run" {
			t.Errorf("the turn ended as %+v", s)
		}
	})
}
