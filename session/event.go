package session

import "github.com/tributary-dev/tributary/trace"

// This file has the events that tell clients of a session.

// EventType says what an Event tells.
type EventType string

// The types of events of a session.
const (
	EventSession EventType = "session" // how it stands; what was before is to be read anew
	EventTurn    EventType = "turn"    // a turn has got another state
	EventHistory EventType = "history" // messages were taken back
	EventTitle   EventType = "title"   // it has got a title
	EventDeleted EventType = "deleted" // it is no more: the last event
)

// Event is a change of a session, for clients that show the session and did not
// cause the change: another tab, another user, a list. An Event says that there is
// something to read; the content is in the history.
type Event struct {
	// Seq is the number of the record that tells it, and the mark to go on from,
	// unless there is More: another event that the same record tells.
	Seq  uint64    `json:"-"`
	More bool      `json:"-"`
	Type EventType `json:"type"`
	// TurnStatus is set for EventTurn.
	TurnStatus
	// Turns are those that are not over, in the order in which they began.
	Turns []TurnStatus `json:"turns,omitzero"`
	// To is the first message that was removed.
	To    string `json:"to,omitempty"`
	Title string `json:"title,omitempty"`
	// Reset says that the mark that was to be gone on from leads nowhere: what came
	// after it is not known.
	Reset bool `json:"reset,omitempty"`
}

// TurnState says where a turn stands.
type TurnState string

// The states of a turn.
const (
	TurnQueued  TurnState = "queued"  // it waits for another turn's end
	TurnHeld    TurnState = "held"    // it waits until a person continues the queue
	TurnRunning TurnState = "running" // the agent is at work
	TurnPaused  TurnState = "paused"  // the agent waits for a person
	TurnEnded   TurnState = "ended"
)

// TurnStatus is the state of a turn, as events and lists show it.
type TurnStatus struct {
	Turn  string    `json:"turn,omitempty"`
	State TurnState `json:"state,omitempty"`
	// By is who asked for it.
	By string `json:"by,omitempty"`
	// MessageID is the id of the answer, once there is one.
	MessageID string `json:"message_id,omitempty"`
	// Requests are what a paused turn waits for: permission requests or questions.
	Requests []string      `json:"requests,omitempty"`
	Outcome  trace.Outcome `json:"outcome,omitempty"`
	// Reason is why it ended: a word of the agent or the gateway.
	Reason string `json:"reason,omitempty"`
}
