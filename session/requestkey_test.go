package session_test

import (
	"errors"
	"regexp"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/eventlog/memlog"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
)

// keyed is a prompt of ada's with a key.
func keyed(id, words, key string) session.Prompt {
	return session.Prompt{Message: text(id, words), By: "ada", Key: key}
}

func (b *bench) prompts(p session.Prompt) session.Turn {
	b.t.Helper()
	turn, err := b.Prompt(b.t.Context(), "s", p)
	if err != nil {
		b.t.Fatal(err)
	}
	return turn
}

// A prompt that is sent twice with one key runs once, whenever the second comes. Each row says what happens between the
// two, and what history shows in the end.
//
//evidence:for promise-prompt-once
func TestAPromptActsOnceForEachKey(t *testing.T) {
	first := keyed("u1", "slow", "k")
	for name, c := range map[string]struct {
		prompt  session.Prompt
		between func(b *bench, turn session.Turn)
		want    string
		fails   error
	}{
		"while it runs":       {first, func(*bench, session.Turn) {}, "u1 A", nil},
		"after its end":       {first, func(b *bench, turn session.Turn) { b.wait(turn) }, "u1 A", nil},
		"after later prompts": {first, func(b *bench, _ session.Turn) { b.run("u2", "hello") }, "u1 A u2 A", nil},
		"while it waits in the queue": {keyed("u2", "hello", "k"), func(b *bench, _ session.Turn) {
			if b.queue() == "" {
				b.t.Fatal("nothing waits")
			}
		}, "u1 A u2 A", nil},
		"an edit":        {keyed("u1", "other", "k"), func(b *bench, turn session.Turn) { b.wait(turn) }, "u1 A", nil},
		"a regeneration": {session.Prompt{Regenerate: true, By: "ada", Key: "k"}, func(b *bench, turn session.Turn) { b.wait(turn) }, "u1 A", nil},
		"without an id":  {keyed("", "hello", "k"), func(b *bench, turn session.Turn) { b.wait(turn) }, "u1 A user A", nil},
		"after it was removed": {keyed("u2", "hello", "k"), func(b *bench, turn session.Turn) {
			b.wait(turn)
			b.wait(b.prompts(keyed("u1", "other", "another key")))
		}, "u1 A", session.ErrTaken},
		"after it was held": {keyed("u2", "hello", "k"), func(b *bench, _ session.Turn) {
			if did, err := b.Stop(b.t.Context(), "s", session.StopRequest{By: "ada", Hold: true}); !did.Done || err != nil {
				b.t.Fatal(did, err)
			}
		}, "u1 A u2", session.ErrTaken},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, nil)
				defer b.close()
				if c.prompt.Message.ID != "u1" || c.prompt.Message.Parts[0].Text == "other" {
					b.say("u1", "slow")
				}
				turn := b.prompts(c.prompt)
				c.between(b, turn)
				again, err := b.Prompt(t.Context(), "s", c.prompt)
				switch {
				case !errors.Is(err, c.fails):
					t.Fatal(err)
				case err == nil && (again.ID != turn.ID || again.MessageID != turn.MessageID || !again.Repeated || turn.Repeated):
					t.Errorf("the first: %+v, the second: %+v", turn, again)
				}
				time.Sleep(time.Minute)
				if got := regexp.MustCompile(`user_\w+`).ReplaceAllString(b.history(), "user"); got != c.want {
					t.Errorf("history: %s", got)
				}
			})
		})
	}
}

// Two that come at once run once. Other keys, and the same key of somebody else, are other prompts.
func TestAKeyIsOneSendersAndOnePrompts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := eventlog.New(memlog.New())
		b := benchOn(t, log, nil)
		turns := make(chan string, 2)
		for range 2 {
			go func() {
				turn, err := b.Prompt(t.Context(), "s", keyed("", "hello", "k"))
				if err != nil {
					t.Error(err)
				}
				turns <- turn.ID
			}()
		}
		one := <-turns
		if two := <-turns; one != two {
			t.Errorf("two turns: %s and %s", one, two)
		}
		time.Sleep(time.Minute)
		if err := b.Close(t.Context()); err != nil { // the next process knows the key
			t.Fatal(err)
		}
		b = benchOn(t, log, nil)
		defer b.close()
		if turn := b.prompts(keyed("", "hello", "k")); turn.ID != one {
			t.Errorf("after a restart: %s, and was %s", turn.ID, one)
		}
		for _, p := range []session.Prompt{keyed("", "hello", "l"), {Message: text("", "hello"), By: "bob", Key: "k"}, keyed("", "hello", "")} {
			if turn := b.prompts(p); turn.ID == one || turn.Repeated {
				t.Errorf("%+v is taken for the first one", p)
			}
		}
	})
}

// A key that comes with another prompt is a mistake of the client's, which is told.
func TestAKeyIsNotTakenForTwoPrompts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		defer b.close()
		b.wait(b.prompts(keyed("u1", "hello", "k")))
		for _, other := range []session.Prompt{keyed("u2", "hello", "k"), keyed("u1", "think", "k"), keyed("", "think", "k")} {
			if turn, err := b.Prompt(t.Context(), "s", other); !errors.Is(err, session.ErrKeyUsed) {
				t.Errorf("%+v: %+v, %v", other.Message, turn, err)
			}
		}
		if got := b.history(); got != "u1 A" {
			t.Errorf("history: %s", got)
		}
	})
}

// A yes in words answers a request. The same message sent twice is no second prompt, not even if both come at once.
func TestAnAnswerInWordsActsOnceForEachKey(t *testing.T) {
	for _, later := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t, nil)
			defer b.close()
			turn, _ := b.pause("u1", "approve")
			yes := keyed("u2", "yes", "k")
			yes.MayPermit = true
			got := make(chan session.Turn, 2)
			for range 2 {
				go func() { got <- b.prompts(yes) }()
				if later {
					b.wait(turn)
				}
			}
			if one, two := <-got, <-got; one.ID != turn.ID || two.ID != turn.ID || one.MessageID != two.MessageID {
				t.Errorf("the first: %+v, the second: %+v", one, two)
			}
			b.wait(turn)
			if got := b.history(); got != "u1 A u2 A" {
				t.Errorf("history: %s", got)
			}
		})
	}
}

// An answer that its sender sends twice with a key is given once. Another answer, one without a key and one of somebody else are
// told whose answer counts.
//
//evidence:for promise-one-answer
func TestAnAnswerActsOnceForEachKey(t *testing.T) {
	yes, no := true, false
	for name, c := range map[string]struct {
		by     session.Sender
		choice session.Choice
		counts bool
	}{
		"the same":           {session.Sender{By: "ada", Key: "k"}, session.Choice{Approved: &yes}, true},
		"without a key":      {session.Sender{By: "ada"}, session.Choice{Approved: &yes}, false},
		"from somebody else": {session.Sender{By: "bob", Key: "k"}, session.Choice{Approved: &yes}, false},
		"another answer":     {session.Sender{By: "ada", Key: "k"}, session.Choice{Approved: &no}, false},
		"another option":     {session.Sender{By: "ada", Key: "k"}, session.Choice{Option: "no"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, nil)
				defer b.close()
				turn, id := b.pause("u1", "approve")
				first, err := b.Permit(t.Context(), "s", id, session.Sender{By: "ada", Key: "k"}, session.Choice{Approved: &yes})
				if err != nil {
					t.Fatal(err)
				}
				second, err := b.Permit(t.Context(), "s", id, c.by, c.choice)
				_, refused := errors.AsType[*session.AnsweredError](err)
				if c.counts && (err != nil || second.By != first.By || second.ChosenOption != first.ChosenOption) || !c.counts && !refused {
					t.Errorf("%+v, %v", second, err)
				}
				b.wait(turn)
				if n := len(all[trace.PermissionResponse](b, turn)); n != 1 {
					t.Errorf("%d answers on record", n)
				}
			})
		})
	}
}

// A stop that is sent twice with a key ends the turn that ran when the first came, and not the next one.
func TestAStopActsOnceForEachKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		defer b.close()
		first, second := b.say("u1", "slow"), b.say("u2", "slow")
		stops := func(key string) session.Stopped {
			did, err := b.Stop(t.Context(), "s", session.StopRequest{By: "ada", Key: key})
			if err != nil {
				t.Fatal(err)
			}
			return did
		}
		want := session.Stopped{Turn: first.ID, Done: true}
		if did := stops("k"); did != want {
			t.Errorf("the first: %+v", did)
		}
		time.Sleep(time.Second) // the second turn runs
		want.Repeated = true
		if did := stops("k"); did != want {
			t.Errorf("the same again: %+v", did)
		}
		if did := stops("l"); did.Turn != second.ID || !did.Done || did.Repeated {
			t.Errorf("another one: %+v", did)
		}
		outcomes := []trace.Outcome{stopOf(t, b.wait(first)).Outcome, stopOf(t, b.wait(second)).Outcome}
		if !slices.Equal(outcomes, []trace.Outcome{trace.OutcomeCanceled, trace.OutcomeCanceled}) {
			t.Errorf("the turns: %v", outcomes)
		}
	})
}

// So it is with a stop that came when nothing ran.
func TestAStopOfNothingActsOnceForItsKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		defer b.close()
		nothing := session.StopRequest{By: "ada", Key: "k"}
		if did, err := b.Stop(t.Context(), "s", nothing); did != (session.Stopped{}) || err != nil {
			t.Errorf("%+v, %v", did, err)
		}
		turn := b.say("u1", "slow")
		if did, err := b.Stop(t.Context(), "s", nothing); did != (session.Stopped{Repeated: true}) || err != nil {
			t.Errorf("the same again: %+v, %v", did, err)
		}
		if s := stopOf(t, b.wait(turn)); s.Outcome != trace.OutcomeCompleted {
			t.Errorf("the turn: %+v", s)
		}
	})
}
