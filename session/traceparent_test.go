package session_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
)

// The caller's place in a distributed trace is on record with the prompt, by whichever way the prompt
// came: at once, from the queue, with another text, or as an answer.
func TestThePromptHasTheTraceContextOfItsCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		defer b.close()
		const first, second, third = "00-11111111111111111111111111111111-2222222222222222-01", "00-33333333333333333333333333333333-4444444444444444-01", "00-55555555555555555555555555555555-6666666666666666-00"
		say := func(id, words, traceparent string) session.Turn {
			t.Helper()
			turn, err := b.Prompt(t.Context(), "s", session.Prompt{Message: text(id, words), By: id, Caller: agent.Caller{Bearer: "secret", Traceparent: traceparent}})
			if err != nil {
				t.Fatal(err)
			}
			return turn
		}
		asks := say("u1", "ask", first)
		time.Sleep(5 * time.Second) // until it has asked
		answers, err := b.Prompt(t.Context(), "s", session.Prompt{Message: text("green", "green"), By: "u1", Caller: agent.Caller{Traceparent: second}})
		if err != nil || answers.ID != asks.ID {
			t.Fatalf("the words are no answer: %+v, %v", answers, err)
		}
		b.wait(asks)
		running := say("u2", "long 30", third)
		later := say("u3", "hello", first)
		if _, err := b.EditQueued(t.Context(), "s", later.ID, "hello again", session.QueueUser{By: "u3"}); err != nil {
			t.Fatal(err)
		}
		b.wait(running)
		b.wait(later)
		b.wait(say("u4", "hello", first[:54])) // which is not well-formed
		got := map[string][]string{}
		for r, err := range b.log.Durable(t.Context(), "s", 0, 0) {
			if err != nil {
				t.Fatal(err)
			}
			if p, is := r.Payload.(trace.Prompt); is {
				got[p.Message.ID] = append(got[p.Message.ID], p.Traceparent)
			}
		}
		for id, want := range map[string][]string{"u1": {first}, "green": {second}, "u2": {third}, "u3": {first, first}, "u4": {""}} {
			if len(got[id]) != len(want) || got[id][0] != want[0] || got[id][len(want)-1] != want[0] {
				t.Errorf("the prompt %s has %q, want %q", id, got[id], want)
			}
		}
	})
}
