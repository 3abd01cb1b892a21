package session_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
)

// asks has somebody ask something, over a connection that leave cuts.
func (b *bench) asks(id, words, by string) (turn session.Turn, leave func(cut bool)) {
	b.t.Helper()
	turn, err := b.Prompt(b.t.Context(), "s", session.Prompt{Message: text(id, words), By: by})
	if err != nil {
		b.t.Fatal(err)
	}
	return turn, b.Attach("s", turn.ID, nil)
}

// resumes does what a reloaded page does: it follows the running turn.
func (b *bench) resumes(turn session.Turn, by string) (leave func(cut bool)) {
	attached, back := b.Attach("s", turn.ID, nil), b.FollowQueued("s", by, nil)
	return func(cut bool) { attached(cut); back(cut) }
}

//evidence:for promise-prompt-once
func TestPromptsOfSeveralUsersRunInTheirOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		defer b.close()
		w := b.events(nil)
		defer w.leave()
		w.expect("session") // how it stands before the prompts
		var turns []session.Turn
		for i, by := range []string{"ada", "bob", "ada", "cyd", "bob"} {
			turn, _ := b.asks("u"+string(rune('1'+i)), "hello", by)
			turns = append(turns, turn)
		}
		time.Sleep(time.Minute)
		if ids := b.history(); ids != "u1 A u2 A u3 A u4 A u5 A" {
			t.Errorf("history %s", ids)
		}
		var ran []string
		for _, e := range w.next() {
			if e.Type == session.EventTurn && e.State == session.TurnRunning {
				ran = append(ran, e.Turn)
			}
		}
		if len(ran) != len(turns) {
			t.Fatalf("they ran as %q", ran)
		}
		for i, turn := range turns {
			if ran[i] != turn.ID {
				t.Errorf("they ran as %q, and were asked for as %+v", ran, turns)
			}
		}
	})
}

// A page that reads the running turn sends further prompts, and closes their connections at
// once. The prompts wait and run like any others while the page is there. A page that is cut
// off takes its prompts with it.
func TestAPageThatReadsTheRunningTurnFollowsWhatItSendsLater(t *testing.T) {
	for _, cut := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t, nil)
			defer b.close()
			first, _ := b.asks("u1", "ask", "bob") // waits for an answer
			page := b.resumes(first, "ada")
			second, leave := b.asks("u2", "hello", "ada")
			leave(true)
			time.Sleep(time.Minute)
			if _, open := b.running(second); !open {
				t.Fatal("the prompt left the queue while its page was there")
			}
			page(cut)
			time.Sleep(time.Minute)
			if _, open := b.running(second); open == cut {
				t.Errorf("the page has left, cut %v, and the prompt waits: %v", cut, open)
			}
		})
	}
}

// A prompt whose connection is cut while it waits leaves the queue after its grace.
// History keeps it and says that it was not run.
func TestAQueuedPromptThatIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		defer b.close()
		b.asks("u1", "ask", "ada") // waits for an answer
		second, leave := b.asks("u2", "hello", "bob")
		third, _ := b.asks("u3", "hello", "cyd")
		leave(true)
		time.Sleep(4 * time.Second)
		if _, open := b.running(second); !open {
			t.Error("it left before its grace was over")
		}
		time.Sleep(2 * time.Second)
		if s := stopOf(t, b.wait(second)); s.Outcome != trace.OutcomeCanceled || s.Reason != "not_run" {
			t.Errorf("stop %+v", s)
		}
		if _, open := b.running(third); !open {
			t.Error("the one behind it went too")
		}
		if ids := b.history(); ids != "u1 A u2 u3" {
			t.Errorf("history %s", ids)
		}
	})
}

// running reports whether the turn has no stop yet.
func (b *bench) running(turn session.Turn) (session.Turn, bool) {
	b.t.Helper()
	got, ok, err := b.Resumable(b.t.Context(), "s", turn.ID)
	if err != nil {
		b.t.Fatal(err)
	}
	return got, ok && got.Running
}

// A page is reloaded while its prompt waits. It gets the stream of the turn that
// runs, and the prompt still runs after it, to its end.
//
//evidence:for promise-prompt-once
func TestAReloadWhileOnesPromptWaits(t *testing.T) {
	type come func() (leave func(cut bool))
	for name, reload := range map[string]func(cut func(bool), come come) (leave func(bool)){
		"the cut is seen first": func(cut func(bool), come come) func(bool) {
			cut(true)
			time.Sleep(time.Second)
			return come()
		},
		"a proxy tells of the cut later": func(cut func(bool), come come) func(bool) {
			leave := come()
			time.Sleep(100 * time.Millisecond)
			cut(true)
			return leave
		},
		"two pages come, and one goes": func(cut func(bool), come come) func(bool) {
			cut(true)
			time.Sleep(100 * time.Millisecond)
			one, two := come(), come()
			time.Sleep(100 * time.Millisecond)
			one(true)
			return two
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, nil)
				defer b.close()
				first, _ := b.asks("u1", "slow", "ada")
				second, cut := b.asks("u2", "slow", "bob")
				leave := reload(cut, func() func(bool) { return b.resumes(first, "bob") })
				if s := stopOf(t, b.wait(first)); s.Outcome != trace.OutcomeCompleted {
					t.Errorf("first %+v", s)
				}
				leave(false)
				if s := stopOf(t, b.wait(second)); s.Outcome != trace.OutcomeCompleted {
					t.Errorf("a page of its user is there, and the prompt behind ended as %+v", s)
				}
			})
		})
	}
}

// Other people who look at the session do not bring the prompt back. A person who comes
// back and leaves again has left.
func TestNotEverybodyBringsAPromptBack(t *testing.T) {
	for name, c := range map[string]struct {
		by    string
		after time.Duration
	}{"somebody else": {"cyd", time.Hour}, "left again": {"bob", 2 * time.Second}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, nil)
				defer b.close()
				first, _ := b.asks("u1", "ask", "ada")
				second, leave := b.asks("u2", "hello", "bob")
				leave(true)
				time.Sleep(time.Second)
				back := b.resumes(first, c.by)
				time.AfterFunc(c.after, func() { back(true) })
				time.Sleep(20 * time.Second)
				if s := stopOf(t, b.wait(second)); s.Reason != "not_run" {
					t.Errorf("stop %+v", s)
				}
			})
		})
	}
}
