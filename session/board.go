package session

import (
	"context"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tributary-dev/tributary/eventlog"
)

// This file sends changes of the session list to its readers.

const (
	// mostChanges bounds the sessions whose changes wait for one reader. Beyond it the
	// reader gets the list again.
	mostChanges = 1000
	// listPause is the shortest time between two batches of changes for one reader.
	listPause = 250 * time.Millisecond
)

// ListEvent is a change of the session list for one reader. One of the fields is set.
type ListEvent struct {
	// Page is the list as it stands. It replaces everything that the reader has.
	Page *ListPage
	// Changed is a session that is new or has changed.
	Changed *Summary
	// Gone is the id of a session that this reader was shown. The session is deleted, or the
	// reader may not see the session any more.
	Gone string
	// Requests says that other requests wait in sessions that this reader decides on and does not
	// see. They are not named.
	Requests bool
}

// ListPage is the newest page of a list.
type ListPage struct {
	Sessions []Summary
	// Next is the mark of the next page, 0 if there is none.
	Next int64
}

// WatchList yields the newest page of a list, and then each change of it, until ctx ends
// or the hub closes. Several changes of a session between two reads are one. A reader that
// falls far behind gets the page again.
func (h *Hub) WatchList(ctx context.Context, c Selection, limit int) iter.Seq2[ListEvent, error] {
	return func(yield func(ListEvent, error) bool) {
		ctx, cancel := during(ctx, h.ctx) //nolint:contextcheck // the end of the hub ends the list, too
		defer cancel()
		r := h.board.join(c, limit)
		defer h.board.leave(r)
		for ctx.Err() == nil {
			events, whole := h.board.take(r)
			if whole {
				page := ListPage{}
				err := eventlog.PaceOf(ctx).Reads()
				if err == nil {
					page.Sessions, page.Next, err = h.List(ctx, c, 0, limit)
				}
				if err != nil {
					if ctx.Err() == nil {
						yield(ListEvent{}, err)
					}
					return
				}
				h.board.show(r, page.Sessions)
				events = []ListEvent{{Page: &page}}
			}
			for _, e := range events {
				if !yield(e, nil) {
					return
				}
			}
			if len(events) > 0 {
				sleep(ctx, listPause)
			}
			eventlog.PaceOf(ctx).Waits()
			select {
			case <-ctx.Done():
			case <-r.wake:
			}
		}
	}
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// board has the readers of the session list. Without readers a change costs one lock.
type board struct {
	hear func() (stop context.CancelFunc) // while there are readers; nil: nobody else writes

	mu      sync.Mutex // taken before the mutex of a session
	readers map[*listReader]struct{}
	stop    context.CancelFunc // of hear
}

// listReader is a reader of the list. The lock of the board guards all of it.
type listReader struct {
	Selection
	limit   int
	wake    chan struct{} // holds one while there is something to read
	whole   bool          // the page is to be read
	changed map[string]*Summary
	shown   map[string]struct{} // nil while the page is being read
	// asks are the requests that wait in sessions that the reader decides on and does not see, and
	// asked says that they have changed.
	asks  map[string]string
	asked bool
}

func (b *board) join(c Selection, limit int) *listReader {
	r := &listReader{Selection: c, limit: limit, wake: make(chan struct{}, 1), whole: true, changed: map[string]*Summary{}, asks: map[string]string{}}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.readers[r] = struct{}{}
	if b.hear != nil && b.stop == nil {
		b.stop = b.hear()
	}
	return r
}

func (b *board) leave(r *listReader) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.readers, r)
	if len(b.readers) == 0 && b.stop != nil {
		b.stop()
		b.stop = nil
	}
}

// changed sends a session as it stands to its readers. The caller holds no lock of the
// session.
func (b *board) changed(l *activeSession) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.readers) == 0 {
		return
	}
	s := l.view() // under the lock, so that the last state is sent last
	b.post(s.ID, &s)
}

// stored sends a session to its readers that another gateway has written, or nil for one that is
// deleted.
func (b *board) stored(id string, s *Summary) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.post(id, s)
}

// reset makes all readers read the page again.
func (b *board) reset() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for r := range b.readers {
		r.again()
	}
}

// post notes a change for each reader. s is nil if the session is deleted. The caller
// holds b.mu, as for the methods of listReader.
func (b *board) post(id string, s *Summary) {
	for r := range b.readers {
		r.note(id, s)
	}
}

func (r *listReader) note(id string, s *Summary) {
	r.noteAsks(id, s)
	_, shown := r.shown[id]
	_, waits := r.changed[id]
	if r.whole || r.shown != nil && !shown && !waits && (s == nil || !r.has(*s)) {
		return
	}
	r.changed[id] = s
	if len(r.changed) > mostChanges {
		r.again()
	}
	r.awake()
}

// noteAsks notes the requests of a session that the reader does not see.
func (r *listReader) noteAsks(id string, s *Summary) {
	if r.Decides == nil {
		return
	}
	now := ""
	if s != nil && !r.has(*s) && r.Decides(id, s.ACL()) {
		now = strings.Join(s.Waiting, " ")
	}
	switch {
	case now == r.asks[id]:
		return
	case now == "":
		delete(r.asks, id)
	default:
		r.asks[id] = now
	}
	r.asked = true
	r.awake()
}

// again makes the reader read the page again.
func (r *listReader) again() {
	r.whole, r.changed = true, map[string]*Summary{}
	r.awake()
}

func (r *listReader) awake() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// take returns what the reader has not read yet. If whole is true, that is the page, and
// the caller calls show with it.
func (b *board) take(r *listReader) (events []ListEvent, whole bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if r.whole {
		r.whole, r.shown = false, nil
		return nil, true
	}
	if r.asked {
		r.asked = false
		events = append(events, ListEvent{Requests: true})
	}
	var changed []*Summary
	for id, s := range r.changed {
		_, shown := r.shown[id]
		switch {
		case s != nil && r.has(*s):
			r.shown[id] = struct{}{}
			changed = append(changed, s)
		case shown:
			delete(r.shown, id)
			events = append(events, ListEvent{Gone: id})
		}
	}
	r.changed = map[string]*Summary{}
	if len(r.shown) > r.limit+mostChanges {
		r.again()
	}
	slices.SortFunc(changed, func(a, b *Summary) int { return a.UpdatedAt.Compare(b.UpdatedAt) })
	for _, s := range changed {
		events = append(events, ListEvent{Changed: s})
	}
	return events, false
}

// show notes the sessions of the page that the reader gets. Changes since take may be
// about any session, so they are sent after it.
func (b *board) show(r *listReader, page []Summary) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r.shown = make(map[string]struct{}, len(page))
	for _, s := range page {
		r.shown[s.ID] = struct{}{}
	}
}
