package uistream_test

import (
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/trace"
	"github.com/tributary-dev/tributary/uistream"
)

// seqOf is the number of the n-th record of a kind.
func seqOf(tb testing.TB, records []trace.Record, k trace.Kind, n int) uint64 {
	tb.Helper()
	for _, r := range records {
		if r.Payload.Kind() == k {
			if n--; n == 0 {
				return r.Seq
			}
		}
	}
	tb.Fatalf("no %s record", k)
	return 0
}

func types(body string) string {
	var all []string
	for line := range strings.Lines(body) {
		if event, ok := strings.CutPrefix(line, "event: "); ok {
			all = append(all, strings.TrimSpace(event))
		}
		if line == "data: [DONE]\n" {
			all = append(all, "DONE")
		}
	}
	return strings.Join(all, " ")
}

func TestSpans(t *testing.T) {
	t.Parallel()
	paused := write(t, completed(), func(b *trace.Builder) {
		b.ToolCall(trace.ToolCall{ToolCallID: "c", RawName: "bash"})
		id, _, _ := b.PermissionRequest(trace.PermissionRequest{RequestID: "r", ToolCallID: "c", Title: "Run?", Options: []trace.PermissionOption{{ID: "y", OptionKind: trace.AllowOnce}}}, trace.ToolCall{})
		b.PermissionResponse(trace.PermissionResponse{RequestID: id, Outcome: trace.Selected, ChosenOption: "y", By: "me"})
		b.ToolResult(trace.ToolResult{ToolCallID: "c", Status: trace.ToolCompleted})
		b.Message("t", "done")
	})
	steered := write(t, completed(), func(b *trace.Builder) {
		b.Message("a", "one")
		b.ToolCall(trace.ToolCall{ToolCallID: "c", RawName: "bash"})
		b.Emit(trace.Prompt{Message: trace.UserMessage{ID: "u2"}})
		b.Emit(trace.Reply{MessageID: "m2", Cause: trace.CauseSteer})
		b.ToolResult(trace.ToolResult{ToolCallID: "c", Status: trace.ToolCompleted})
	})
	pause := seqOf(t, paused, trace.KindPause, 1)
	const before = "start start-step tool-input-available tool-approval-request finish-step"
	const after = "tool-output-available start-step text-start text-delta text-end finish-step finish DONE"
	for _, c := range []struct {
		name    string
		records []trace.Record
		span    uistream.Span
		want    string
	}{
		{"up to the pause", paused, uistream.Span{}, before + " finish DONE"},
		{"the whole message", paused, uistream.Span{SkipPausesThrough: pause}, before + " " + after},
		{"the rest after the pause", paused, uistream.Span{From: pause + 1}, "start " + after},
		{"the first message", steered, uistream.Span{}, "start start-step text-start text-delta text-end tool-input-available finish-step tool-output-error finish DONE"},
		{"the second message", steered, uistream.Span{From: seqOf(t, steered, trace.KindReply, 2)}, "start start-step tool-input-available tool-output-available finish-step finish DONE"},
	} {
		bc := uistream.NewStreams(uistream.Framing{})
		got, err := serve(t.Context(), bc, uistream.Options{}, newFeed(c.records...), c.span)
		if err != nil || types(got) != c.want {
			t.Errorf("%s: err %v\ngot  %s\nwant %s", c.name, err, types(got), c.want)
		}
		bc.Close()
	}
	if got := types(streamOf(steered, uistream.Framing{})); strings.Count(got, "DONE") != 2 {
		t.Errorf("AppendTurn: %s", got)
	}
}
