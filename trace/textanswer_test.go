package trace_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/tributary-dev/tributary/trace"
)

func in(id string) *trace.TextAnswer {
	return &trace.TextAnswer{
		Prompt: trace.Prompt{Message: trace.UserMessage{ID: id}, By: "ada"},
		Reply:  trace.Reply{MessageID: "below-" + id, Cause: trace.CauseAnswer},
	}
}

// A prompt that answers requests in words is on record before its answers; words
// that answer nothing are not on record.
func TestAnAnswerInWords(t *testing.T) {
	t.Parallel()
	b, l := newTurn()
	b.Emit(trace.Reply{MessageID: "m"})
	b.ToolCall(trace.ToolCall{ToolCallID: "c", RawName: "shell"})
	asked := b.Question(trace.Question{QuestionID: "q"})
	wanted, _, _ := b.PermissionRequest(trace.PermissionRequest{RequestID: "r", ToolCallID: "c"}, trace.ToolCall{})
	for _, first := range []bool{true, false} {
		if (b.Resolve(trace.Answer{QuestionID: asked, Outcome: trace.Selected, Values: []string{"x"}, By: "ada"}, in("u1")) == nil) != first {
			t.Errorf("the answer: want %t", first)
		}
		if (b.Resolve(trace.PermissionResponse{RequestID: wanted, Outcome: trace.Selected, By: "ada"}, in("u2")) == nil) != first {
			t.Errorf("the response: want %t", first)
		}
	}
	for _, other := range []trace.Payload{trace.Answer{QuestionID: wanted}, trace.PermissionResponse{RequestID: "none"}} {
		if err := b.Resolve(other, in("u3")); !errors.Is(err, trace.ErrNoRequest) {
			t.Errorf("words that answer no request: %v", err)
		}
	}
	if err := b.Finish(trace.Stop{}); err != nil {
		t.Fatal(err)
	}
	if err := check(l.events); err != nil {
		t.Error(err)
	}
	var kinds []trace.Kind
	for _, e := range l.events {
		switch k := e.Payload.Kind(); k { //nolint:exhaustive // the others are between them
		case trace.KindPrompt, trace.KindReply, trace.KindAnswer, trace.KindPermissionResponse:
			kinds = append(kinds, k)
		}
	}
	want := []trace.Kind{
		trace.KindReply, trace.KindPrompt, trace.KindReply, trace.KindAnswer,
		trace.KindPrompt, trace.KindReply, trace.KindPermissionResponse,
	}
	if !slices.Equal(kinds, want) {
		t.Errorf("on record are %v", kinds)
	}
}
