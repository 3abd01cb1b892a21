package agent

import (
	"slices"

	"github.com/tributary-dev/tributary/trace"
)

// OpenTurn is a turn that an earlier process left open.
type OpenTurn struct {
	// Builder goes on after the records of the turn.
	Builder *trace.Builder
	// Prompt began the turn; nil if the agent began by itself.
	Prompt *trace.Prompt
	// AgentInitiated says that Host.Begin opened the turn, and no prompt of this gateway.
	AgentInitiated bool
	// Native are the agent's own ids of the events of the turn, in order.
	Native []string
	// Parts are the ids of the texts and thoughts that began since the last of Native, in
	// order: a Builder goes on with a part under its id.
	Parts []string
	// Done are the calls that have their result.
	Done []string
	// Records are what is on record of the turn.
	Records []trace.Record
	// Waiting are the requests and questions that have no answer, by the ids for
	// Host.Permit and Host.Ask.
	Waiting []string
}

// NewOpenTurn reads an OpenTurn from the records of a turn. The caller sets Builder and AgentInitiated.
func NewOpenTurn(records []trace.Record) OpenTurn {
	left := OpenTurn{Records: records}
	for _, r := range records {
		switch p := r.Payload.(type) { //nolint:gochecksumtype // the others say nothing of what the agent was to do
		case trace.Prompt:
			if left.Prompt == nil {
				left.Prompt = &p
			}
		case trace.Step:
			if _, sub := r.Actor.SubagentCall(); p.NativeID != "" && !sub && !slices.Contains(left.Native, p.NativeID) {
				left.Native, left.Parts = append(left.Native, p.NativeID), nil
			}
		case trace.MessageStart:
			left.Parts = append(left.Parts, p.Part)
		case trace.ThoughtStart:
			left.Parts = append(left.Parts, p.Part)
		case trace.ToolResult:
			left.Done = append(left.Done, p.ToolCallID)
		case trace.PermissionRequest:
			left.Waiting = append(left.Waiting, p.RequestID)
		case trace.Question:
			left.Waiting = append(left.Waiting, p.QuestionID)
		case trace.PermissionResponse:
			left.answered(p.RequestID)
		case trace.Answer:
			left.answered(p.QuestionID)
		}
	}
	return left
}

func (l *OpenTurn) answered(id string) {
	l.Waiting = slices.DeleteFunc(l.Waiting, func(w string) bool { return w == id })
}
