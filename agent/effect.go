package agent

import (
	"encoding/json"

	"github.com/tributary-dev/tributary/trace"
)

// Effect is an action that a Decoder asks its session to perform. The set is closed:
// [Permit], [Ask], [Withdraw], [Send] and [Resume].
//
// A live session performs effects in order. Package replay drops them: a recording
// holds the answers that were given.
type Effect interface{ effect() }

// Permit waits for the answer to a permission request and sends the answer to the agent.
type Permit struct {
	// Native is the agent's own id of the request.
	Native string
	// RequestID is the id that Builder.PermissionRequest returned.
	RequestID string
	// Decided is the answer of the policy, or nil if a person has to answer.
	Decided *trace.PermissionResponse
	// Reply encodes the answer in the agent's protocol. Reply must not touch the
	// Decoder: the session calls Reply from another goroutine.
	Reply func(trace.PermissionResponse) json.RawMessage
}

// Ask waits for the answers to questions and sends them to the agent.
type Ask struct {
	// Native is the agent's own id of the request.
	Native string
	// QuestionIDs are the ids that Builder.Questions returned.
	QuestionIDs []string
	// Choices are the labels of all choices. They go back to the agent as the agent wrote them.
	Choices []string
	// Reply encodes the answers, in the order of QuestionIDs. The rule of
	// Permit.Reply applies.
	Reply func([]trace.Answer) json.RawMessage
}

// Withdraw ends the wait for a Permit or an Ask that the agent has withdrawn. The
// Decoder has put the withdrawal on record.
type Withdraw struct {
	// Native is the agent's own id of the request.
	Native string
}

// Send sends a message to the agent at once.
type Send struct {
	Data json.RawMessage
}

// Resume stores a token by which a later session finds the agent's conversation.
type Resume struct {
	Token string
}

func (Permit) effect()   {}
func (Ask) effect()      {}
func (Withdraw) effect() {}
func (Send) effect()     {}
func (Resume) effect()   {}
