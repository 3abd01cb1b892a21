package remote

import (
	"context"
	"time"

	"github.com/tributary-dev/tributary/agent"
)

// Spec describes an agent on a server.
type Spec struct {
	// Name begins sentences for users, such as "LangGraph".
	Name string
	// Speaks names the protocol of the streams. Speaks ends sentences for users.
	Speaks string
	// AsWritten is for an application; see agentkit.Options.
	AsWritten bool
	// Transport carries the calls. The Session closes it.
	Transport Transport
	// Feed is for a server that tells everything in one stream, in place of Transport; nil for others.
	Feed *Feed
	// Greet checks the server when a session opens, and a new connection of a Feed; nil checks nothing.
	Greet func(ctx context.Context, s *Session) error
	// StopTime is how long the agent may take to end a run; 5 s if zero.
	StopTime time.Duration
	// Silence is how long a stream may say nothing before it counts as broken; 0 is for
	// ever, which a server needs that sends no signs of life.
	Silence time.Duration
	// Finds says that GoOn also finds a run whose request broke off: the server may have
	// begun the run, and the answer was lost.
	Finds bool
	// New returns the session's protocol. The Session is not open yet: New calls none of its methods.
	New func(s *Session) Protocol
}

// Protocol is what an adapter knows of its server's protocol. There is one for each
// session. Decode is called with the session locked; the other methods are not.
type Protocol interface {
	agent.Decoder
	// Run encodes the request that begins the run of a prompt. A *agentkit.PromptError
	// says that the agent cannot take the prompt.
	Run(ctx context.Context, p agent.Prompt) (Call, error)
	// Stop encodes the request that ends the run. It reports false for a server that ends
	// a run whose stream is closed.
	Stop() (Call, bool)
	// GoOn is called when a stream has ended, after the Decoder has learnt it. The result is the
	// request that goes on with the run. A nil request means that nothing more is to come: the turn
	// is over, waits for a person, or has another run already. The error, one sentence, says that
	// the run is lost.
	GoOn(ctx context.Context, b Break) (*Call, error)
}

// Finisher is a Protocol that learns the end of a run before its stream ends.
type Finisher interface {
	// Finished reports whether the run is over. Finished is called with the session locked.
	// A stream that says nothing for [Linger] once its run is over counts as ended.
	Finished() bool
}

// Linger is how long a stream may stay open behind the end of its run.
const Linger = 3 * time.Second

// Break is where a stream has ended.
type Break struct {
	// LastID is the id of the last event, or "".
	LastID string
	// Err is why the stream broke off; nil if the server ended it.
	Err error
}

// Reattacher is a Protocol whose runs outlive the gateway.
type Reattacher interface {
	// Reattach makes the Decoder know a turn that an earlier process left open. It returns
	// the request that goes on with the run, nil for a turn that waits for a person, or an
	// error, one sentence, if the run is lost.
	Reattach(ctx context.Context, left agent.OpenTurn) (*Call, error)
}
