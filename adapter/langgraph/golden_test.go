package langgraph_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/adapter/langgraph"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/internal/testkit/replay"
	"github.com/tributary-dev/tributary/internal/testkit/replay/replaytest"
	"github.com/tributary-dev/tributary/trace"
)

// goldens are the recordings whose every record is kept. Each stands for a form, a mode or a
// case that the others do not have.
var goldens = []string{ //nolint:gochecknoglobals // never written
	"weather-multi.sse", "weather-values.sse", "weather-messages.sse", "weather-events.sse", "weather.v2.jsonl", "weather.stream.jsonl", "weather.enc-v2.sse",
	"parallel-multi.sse", "failtool-multi.sse", "failtool-strict-multi.sse", "failmodel-multi.sse", "thinking-multi.sse", "reasontool-multi.sse",
	"deepseek-multi.sse", "blocks-multi.sse", "duo-multi.sse", "duo-participant.v2.sse", "nested-multi.sse", "canned-multi.sse", "blocks.v3.jsonl", "reasontool.v3.jsonl",
	"custom-multi.sse", "unknown-multi.sse", "approval-approve-1.sse", "approval-reject-2.sse", "approval-1.v2.jsonl", "static-interrupt-1.sse", "cancel-rollback.sse",
	"python-weather.sse", "composed-callbacks.jsonl", "conversaition-three-speakers.jsonl", "conversaition-duplicate-and-silent-end.jsonl",
}

func TestGolden(t *testing.T) {
	t.Parallel()
	for _, name := range goldens {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := play(t, name, langgraph.Options{})
			if p.Skipped > 0 {
				t.Errorf("%d messages were not understood: %v", p.Skipped, p.First)
			}
			replaytest.Golden(t, filepath.Join("testdata", "golden", name+".jsonl"), replaytest.Lines(t, p.Records))
		})
	}
}

// openEnded are the recordings that end while the graph waits for a person, or in the
// middle of a message. A recording does not say how its turn went on.
var openEnded = []string{ //nolint:gochecknoglobals // never written
	"approval-approve-1.sse", "approval-reject-1.sse", "approval-tasks-1.sse", "approval-updates-1.sse", "approval.enc-stream.sse", "approval-1.v2", "approval-1.stream",
	"ask-multi-1.sse", "edit-multi-1.sse", "static-interrupt-1.sse", "cancel-interrupt.sse", "disconnect-cancel.sse", "join-plain-", "join-resumable-1.sse",
}

func TestEveryRecordingIsOneTurnThatEndsOnceAndLeavesNoCallOpen(t *testing.T) {
	t.Parallel()
	for _, name := range append(names(t, "*.sse"), names(t, "*.jsonl")...) {
		p := play(t, name, langgraph.Options{})
		if p.Skipped > 0 || len(p.Turns) != 1 {
			t.Errorf("%s: %d turns, and %d messages were not understood: %v", name, len(p.Turns), p.Skipped, p.First)
			continue
		}
		events := replaytest.Events(p.Turns[0])
		stops := agenttest.Each[trace.Stop](events)
		open := false
		for _, o := range openEnded {
			open = open || strings.HasPrefix(name, o)
		}
		if len(stops) != 1 || (stops[0].Reason == replay.Ended) != open {
			t.Errorf("%s ends with %+v", name, stops)
		}
		calls := map[string]int{}
		for _, c := range agenttest.Each[trace.ToolCallStart](events) {
			calls[c.ToolCallID]++
		}
		for _, r := range agenttest.Each[trace.ToolResult](events) {
			calls[r.ToolCallID]--
		}
		for id, n := range calls {
			if n != 0 {
				t.Errorf("%s: the call %s begins %d times more than it ends", name, id, n)
			}
		}
	}
}

// TestTheModesAgree: what a mode of a stream tells, the others tell too.
func TestTheModesAgree(t *testing.T) {
	t.Parallel()
	for graph, modes := range map[string][]string{
		"weather": {
			"weather-multi.sse", "weather-messages-tuple.sse", "weather-messages.sse", "weather-updates.sse", "weather-values.sse", "weather-tasks.sse",
			"weather-events.sse", "weather.enc-stream.sse", "weather.v2.jsonl", "weather.v2dict.jsonl", "weather.stream.jsonl",
		},
		"nested": {
			"nested-multi.sse", "nested-multi-nosub.sse", "nested-messages-tuple.sse", "nested-messages.sse", "nested-updates.sse", "nested-values.sse",
			"nested-tasks.sse", "nested-events.sse", "nested.enc-stream.sse", "nested.v2.jsonl", "nested.v2dict.jsonl", "nested.v3.jsonl", "nested.stream.jsonl",
		},
		"duo":      {"duo-multi.sse", "duo-messages-tuple.sse", "duo-messages.sse", "duo-updates.sse", "duo-events.sse", "duo.enc-stream.sse", "duo.v2.jsonl", "duo.v3.jsonl", "duo-participant.v2.sse"},
		"parallel": {"parallel-multi.sse", "parallel-events.sse", "parallel.v2.jsonl", "parallel.v2dict.jsonl", "parallel.v3.jsonl"},
		"blocks":   {"blocks-multi.sse", "blocks.v2.jsonl", "blocks.v2dict.jsonl"},
		"thinking": {"thinking-multi.sse", "thinking-events.sse", "thinking.v2.jsonl", "thinking.v2dict.jsonl"},
	} {
		want := strings.Join(outline(play(t, modes[0], langgraph.Options{}).Records), "|")
		for _, name := range modes[1:] {
			if got := strings.Join(outline(play(t, name, langgraph.Options{}).Records), "|"); got != want {
				t.Errorf("%s: %s tells\n%s\nand %s\n%s", graph, name, got, modes[0], want)
			}
		}
	}
}
