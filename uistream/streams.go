package uistream

import (
	"context"
	"errors"
)

// This file has the streams of a gateway.

// ErrClosed says that the Streams were closed.
var ErrClosed = errors.New("the gateway is stopping")

// Stopping is what clients are told whose streams a stopping gateway ends.
const Stopping = "The gateway is stopping: reload the page in a moment."

// ErrDetached says that a turn goes on without this gateway. A stream that tells its positions ends without words then, so that
// its reader has another gateway go on with it.
var ErrDetached = errors.New("the turn goes on without this gateway")

// Streams serve turns to any number of clients, as the turns happen. Each client has a translation of its own, so a
// slow one holds nobody up. Streams have no goroutine of their own and are safe for concurrent use.
type Streams struct {
	framing Framing
	closed  context.Context //nolint:containedctx // the life of the Streams
	close   context.CancelCauseFunc
	cost    cost
}

// NewStreams returns Streams, which the caller must Close.
func NewStreams(f Framing) *Streams {
	s := &Streams{framing: f}
	s.closed, s.close = context.WithCancelCause(context.Background())
	return s
}

// Framing is the framing of everything that Serve writes.
func (st *Streams) Framing() Framing { return st.framing }

// Close ends the streams that are being served, with an error.
func (st *Streams) Close() { st.close(ErrClosed) }
