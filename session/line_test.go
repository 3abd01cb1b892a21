package session_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
)

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
					if done, err := b.Promote(t.Context(), "s", c.by); err != nil || done != want {
						t.Errorf("promoted: %v %v", done, err)
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
