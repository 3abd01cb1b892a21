package remote

import (
	"context"
	"encoding/json"
	"iter"

	"github.com/tributary-dev/tributary/agent"
)

// Transport carries calls to a server. A Transport is safe for concurrent use.
type Transport interface {
	// Do makes a call and returns the answer, or nil if the answer is empty.
	Do(ctx context.Context, c Call, by agent.Caller) (json.RawMessage, error)
	// Stream makes a call whose answer is a stream. The stream ends with ctx.
	Stream(ctx context.Context, c Call, by agent.Caller) (Stream, error)
	// Close ends the connections.
	Close()
}

// Stream is a stream of events.
type Stream interface {
	// Events yields the events. An error is why the stream broke off, and is the last; only
	// a sse.TooLargeError says that one event was skipped.
	Events() iter.Seq2[Event, error]
	// Close ends the stream. Close is idempotent and may be called at any time.
	Close()
}

// Event is one event of a stream.
type Event struct {
	// Name is the event's name, or [Unnamed].
	Name string
	ID   string
	// Data is the event's JSON. Text that is no JSON is a JSON string.
	Data json.RawMessage
}
