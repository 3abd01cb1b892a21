package trace_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tributary-dev/tributary/trace"
)

// steps is which kinds each step has.
func steps(events []trace.Event) (all [][]trace.Kind) {
	for _, e := range events {
		if s, is := e.Payload.(trace.Step); is && s.Phase == trace.PhaseStart {
			all = append(all, nil)
		}
		switch e.Payload.(type) {
		case trace.Message, trace.ToolCall, trace.ToolResult:
			if len(all) > 0 {
				all[len(all)-1] = append(all[len(all)-1], e.Payload.Kind())
			}
		}
	}
	return all
}

func TestTextAfterAllResultsBeginsAStepOfAnAgentThatTellsNone(t *testing.T) {
	t.Parallel()
	const text, call, result = trace.KindMessage, trace.KindToolCall, trace.KindToolResult
	for _, c := range []struct {
		name  string
		infer bool
		write func(b *trace.Builder)
		steps [][]trace.Kind
		final string
	}{
		{"the answer to a result is a model call of its own", true, func(b *trace.Builder) {
			b.Message("a", "I look.")
			b.ToolCall(trace.ToolCall{ToolCallID: "1"})
			b.ToolResult(trace.ToolResult{ToolCallID: "1"})
			b.Message("b", "Done.")
		}, [][]trace.Kind{{text, call, result}, {text}}, "Done."},
		{"without the rule it is the same step", false, func(b *trace.Builder) {
			b.Message("a", "I look.")
			b.ToolCall(trace.ToolCall{ToolCallID: "1"})
			b.ToolResult(trace.ToolResult{ToolCallID: "1"})
			b.Message("b", "Done.")
		}, [][]trace.Kind{{text, call, result, text}}, "I look.\n\nDone."},
		{"text between calls that run is of the same model call", true, func(b *trace.Builder) {
			b.ToolCall(trace.ToolCall{ToolCallID: "1"})
			b.ToolCall(trace.ToolCall{ToolCallID: "2"})
			b.ToolResult(trace.ToolResult{ToolCallID: "1"})
			b.Message("a", "Both run.")
			b.ToolResult(trace.ToolResult{ToolCallID: "2"})
			b.Message("b", "Both are done.")
		}, [][]trace.Kind{{call, call, result, text, result}, {text}}, "Both are done."},
		{"a sub-agent's calls are not the agent's", true, func(b *trace.Builder) {
			b.ToolCall(trace.ToolCall{ToolCallID: "task"})
			b.Under("task").ToolCall(trace.ToolCall{ToolCallID: "1"})
			b.Under("task").ToolResult(trace.ToolResult{ToolCallID: "1"})
			b.Under("task").Message("a", "Found.")
			b.Message("b", "It still looks.")
			b.ToolResult(trace.ToolResult{ToolCallID: "task"})
			b.Message("c", "It has found it.")
		}, [][]trace.Kind{{call, call, result, text, text, result}, {text}}, "It has found it."},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var events []trace.Event
			b := trace.NewBuilder(t.Context(), trace.Config{Turn: "t", Append: func(_ context.Context, e []trace.Event) error {
				events = append(events, e...)
				return nil
			}})
			if c.infer {
				b.StepAfterResults()
			}
			b.Emit(trace.Reply{MessageID: "m"})
			c.write(b)
			if err := b.Finish(trace.Stop{Reason: "end_turn"}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.steps, steps(events)); diff != "" {
				t.Error(diff)
			}
			if stop := events[len(events)-1].Payload.(trace.Stop); stop.FinalOutput != c.final {
				t.Errorf("the final output is %q", stop.FinalOutput)
			}
		})
	}
}

func TestWhatMadeATurnFail(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		stop           trace.Stop
		infrastructure bool
	}{
		{trace.Stop{Outcome: trace.OutcomeFailed, Class: trace.ClassAuth}, true},
		{trace.Stop{Outcome: trace.OutcomeFailed, Class: trace.ClassRateLimit}, true},
		{trace.Stop{Outcome: trace.OutcomeFailed, Class: trace.ClassOverloaded}, true},
		{trace.Stop{Outcome: trace.OutcomeFailed, Class: trace.ClassNetwork}, true},
		{trace.Stop{Outcome: trace.OutcomeFailed, Class: trace.ClassGateway}, true},
		{trace.Stop{Outcome: trace.OutcomeFailed, Class: trace.ClassRequest}, false},
		{trace.Stop{Outcome: trace.OutcomeFailed, Class: trace.ClassContext}, false},
		{trace.Stop{Outcome: trace.OutcomeFailed, Class: trace.ClassLimit}, false},
		{trace.Stop{Outcome: trace.OutcomeFailed, Reason: "error"}, false},
		{trace.Stop{Outcome: trace.OutcomeFailed, Reason: trace.ReasonDied}, true},  // as an older version wrote it
		{trace.Stop{Outcome: trace.OutcomeFailed, Reason: trace.ReasonIdle}, false}, // the agent was silent
		{trace.Stop{Outcome: trace.OutcomeFailed, Reason: trace.ReasonTooMuch, Class: trace.ClassGateway}, false},
		{trace.Stop{Outcome: trace.OutcomeCanceled, Reason: trace.ReasonRestart}, false},
	} {
		if got := c.stop.Infrastructure(); got != c.infrastructure {
			t.Errorf("%+v: %t", c.stop, got)
		}
	}
}

func TestTheBuilderKnowsTheClassOfTheGatewaysReasons(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		stop trace.Stop
		want trace.Class
	}{
		{trace.Stop{Outcome: trace.OutcomeFailed, Reason: trace.ReasonUnavailable}, trace.ClassGateway},
		{trace.Stop{Outcome: trace.OutcomeFailed, Reason: trace.ReasonLost, Class: trace.ClassNetwork}, trace.ClassNetwork},
		{trace.Stop{Outcome: trace.OutcomeFailed, Reason: "api_error"}, ""},
		{trace.Stop{Outcome: trace.OutcomeFailed, Reason: "api_error", Class: "sunspots"}, ""},
		{trace.Stop{Outcome: trace.OutcomeCanceled, Reason: "stopped", Class: trace.ClassAuth}, ""},
	} {
		var last trace.Payload
		b := trace.NewBuilder(t.Context(), trace.Config{Turn: "t", Append: func(_ context.Context, e []trace.Event) error {
			last = e[len(e)-1].Payload
			return nil
		}})
		if err := b.Finish(c.stop); err != nil {
			t.Fatal(err)
		}
		if stop := last.(trace.Stop); stop.Class != c.want {
			t.Errorf("%+v has the class %q, want %q", c.stop, stop.Class, c.want)
		}
	}
}
