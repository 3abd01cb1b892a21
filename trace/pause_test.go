package trace_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/trace"
)

// requestOutline is a turn in a word for each record that is about asking.
func requestOutline(t *testing.T, hold bool, write func(*trace.Builder)) string {
	t.Helper()
	var l tape
	b := trace.NewBuilder(t.Context(), trace.Config{Turn: "t", Append: l.append, Hold: hold})
	write(b)
	if err := b.Finish(trace.Stop{}); err != nil {
		t.Fatal(err)
	}
	if err := check(l.events); err != nil {
		t.Fatal(err)
	}
	var words []string
	for _, e := range l.events {
		switch p := e.Payload.(type) {
		case trace.PermissionRequest:
			words = append(words, p.RequestID+"?")
		case trace.Question:
			words = append(words, p.QuestionID+"?")
		case trace.PermissionResponse:
			words = append(words, p.RequestID+"!")
		case trace.Answer:
			words = append(words, p.QuestionID+"!")
		case trace.Pause:
			word := "pause(" + strings.Join(p.Requests, " ") + ")"
			if p.Held {
				word = "hold" + word[len("pause"):]
			}
			words = append(words, word)
		case trace.ToolCall:
			words = append(words, p.ToolCallID)
		case trace.ToolResult:
			words = append(words, p.ToolCallID+".")
		}
	}
	return strings.Join(words, " ")
}

func request(b *trace.Builder, id, call string) {
	b.PermissionRequest(trace.PermissionRequest{RequestID: id, ToolCallID: call, Title: "Run?"}, trace.ToolCall{})
}

func respond(b *trace.Builder, id string) {
	b.PermissionResponse(trace.PermissionResponse{RequestID: id, Outcome: trace.Selected, OptionKind: trace.AllowOnce, By: "ann"})
}

//evidence:for promise-stock-answer
func TestRequestsAreShownOneAfterTheOther(t *testing.T) {
	t.Parallel()
	calls := func(b *trace.Builder, ids ...string) {
		for _, id := range ids {
			b.ToolCall(trace.ToolCall{ToolCallID: id, Input: json.RawMessage("{}")})
		}
	}
	two := func(b *trace.Builder) {
		calls(b, "c", "d")
		request(b, "a1", "c")
		request(b, "a2", "d")
	}
	for _, c := range []struct {
		name  string
		hold  bool
		write func(*trace.Builder)
		want  string
	}{
		{"one", false, func(b *trace.Builder) { request(b, "a", "c"); respond(b, "a") }, "c a? pause(a) a! c."},
		{"held", true, func(b *trace.Builder) { request(b, "a", "c"); respond(b, "a") }, "c a? hold(a) a! c."},
		{"held, then let go", true, func(b *trace.Builder) { request(b, "a", "c"); b.EndHold(); respond(b, "a") }, "c a? hold(a) pause(a) a! c."},
		{"nothing to let go", true, func(b *trace.Builder) { b.EndHold(); b.Present() }, ""},
		{
			"a second and a third while the first waits", false,
			func(b *trace.Builder) {
				calls(b, "c", "d", "e")
				request(b, "a1", "c")
				request(b, "a2", "d")
				request(b, "a3", "e")
				respond(b, "a1")
				respond(b, "a2")
				respond(b, "a3")
			},
			"c d e a1? pause(a1) a2? a3? a1! pause(a2 a3) a2! a3! c. d. e.",
		},
		{
			"a question while a permission waits", false,
			func(b *trace.Builder) {
				request(b, "a", "c")
				b.Question(trace.Question{QuestionID: "q"})
				request(b, "a2", "d")
				respond(b, "a")
				b.Answer(trace.Answer{QuestionID: "q", Outcome: trace.Selected, Values: []string{"x"}, By: "ann"})
			},
			"c a? pause(a) q? d a2? a! pause(q) q! pause(a2) a2! c. d.",
		},
		{
			"questions asked at once", false,
			func(b *trace.Builder) { b.Questions(trace.Question{QuestionID: "p"}, trace.Question{QuestionID: "q"}) },
			"p? q? pause(p q) p! q!",
		},
		{
			"one that waits is answered by another way", false,
			func(b *trace.Builder) {
				two(b)
				respond(b, "a2")
				respond(b, "a1")
			},
			"c d a1? pause(a1) a2? a2! a1! c. d.",
		},
		{
			"the agent withdraws what is asked", false,
			func(b *trace.Builder) {
				two(b)
				b.PermissionResponse(trace.PermissionResponse{RequestID: "a1", Outcome: trace.Canceled})
			},
			"c d a1? pause(a1) a2? a1! pause(a2) a2! c. d.",
		},
		{
			"the call ends while it is asked about", false,
			func(b *trace.Builder) {
				two(b)
				b.ToolResult(trace.ToolResult{ToolCallID: "c", Status: trace.ToolFailed})
			},
			"c d a1? pause(a1) a2? a1! pause(a2) c. a2! d.",
		},
		{
			"while the input of another call is being written", false,
			func(b *trace.Builder) {
				calls(b, "c")
				b.ToolCallStart(trace.ToolCallStart{ToolCallID: "d"})
				request(b, "a", "c")
				b.ToolCallDelta("d", "{}")
				calls(b, "d")
			},
			"c a? d pause(a) a! c. d.",
		},
		{
			"that takes too long", false,
			func(b *trace.Builder) {
				calls(b, "c")
				b.ToolCallStart(trace.ToolCallStart{ToolCallID: "d"})
				request(b, "a", "c")
				b.Present()
				calls(b, "d")
			},
			"c a? pause(a) d a! c. d.",
		},
		{
			"the input of a sub-agent's call", false,
			func(b *trace.Builder) {
				calls(b, "c")
				b.Under("c").ToolCallStart(trace.ToolCallStart{ToolCallID: "d"})
				request(b, "a", "c")
			},
			"c a? pause(a) a! c. d d.",
		},
	} {
		if got := requestOutline(t, c.hold, c.write); got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.name, got, c.want)
		}
	}
}

func TestAskedReturnsTheRequestsThatTheUserSees(t *testing.T) {
	t.Parallel()
	var l tape
	b := trace.NewBuilder(t.Context(), trace.Config{Turn: "t", Append: l.append})
	request(b, "a1", "c")
	request(b, "a2", "d")
	if got := strings.Join(b.Asked(), " "); got != "a1" {
		t.Errorf("asked %s", got)
	}
	if err := b.Flush(); err != nil {
		t.Fatal(err)
	}
	var records []trace.Record
	for i, e := range l.events {
		records = append(records, trace.Record{Event: e, Session: "s", Turn: "t", Seq: uint64(i + 1)})
	}
	again := trace.Restore(t.Context(), trace.Config{Turn: "t", Append: l.append}, records)
	if got := strings.Join(again.Asked(), " "); got != "a1" {
		t.Errorf("after a restart asked %s", got)
	}
	respond(again, "a1")
	if got := strings.Join(again.Asked(), " "); got != "a2" {
		t.Errorf("then asked %s", got)
	}
	if err := again.Finish(trace.Stop{}); err != nil {
		t.Fatal(err)
	}
	if got := again.Asked(); len(got) != 0 {
		t.Errorf("after the end asked %v", got)
	}
}

func TestAnAbandonedTurnIsTakenUpWhereItWas(t *testing.T) {
	t.Parallel()
	var l tape
	b := trace.NewBuilder(t.Context(), trace.Config{Turn: "t", Append: l.append})
	request(b, "a", "c")
	if err := b.Detach(); err != nil {
		t.Fatal(err)
	}
	respond(b, "a")
	if err := b.Finish(trace.Stop{Reason: "late"}); err != nil {
		t.Fatal(err)
	}
	var records []trace.Record
	for i, e := range l.events {
		records = append(records, trace.Record{Event: e, Session: "s", Turn: "t", Seq: uint64(i + 1)})
	}
	again := trace.Restore(t.Context(), trace.Config{Turn: "t", Append: l.append}, records)
	respond(again, "a")
	if err := again.Finish(trace.Stop{}); err != nil {
		t.Fatal(err)
	}
	if err := check(l.events); err != nil {
		t.Error(err)
	}
}
