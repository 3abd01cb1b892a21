package cli

import (
	"cmp"
	"fmt"
	"io"

	"github.com/tributary-dev/tributary/trace"
)

// printTrace prints every record as a line of JSON.
type printTrace struct{ out io.Writer }

func (p printTrace) print(r trace.Record) error { return writeRecord(p.out, r) }

// printText prints the agent's text. For a person at a terminal it also prints the
// agent's actions, on standard error.
type printText struct {
	out, notes       io.Writer
	outTTY, notesTTY bool
	shown            map[string]int // bytes of each part
	midLine          bool
}

func newPrintText(p *program) *printText {
	return &printText{out: p.stdout, notes: p.stderr, outTTY: isTerminal(p.stdout), notesTTY: isTerminal(p.stderr), shown: map[string]int{}}
}

func (p *printText) print(r trace.Record) error {
	if _, sub := r.Actor.SubagentCall(); sub {
		return nil // its result is the call's
	}
	switch what := r.Payload.(type) {
	case trace.MessageDelta:
		p.shown[what.Part] += len(what.Delta)
		return p.say(what.Delta)
	case trace.Message:
		if what.Role != trace.RoleAssistant {
			return nil
		}
		// The deltas may have been dropped, all of them or the last.
		if n := p.shown[what.Part]; n < len(what.Text) {
			if err := p.say(what.Text[n:]); err != nil {
				return err
			}
		}
		return p.endLine()
	case trace.ToolCall:
		p.note("· " + cmp.Or(what.Title, what.Name))
	case trace.ToolResult:
		if what.Status != trace.ToolCompleted {
			p.note("  " + string(what.Status) + ": " + what.Error)
		}
	case trace.Error:
		p.note("! " + what.Message)
	case trace.Stop:
		return p.endLine()
	case trace.PermissionRequest, trace.PermissionResponse, trace.Question, trace.Answer, trace.Pause:
		// who asks prints them
	case trace.Prompt, trace.Reply, trace.Rewind, trace.MessageStart, trace.ThoughtStart, trace.ThoughtDelta, trace.Thought,
		trace.ToolCallStart, trace.ToolCallDelta, trace.ToolResultProgress, trace.Step, trace.Usage, trace.Plan,
		trace.FileChange, trace.Source, trace.File, trace.Data, trace.Status, trace.Unknown:
		// seen with --json
	}
	return nil
}

func (p *printText) say(text string) error {
	if p.outTTY {
		text = harmless(text)
	}
	if text == "" {
		return nil
	}
	p.midLine = text[len(text)-1] != '\n'
	if _, err := io.WriteString(p.out, text); err != nil {
		return fmt.Errorf("write the text: %w", err)
	}
	return nil
}

func (p *printText) endLine() error {
	if !p.midLine {
		return nil
	}
	return p.say("\n")
}

func (p *printText) note(text string) {
	if p.notesTTY {
		fmt.Fprintln(p.notes, dim(oneLine(text)))
	}
}
