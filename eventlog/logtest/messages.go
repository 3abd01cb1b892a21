package logtest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/trace"
)

func prompt(id, words string) trace.Event {
	return event("prompt "+id, trace.Prompt{Message: trace.UserMessage{ID: id, Parts: []trace.InputPart{{Type: trace.InputText, Text: words}}}, By: "ann"})
}

func reply(id string) trace.Event {
	return event("reply "+id, trace.Reply{MessageID: id, Cause: trace.CausePrompt})
}

// step is a step with an id of the agent's own, or without one.
func step(id string) trace.Event {
	return event("step "+id, trace.Step{Phase: trace.PhaseStart, NativeID: id})
}

func rewind(to string) trace.Event { return event("rewind "+to, trace.Rewind{To: to}) }

func score(turn, name string) trace.Event {
	return event("score "+name, trace.Score{Turn: turn, Name: name, Verdict: trace.ScorePass}.Payload())
}

// marksOf is what a store must say of the messages of records.
func marksOf(rs []trace.Record) []eventlog.MessageMark {
	var marks []eventlog.MessageMark
	for _, r := range rs {
		if m, ok := eventlog.MarkOf(r); ok {
			marks = append(marks, m)
		}
	}
	return marks
}

func marks(t *testing.T, s eventlog.Store, session string) []eventlog.MessageMark {
	t.Helper()
	var marks []eventlog.MessageMark
	for m, err := range s.Messages(t.Context(), session) {
		if err != nil {
			t.Fatalf("after %d marks: %v", len(marks), err)
		}
		marks = append(marks, m)
	}
	return marks
}

func messages(t *testing.T, s eventlog.Store) {
	ctx := t.Context()
	same(t, "nobody's messages", marks(t, s, "nobody"), nil)
	var log []trace.Record
	add(t, s, "s", "t1", &log, prompt("u1", "hello"), reply("m1"), step("run 1"), step(""), delta(1), whole(2))
	add(t, s, "s", "t2", &log, prompt("u2", "meanwhile"))
	add(t, s, "s", "t1", &log, delta(3), stop(4))
	add(t, s, "s", "t2", &log, reply("m2"))
	add(t, s, "s", "t3", &log, rewind("u2"), stop(5))
	add(t, s, "s", "", &log, whole(6), rewind("u1"), score("t1", "tests"))
	same(t, "messages", marks(t, s, "s"), []eventlog.MessageMark{
		{Kind: trace.KindPrompt, Seq: 1, Turn: "t1", Message: "u1", By: "ann"},
		{Kind: trace.KindReply, Seq: 2, Turn: "t1", Message: "m1"},
		{Kind: trace.KindStep, Seq: 3, Turn: "t1", Message: "run 1"},
		{Kind: trace.KindPrompt, Seq: 7, Turn: "t2", Message: "u2", By: "ann"},
		{Kind: trace.KindReply, Seq: 10, Turn: "t2", Message: "m2"},
		{Kind: trace.KindRewind, Seq: 11, Turn: "t3", Message: "u2"},
		{Kind: trace.KindRewind, Seq: 14, Message: "u1"},
		{Kind: trace.KindData, Seq: 15, Message: "t1//tests"},
	})
	for _, err := range s.Messages(ctx, "s") {
		must(t, err)
		break
	}
	for i, id := range append(weirdIDs(), "|", "a|b", strings.Repeat("<", 5000)) { // whatever a client calls its messages
		add(t, s, "s", fmt.Sprintf("turn %d", i), &log, prompt(id, id), reply("re "+id), step(id), stop(1), score("turn", id))
	}
	same(t, "messages with weird names", marks(t, s, "s"), marksOf(log))
	must(t, s.Delete(ctx, "s"))
	same(t, "messages that were deleted", marks(t, s, "s"), nil)
	mark := len(log)
	add(t, s, "s", "t9", &log, prompt("u9", "again"), reply("m9"))
	same(t, "messages of another life", marks(t, s, "s"), marksOf(log[mark:]))
}

// manyMessages is a session that no store keeps in one piece: some of its messages
// are large, and of some the names are not fit for an index.
func manyMessages(t *testing.T, s eventlog.Store) {
	var log []trace.Record
	for i := range 400 {
		id, words := fmt.Sprint("u", i), "hello"
		switch {
		case i%50 == 7:
			words = strings.Repeat("large ", 10_000)
		case i%150 == 100:
			id += "|"
		}
		turn := fmt.Sprintf("turn_%d", i)
		add(t, s, "s", turn, &log, prompt(id, words))
		if i%70 == 69 {
			add(t, s, "s", turn, &log, rewind(fmt.Sprint("u", i-3)))
		}
		add(t, s, "s", turn, &log, reply(fmt.Sprint("m", i)), delta(i), stop(i))
		if i%33 == 0 || i == 399 {
			same(t, fmt.Sprintf("messages of %d turns", i+1), marks(t, s, "s"), marksOf(log))
		}
	}
}
