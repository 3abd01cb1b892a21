package trace_test

import (
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/trace"
)

// children is the state of each sub-agent that no call started, as it changed.
func children(events []trace.Event) string {
	var words []string
	for _, e := range events {
		if d, ok := e.Payload.(trace.Data); ok {
			if s, is := d.Subagent(); is {
				words = append(words, s.ID+" "+s.Name+" "+string(s.Status))
			}
		}
	}
	return strings.Join(words, ", ")
}

func TestASubagentThatNoCallStarted(t *testing.T) {
	t.Parallel()
	_, events, counts := written[trace.Payload](t, func(b *trace.Builder) {
		child := b.Sub("ses_2", "explore")
		child.MessageDelta("m", "Look")
		b.Sub("ses_2", "").MessageDelta("m", "ing.")
		child.ToolCall(trace.ToolCall{ToolCallID: "c", RawName: "grep"})
		grandchild := child.Sub("ses_3", "")
		grandchild.Message("m", "deep")
		b.SubEnd("ses_2", trace.SubagentFailed)
		b.SubEnd("ses_2", trace.SubagentCompleted)
		b.SubEnd("ses_9", trace.SubagentCompleted)
		b.Message("m", "Done.")
	})
	if got := children(events); got != "ses_2 explore running, ses_3  running, ses_2 explore failed, ses_3  completed" {
		t.Error(got)
	}
	if counts.Repeated != 1 || counts.Orphans != 1 {
		t.Errorf("%+v", counts)
	}
	began := map[trace.Actor]string{}
	for _, e := range events {
		switch p := e.Payload.(type) {
		case trace.Data:
			if began[e.Actor] == "" {
				began[e.Actor] = e.ID
			}
		case trace.Message:
			if p.Text == "Looking." && (e.Actor != trace.Subagent("ses_2") || e.Parent != began[e.Actor]) {
				t.Errorf("%+v", e)
			}
		case trace.Stop:
			if p.FinalOutput != "Done." {
				t.Errorf("the final output is %q", p.FinalOutput)
			}
		}
	}
}

func TestASubagentWithTheIDOfACallGetsItsOwn(t *testing.T) {
	t.Parallel()
	_, events, _ := written[trace.Payload](t, func(b *trace.Builder) {
		b.ToolCall(trace.ToolCall{ToolCallID: "x"})
		b.Sub("x", "").Message("m", "hello")
	})
	if got := children(events); got != "x~2  running, x~2  completed" {
		t.Error(got)
	}
}
