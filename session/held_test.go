package session_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/eventlog/memlog"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
)

// stopHolding ends the turn as a person does.
func (b *bench) stopHolding(turn session.Turn) {
	b.t.Helper()
	if did, err := b.Stop(b.t.Context(), "s", session.StopRequest{Turn: turn.ID, By: "ada", Hold: true}); !did.Done || err != nil {
		b.t.Fatal(did, err)
	}
}

func (b *bench) continues() {
	b.t.Helper()
	if err := b.ContinueQueue(b.t.Context(), "s", session.Sender{By: "ada"}); err != nil {
		b.t.Fatal(err)
	}
}

// ran are the texts that the agent got.
func ran(got []trace.UserMessage) string {
	var all []string
	for _, m := range got {
		all = append(all, agent.Prompt{Message: m}.Text())
	}
	return strings.Join(all, " ")
}

// A stop by a person holds the queue. Each row says what somebody does then, and how it ends.
//
//evidence:for promise-prompt-once
func TestAStopHoldsTheQueue(t *testing.T) {
	ada := session.QueueUser{By: "ada"}
	for name, c := range map[string]struct {
		do    func(b *bench, two, three session.Turn)
		queue string // after that
		ran   string // in the end, after the stopped one
		log   string // the prompts that history shows
	}{
		"nothing for a day": {func(*bench, session.Turn, session.Turn) { time.Sleep(24 * time.Hour) }, "held:ada:two held:ada:three", "", "slow two three"},
		"continue":          {func(b *bench, _, _ session.Turn) { b.continues() }, "", "two three", "slow two three"},
		"a new prompt": {func(b *bench, _, _ session.Turn) {
			b.wait(b.say("u4", "new"))
		}, "held:ada:two held:ada:three", "new", "slow two three new"},
		"a new prompt, more behind it, then continue": {func(b *bench, _, _ session.Turn) {
			b.say("u4", "slow4")
			b.say("u5", "five")
			b.continues()
			if all := b.queue(); all != "ada:two ada:three ada:five" {
				b.t.Errorf("the queue is %s", all)
			}
		}, "", "slow4 two three five", "slow two three slow4 five"},
		"a second stop": {func(b *bench, _, _ session.Turn) {
			fourth := b.say("u4", "slow4")
			synctest.Wait()
			b.say("u5", "five")
			b.stopHolding(fourth)
		}, "held:ada:two held:ada:three held:ada:five", "slow4", "slow two three slow4 five"},
		"remove one": {func(b *bench, two, _ session.Turn) {
			if err := b.Withdraw(b.t.Context(), "s", two.ID, ada); err != nil {
				b.t.Error(err)
			}
			if s := stopOf(b.t, b.wait(two)); s.Reason != "not_run" {
				b.t.Errorf("the removed one: %+v", s)
			}
		}, "held:ada:three", "", "slow two three"},
		"remove all": {func(b *bench, _, _ session.Turn) {
			if err := b.WithdrawAll(b.t.Context(), "s", ada); err != nil {
				b.t.Error(err)
			}
		}, "", "", "slow two three"},
		"send the second now": {func(b *bench, _, three session.Turn) {
			if err := b.Promote(b.t.Context(), "s", three.ID, ada); err != nil {
				b.t.Error(err)
			}
			b.wait(three)
		}, "held:ada:two", "three", "slow two three"},
		"send one now while another runs": {func(b *bench, two, _ session.Turn) {
			b.say("u4", "slow4")
			synctest.Wait()
			if err := b.Promote(b.t.Context(), "s", two.ID, ada); err != nil {
				b.t.Error(err)
			}
			b.wait(two)
		}, "held:ada:three", "slow4 two", "slow two three slow4"},
		"edit one, and continue": {func(b *bench, two, _ session.Turn) {
			b.edit(two, "zwei")
			b.edit(two, "deux")
			if all := b.queue(); all != "held:ada:deux held:ada:three" {
				b.t.Errorf("the queue is %s", all)
			}
			b.continues()
		}, "", "deux three", "slow deux three"},
		"edit the first prompt": {func(b *bench, _, _ session.Turn) {
			b.wait(b.say("u1", "other"))
		}, "", "other", "other"},
		"others change nothing": {func(b *bench, two, _ session.Turn) {
			bob := session.QueueUser{By: "bob"}
			_, edit := b.EditQueued(b.t.Context(), "s", two.ID, "x", session.QueueUser{By: "bob", Owner: true})
			for _, err := range []error{edit, b.Withdraw(b.t.Context(), "s", two.ID, bob), b.Promote(b.t.Context(), "s", two.ID, bob)} {
				if !errors.Is(err, session.ErrNotYourPrompt) {
					b.t.Error(err)
				}
			}
			if err := b.WithdrawAll(b.t.Context(), "s", bob); err != nil {
				b.t.Error(err)
			}
		}, "held:ada:two held:ada:three", "", "slow two three"},
	} {
		for _, when := range []string{"in this process", "after an end", "after a crash"} {
			t.Run(name+", "+when, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var got []trace.UserMessage
					store := memlog.New()
					b := benchOn(t, eventlog.New(store), recorder(t, &got))
					first := b.say("u1", "slow")
					synctest.Wait()
					two, three := b.say("u2", "two"), b.say("u3", "three")
					b.stopHolding(first)
					synctest.Wait()
					switch when {
					case "after an end":
						ctx, cancel := context.WithTimeout(t.Context(), time.Second)
						defer cancel()
						if err := b.Close(ctx); err != nil {
							t.Fatal(err)
						}
						fallthrough
					case "after a crash":
						old := b
						defer old.close()
						b = benchOn(t, eventlog.New(store), recorder(t, &got))
					}
					defer b.close()
					if now, err := b.Get(t.Context(), "s"); err != nil || now.State != session.Idle || len(now.Held()) != 2 {
						t.Errorf("the session is %+v, %v", now, err)
					}
					c.do(b, two, three)
					time.Sleep(time.Hour)
					if all := b.queue(); all != c.queue {
						t.Errorf("the queue is %q, want %q", all, c.queue)
					}
					if all := strings.TrimSpace(strings.TrimPrefix(ran(got), "slow")); all != c.ran {
						t.Errorf("the agent got %q, want %q", all, c.ran)
					}
					if all := b.shown(); all != c.log {
						t.Errorf("history shows %q, want %q", all, c.log)
					}
				})
			})
		}
	}
}

// shown are the texts of the prompts that history shows, in its order.
func (b *bench) shown() string {
	var all []string
	for word := range strings.FieldsSeq(b.texts()) {
		_, text, _ := strings.Cut(word, ":")
		all = append(all, text)
	}
	return strings.Join(all, " ")
}

// Who reads a held prompt gets its end, and nobody's leaving removes the prompt.
func TestReadersOfAHeldPromptLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []trace.UserMessage
		b := newBench(t, recorder(t, &got))
		defer b.close()
		first := b.say("u1", "slow")
		synctest.Wait()
		second := b.say("u2", "two")
		leave := b.Attach("s", second.ID, nil)
		reader := b.Read(second)
		defer reader.Close()
		b.stopHolding(first)
		<-reader.Ended()
		if !reader.Held() {
			t.Error("the reader does not know why")
		}
		leave(true)
		time.Sleep(time.Hour)
		if all := b.queue(); all != "held:ada:two" {
			t.Errorf("the queue is %s", all)
		}
		b.continues()
		if s := stopOf(t, b.wait(second)); s.Outcome != trace.OutcomeCompleted {
			t.Errorf("it ended as %+v", s)
		}
	})
}

// Only a stop by a person holds the queue. The others begin the next prompt, as does StopTurn.
func TestWhatDoesNotHoldTheQueue(t *testing.T) {
	for name, end := range map[string]func(b *bench, first, second session.Turn) error{
		"a stop that asks for it": func(b *bench, first, _ session.Turn) error {
			_, _, err := b.StopTurn(b.t.Context(), "s", first.ID, "ada")
			return err
		},
		"a stop of a turn that is over": func(b *bench, first, _ session.Turn) error {
			_, _, err := b.StopTurn(b.t.Context(), "s", first.ID, "ada")
			b.wait(first)
			if err == nil {
				_, err = b.Stop(b.t.Context(), "s", session.StopRequest{Turn: first.ID, By: "ada", Hold: true})
			}
			return err
		},
		"the end": func(b *bench, first, _ session.Turn) error { b.wait(first); return nil },
		"nobody reads it": func(b *bench, first, _ session.Turn) error {
			b.Attach("s", first.ID, nil)(true)
			return nil
		},
		"a stop of another prompt that waits": func(b *bench, first, second session.Turn) error {
			third := b.say("u3", "three")
			_, err := b.Stop(b.t.Context(), "s", session.StopRequest{Turn: third.ID, By: "ada", Hold: true})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var got []trace.UserMessage
				b := newBench(t, recorder(t, &got))
				defer b.close()
				first := b.say("u1", "slow")
				synctest.Wait()
				second := b.say("u2", "two")
				if err := end(b, first, second); err != nil {
					t.Fatal(err)
				}
				if s := stopOf(t, b.wait(second)); s.Outcome != trace.OutcomeCompleted {
					t.Errorf("the next one ended as %+v", s)
				}
			})
		})
	}
}

func TestAFullQueueCountsWhatIsHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []trace.UserMessage
		b := newBench(t, func(o *session.Options) {
			recorder(t, &got)(o)
			o.MaxQueue = 1
		})
		defer b.close()
		first := b.say("u1", "slow")
		synctest.Wait()
		b.say("u2", "two")
		b.stopHolding(first)
		b.say("u3", "slow3") // runs at once
		if _, err := b.Prompt(t.Context(), "s", session.Prompt{Message: text("u4", "four"), By: "ada"}); !errors.Is(err, session.ErrQueueFull) {
			t.Errorf("a prompt that would wait beside a full list of held ones: %v", err)
		}
		b.continues()
	})
}

// A tab learns from the events which prompts are held, also one that comes later, or back.
func TestEventsTellWhichPromptsAreHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		defer b.close()
		w := b.events(nil)
		defer w.leave()
		w.expect("session")
		first, second := b.say("u1", "slow"), b.say("u2", "slow two")
		b.say("u3", "three")
		mark := w.expect("queued", "title", "running", "queued", "queued")[4].Seq
		b.stopHolding(first)
		if e := w.expect("ended", "held", "held"); e[1].Turn != second.ID || e[1].By != "ada" {
			t.Errorf("%+v", e[1])
		}
		later := b.events(nil)
		defer later.leave()
		later.expect("session held held")
		back := b.events(&mark)
		defer back.leave()
		back.expect("held", "held", "ended")
		if _, err := b.EditQueued(t.Context(), "s", second.ID, "slow again", session.QueueUser{By: "ada"}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		b.continues()
		time.Sleep(time.Hour)
		for name, tab := range map[string]*watcher{"the first": w, "a later": later, "that comes back": back} {
			if got := short(tab.next()); !slices.Equal(got, []string{"held", "running", "queued", "ended", "running", "ended"}) {
				t.Errorf("the tab %s has %q", name, got)
			}
		}
	})
}
