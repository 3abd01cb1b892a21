package trace_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/trace"
)

func discard(context.Context, []trace.Event) error { return nil }

func BenchmarkMessageDelta(b *testing.B) {
	t := trace.NewBuilder(b.Context(), trace.Config{Turn: "turn", Append: discard})
	b.ReportAllocs()
	for b.Loop() {
		t.MessageDelta("k", "token ")
	}
	_ = t.Finish(trace.Stop{})
}

// BenchmarkWordByWord is an agent whose every word is on record before the next
// one comes, in a log that needs as much stack as one on disk does.
func BenchmarkWordByWord(b *testing.B) {
	t := trace.NewBuilder(b.Context(), trace.Config{Turn: "turn", Append: func(context.Context, []trace.Event) error {
		deep(64)
		return nil
	}})
	b.ReportAllocs()
	for b.Loop() {
		t.MessageDelta("k", "token ")
		_ = t.Flush()
	}
	_ = t.Finish(trace.Stop{})
}

//go:noinline
func deep(calls int) (sum byte) {
	var frame [128]byte
	frame[calls%len(frame)] = byte(calls)
	if calls > 0 {
		sum = deep(calls - 1)
	}
	return sum + frame[calls%len(frame)]
}

// Retries that repeat much, in many pieces, cost per piece.
func BenchmarkRepeatedDelta(b *testing.B) {
	t := trace.NewBuilder(b.Context(), trace.Config{Turn: "turn", Append: discard})
	for range b.N {
		t.MessageDelta("a", "token ")
	}
	t.MessageRepeats("b", "a")
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		t.MessageDelta("b", "token ")
	}
	_ = t.Finish(trace.Stop{})
}

// Parts that nobody ends, and all of them at the end.
func BenchmarkOpenParts(b *testing.B) {
	t := trace.NewBuilder(b.Context(), trace.Config{Turn: "turn", Append: discard})
	b.ReportAllocs()
	for i := range b.N {
		t.MessageDelta(fmt.Sprint(i), "x")
	}
	for i := b.N - 1; i >= b.N/2; i-- {
		t.MessageEnd(fmt.Sprint(i))
	}
	_ = t.Finish(trace.Stop{})
}

func BenchmarkToolCall(b *testing.B) {
	t := trace.NewBuilder(b.Context(), trace.Config{Turn: "turn", Append: discard})
	b.ReportAllocs()
	for b.Loop() {
		t.ToolCall(trace.ToolCall{ToolCallID: "c", RawName: "Read", Input: json.RawMessage(`{"path":"x"}`)})
		id, _, _ := t.PermissionRequest(trace.PermissionRequest{ToolCallID: "c"}, trace.ToolCall{})
		t.PermissionResponse(trace.PermissionResponse{RequestID: id})
		t.ToolResult(trace.ToolResult{ToolCallID: "c", Output: json.RawMessage(`"y"`)})
	}
	_ = t.Finish(trace.Stop{})
}

func BenchmarkAppendJSON(b *testing.B) {
	for _, p := range []trace.Payload{trace.MessageDelta{Part: "text-1", Delta: "token "}, trace.ToolResult{ToolCallID: "c", Status: trace.ToolCompleted, Output: json.RawMessage(`{"a":"b"}`)}} {
		b.Run(string(p.Kind()), func(b *testing.B) {
			r := record(p)
			var dst []byte
			b.ReportAllocs()
			for b.Loop() {
				dst, _ = r.AppendJSON(dst[:0])
			}
		})
	}
}

func BenchmarkUnmarshalPayload(b *testing.B) {
	for _, p := range []trace.Payload{
		trace.MessageDelta{Part: "text-1", Delta: "token "},
		trace.MessageDelta{Part: "text-1", Delta: "\n\n- \"token\""},
		trace.Message{Part: "text-1", Role: trace.RoleAssistant, Text: strings.Repeat("some text of an answer\n", 15)},
		trace.Stop{Reason: "end_turn", Outcome: trace.OutcomeCompleted, FinalOutput: "some text of an answer"},
	} {
		b.Run(string(p.Kind()), func(b *testing.B) {
			raw, err := trace.MarshalPayload(p)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := trace.UnmarshalPayload(p.Kind(), raw); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
