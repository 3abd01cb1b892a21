package session_test

import (
	"testing"
	"testing/synctest"

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
		log := eventlog.New(memlog.New(), eventlog.Options{})
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
