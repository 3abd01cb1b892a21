package session_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
)

// promote promotes a user's newest prompt, or else the next in line.
func (b *bench) promote(by string) (done bool) {
	b.t.Helper()
	turn, err := b.NewestQueued(b.t.Context(), "s", by)
	if turn == "" && err == nil {
		turn, err = b.NextQueued(b.t.Context(), "s")
	}
	if turn != "" && err == nil {
		err = b.Promote(b.t.Context(), "s", turn, session.QueueUser{By: by, Owner: true})
	}
	if err != nil {
		b.t.Fatal(err)
	}
	return turn != ""
}

// A prompt that is promoted runs next: one's own newest, else the first in line. Nothing
// is stopped where nothing waits.
func TestE08_APromotedPromptRunsNow(t *testing.T) {
	for _, c := range []struct{ name, by, want string }{
		{"one's own newest", "bob", "slow one|four|two|three"},
		{"the next in line", "eve", "slow one|two|three|four"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, served(notebook{}))
				defer b.close()
				promote := func(want bool) {
					t.Helper()
					if done := b.promote(c.by); done != want {
						t.Errorf("promoted: %v", done)
					}
				}
				promote(false)
				running := b.say("u1", "slow one")
				synctest.Wait()
				promote(false)
				var last session.Turn
				for _, p := range []struct{ id, by, words string }{{"u2", "ada", "two"}, {"u3", "bob", "three"}, {"u4", "bob", "four"}} {
					var err error
					if last, err = b.Prompt(t.Context(), "s", session.Prompt{Message: text(p.id, p.words), By: p.by}); err != nil {
						t.Fatal(err)
					}
				}
				promote(true)
				if s := stopOf(t, b.wait(running)); s.Outcome != trace.OutcomeCanceled || s.Reason != "interrupted" {
					t.Errorf("the turn that ran ended as %+v", s)
				}
				b.wait(last)
				synctest.Wait()
				if all, _ := b.remembers(); all != c.want {
					t.Errorf("they ran as %q, want %q", strings.Split(all, "|"), c.want)
				}
			})
		})
	}
}

// A second request, sent because the running turn ends slowly, has the same meaning as
// the first.
func TestE08_PromotedTwiceIsPromoted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ran []string // by one turn at a time
		b := newBench(t, with(t, scripted{prompt: func(ctx context.Context, _ agent.Host, p agent.Prompt, _ *trace.Builder) error {
			ran = append(ran, p.Text())
			if p.Text() == "slow" {
				<-ctx.Done()
				time.Sleep(time.Second)
			}
			return ctx.Err()
		}}))
		defer b.close()
		b.say("u1", "slow")
		synctest.Wait()
		last := b.say("u2", "two")
		b.say("u3", "three")
		for range 2 {
			if !b.promote("ada") {
				t.Error("nothing was promoted")
			}
		}
		b.wait(last)
		if got := strings.Join(ran, " "); got != "slow three two" {
			t.Errorf("they ran as %s", got)
		}
	})
}

// A history shows what was promoted behind what it overtook. The agent said that later:
// it does not forget it along with what was promoted.
func TestWhatWasOvertakenIsNotForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, served(notebook{}))
		defer b.close()
		b.say("u1", "slow one")
		synctest.Wait()
		b.say("u2", "two")
		prompt := session.Prompt{Message: text("u3", "three"), By: "bob"}
		if _, err := b.Prompt(t.Context(), "s", prompt); err != nil {
			t.Fatal(err)
		}
		b.promote("bob")
		time.Sleep(time.Minute)
		if ids := b.history(); ids != "u1 A u2 A u3 A" {
			t.Fatalf("history %s", ids)
		}
		if err, is := errors.AsType[*session.ChoiceError](b.Revert(t.Context(), "s", "u3", "bob")); !is {
			t.Errorf("revert: %v", err)
		}
		turn, err := b.Prompt(t.Context(), "s", prompt)
		if err != nil {
			t.Fatal(err)
		}
		b.wait(turn)
		if all, _ := b.remembers(); all != "slow one|three|two|three" {
			t.Errorf("the agent remembers %q", all)
		}
	})
}
