package chatrun

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"
)

// This file has a response that its client may read in several pieces.

// errTaken is the cause of the end of a piece whose client reads on by another request.
var errTaken = errors.New("the client reads on by another request") //nolint:gochecknoglobals // never written

// run is a response that its client may read in several pieces, one HTTP response after
// another. The chunks count from zero, over all pieces.
type run[S any] struct {
	// Guarded by the mutex of the book:
	key    Key
	piece  *Piece[S] // the one that is being written
	begun  int       // how often the run was read from its beginning
	expiry *time.Timer
	size   int // how much it counts, while it has no piece

	mu     sync.Mutex
	tape   tape
	source *S
}

// Piece is one HTTP response of a run. It records all that is written, also when the client
// has gone, so that the run misses nothing of its source. It implements
// http.ResponseWriter.
type Piece[S any] struct {
	w       http.ResponseWriter
	run     *run[S]
	book    *Book[S]
	cancel  context.CancelCauseFunc
	over    chan struct{} // closes when the piece has ended
	gone    bool          // the client cannot be reached any more
	refused bool          // the answer is an error, and has no chunks
}

// Close ends the piece. The run is kept for a while, unless the request was refused.
func (p *Piece[S]) Close() {
	p.cancel(nil)
	p.run.mu.Lock()
	empty, size := p.run.tape.count() == 0 && p.run.source == nil, p.run.tape.size
	if p.run.tape.done {
		p.run.source = nil
	}
	p.run.mu.Unlock()
	p.book.leave(p.run, size, empty)
	close(p.over)
}

// Follow says where the chunks come from, so that the next piece goes on there.
func (p *Piece[S]) Follow(source *S) {
	p.run.mu.Lock()
	defer p.run.mu.Unlock()
	p.run.source = source
}

// Source is where the chunks come from that the run does not have yet; nil if it has all.
func (p *Piece[S]) Source() *S {
	p.run.mu.Lock()
	defer p.run.mu.Unlock()
	if p.run.tape.done {
		return nil
	}
	return p.run.source
}

// From returns the chunks from that number on as server-sent events, if all are kept.
func (p *Piece[S]) From(n int) (events []byte, ok bool) {
	p.run.mu.Lock()
	defer p.run.mu.Unlock()
	return p.run.tape.from(n)
}

// Header implements http.ResponseWriter.
func (p *Piece[S]) Header() http.Header { return p.w.Header() }

// WriteHeader implements http.ResponseWriter.
func (p *Piece[S]) WriteHeader(status int) {
	p.refused = status != http.StatusOK
	p.w.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (p *Piece[S]) Write(data []byte) (int, error) {
	if !p.refused {
		p.run.mu.Lock()
		p.run.tape.record(data)
		p.run.mu.Unlock()
	}
	p.send(data)
	return len(data), nil
}

// Repeat sends what the run has recorded before.
func (p *Piece[S]) Repeat(events []byte) {
	p.send(events)
	_ = p.FlushError() // it has none
}

func (p *Piece[S]) send(data []byte) {
	if !p.gone {
		_, err := p.w.Write(data)
		p.lose(err)
	}
}

// FlushError is for http.ResponseController.
func (p *Piece[S]) FlushError() error {
	if !p.gone {
		p.lose(http.NewResponseController(p.w).Flush())
	}
	return nil
}

// SetWriteDeadline is for http.ResponseController.
func (p *Piece[S]) SetWriteDeadline(t time.Time) error {
	if !p.gone {
		p.lose(http.NewResponseController(p.w).SetWriteDeadline(t))
	}
	return nil
}

// interrupt ends the piece, also while it writes to a client that takes nothing. The piece
// is not closed yet.
func (p *Piece[S]) interrupt() {
	p.cancel(errTaken)
	_ = http.NewResponseController(p.w).SetWriteDeadline(time.Now()) // a response without deadlines ends by itself
}

// lose ends the piece if its client cannot be reached any more.
func (p *Piece[S]) lose(err error) {
	if err != nil && !errors.Is(err, http.ErrNotSupported) {
		p.gone = true
		p.cancel(err)
	}
}
