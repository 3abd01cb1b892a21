package chatrun

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"time"
)

// This file finds the runs again.

const (
	// keepFor is how long a run without a piece is kept. A client that was cut asks for the
	// rest at once.
	keepFor = 20 * time.Second
	// maxKept bounds the runs without a piece, in bytes, of which each has minSize at least.
	maxKept = 64 << 20
	minSize = 64 << 10
)

// Key is how a client asks for a run: by a name, in a session. Runs of others have other keys.
type Key struct{ Session, Owner, Name string }

// Book has the runs of a gateway, each with the source of its chunks.
type Book[S any] struct {
	mu   sync.Mutex
	runs map[Key][]*run[S]
	kept []*run[S] // those without a piece, the oldest first
	size int       // of those
}

// NewBook returns a Book without runs.
func NewBook[S any]() *Book[S] { return &Book[S]{runs: map[Key][]*run[S]{}} }

// Begin makes a run, and w its first piece, which the caller closes. The context ends with
// the piece.
func (b *Book[S]) Begin(ctx context.Context, w http.ResponseWriter, key Key) (*Piece[S], context.Context) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := &run[S]{key: key, begun: 1}
	b.runs[key] = append(b.runs[key], r)
	return b.enterLocked(ctx, w, r)
}

// Again makes w a piece of the run that has the key, for a client that reads the run from
// its beginning and wants that source. The source of a run that has come to its end is nil.
// Again returns nil if there is no such run. A run that another client reads now, or that has
// lost its beginning, does not count.
func (b *Book[S]) Again(ctx context.Context, w http.ResponseWriter, key Key, wanted func(*S) bool) (*Piece[S], context.Context) {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := b.runs[key]
	if len(all) != 1 || all[0].piece != nil || !all[0].has(0) || !wanted(all[0].from()) {
		return nil, nil
	}
	all[0].begun++
	return b.enterLocked(ctx, w, all[0])
}

// Resume makes w a piece of the run that has the key, for a client that has the chunks with
// a smaller number. If the client's last piece has not ended, because the gateway did not
// notice that the connection was cut, that piece ends first. Resume returns nil if the
// client may have the chunks of another run: several clients have begun a run by the key.
func (b *Book[S]) Resume(ctx context.Context, w http.ResponseWriter, key Key, n int) (*Piece[S], context.Context) {
	for {
		b.mu.Lock()
		all := b.runs[key]
		if len(all) != 1 || !all[0].has(n) || all[0].piece != nil && all[0].begun > 1 {
			b.mu.Unlock()
			return nil, nil
		}
		before := all[0].piece
		if before == nil {
			defer b.mu.Unlock()
			return b.enterLocked(ctx, w, all[0])
		}
		before.interrupt()
		b.mu.Unlock()
		select {
		case <-before.over:
		case <-ctx.Done():
			return nil, nil
		}
	}
}

// has reports whether the run has kept all chunks from that number on.
func (r *run[S]) has(n int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.tape.first <= n && n <= r.tape.count()
}

func (r *run[S]) from() *S {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.source
}

func (b *Book[S]) enterLocked(ctx context.Context, w http.ResponseWriter, r *run[S]) (*Piece[S], context.Context) {
	life, cancel := context.WithCancelCause(ctx)
	r.piece = &Piece[S]{w: w, run: r, book: b, cancel: cancel, over: make(chan struct{})}
	b.unkeepLocked(r)
	if r.expiry != nil {
		r.expiry.Stop()
	}
	return r.piece, life
}

// Rename gives the run of a piece another name.
func (b *Book[S]) Rename(p *Piece[S], name string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.dropLocked(p.run)
	p.run.key.Name = name
	b.runs[p.run.key] = append(b.runs[p.run.key], p.run)
}

// leave takes the piece from a run of that size. An empty run is dropped, another one kept
// for a while.
func (b *Book[S]) leave(r *run[S], size int, empty bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r.piece = nil
	if empty {
		b.dropLocked(r)
		return
	}
	r.size = max(size, minSize)
	b.kept, b.size = append(b.kept, r), b.size+r.size
	for b.size > maxKept {
		b.dropLocked(b.kept[0])
	}
	r.expiry = time.AfterFunc(keepFor, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if r.piece == nil {
			b.dropLocked(r)
		}
	})
}

func (b *Book[S]) dropLocked(r *run[S]) {
	b.unkeepLocked(r)
	if r.expiry != nil {
		r.expiry.Stop() // it holds the run
	}
	if b.runs[r.key] = without(b.runs[r.key], r); len(b.runs[r.key]) == 0 {
		delete(b.runs, r.key)
	}
}

func (b *Book[S]) unkeepLocked(r *run[S]) {
	if n := len(b.kept); n > 0 {
		if b.kept = without(b.kept, r); len(b.kept) < n {
			b.size -= r.size
		}
	}
}

func without[S any](all []*run[S], r *run[S]) []*run[S] {
	return slices.DeleteFunc(all, func(k *run[S]) bool { return k == r })
}
