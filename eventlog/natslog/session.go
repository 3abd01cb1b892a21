package natslog

import (
	"container/list"
	"context"
	"slices"
	"sort"
	"sync"
	"time"

	"github.com/tributary-dev/tributary/eventlog"
)

// session is what is known of a session while it is in use: where its messages
// are, which turns it has, and what number comes next.
type session struct {
	id, key   string
	ready     chan struct{} // closed when opening is over, see err
	err       error
	appending chan struct{} // holds a token while an append or a deletion runs
	loading   chan struct{} // the same for looking up older segments

	// Buffers of the append that is under way, and empty between two.
	text, body []byte

	// The store's lock guards these.
	pins     int
	used     *list.Element
	lastUsed time.Time

	mu      sync.Mutex
	broken  bool   // an append failed; the session has to be opened anew
	last    uint64 // number of the last acknowledged record
	deleted uint64 // records up to here were deleted
	erased  uint64 // place of the last whole that was deleted when it was opened
	wholes  lane
	deltas  lane
	turns   []eventlog.TurnMark // that began in what was looked up, oldest first
	ends    map[string]uint64   // of turns whose beginning was not looked up
	open    map[string]uint64   // turns that have not ended, with their first records
}

// acquire returns the session's place in memory, opened, and keeps it there
// until release is called.
func (s *Store) acquire(ctx context.Context, id string) (*session, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil, eventlog.ErrClosed
	}
	se := s.sessions[id]
	isNew := se == nil
	if isNew {
		k := key(id)
		se = &session{
			id: id, key: k, ready: make(chan struct{}), appending: make(chan struct{}, 1), loading: make(chan struct{}, 1),
			ends: map[string]uint64{}, open: map[string]uint64{},
			wholes: lane{stream: s.wholes, subject: s.opts.Name + ".w." + k, kept: true},
			deltas: lane{stream: s.deltas, subject: s.opts.Name + ".p." + k},
		}
		s.sessions[id] = se
		se.used = s.recent.PushFront(se)
	} else if se.used != nil {
		s.recent.MoveToFront(se.used)
	}
	se.pins++
	se.lastUsed = time.Now()
	s.evict()
	s.mu.Unlock()

	if isNew {
		// Others wait for this, so it doesn't end with the one who came first.
		se.err = s.restore(context.WithoutCancel(ctx), se)
		if se.err != nil {
			s.forget(se)
		}
		close(se.ready)
	}
	select {
	case <-ctx.Done():
		s.release(se)
		return nil, ctx.Err()
	case <-se.ready:
	}
	if se.err != nil {
		s.release(se)
		return nil, s.failure("open session "+id, se.err)
	}
	return se, nil
}

func (s *Store) release(se *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	se.pins--
	s.evict()
}

// evict drops the places of sessions that nobody uses where there are too many of
// them, the longest unused first. The caller holds s.mu.
func (s *Store) evict() {
	s.dropWhile(func(*session) bool { return s.recent.Len() > s.opts.Sessions })
}

// evictIdle drops the places of sessions that nobody has used for a while.
func (s *Store) evictIdle(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dropWhile(func(se *session) bool { return now.Sub(se.lastUsed) >= s.opts.Idle })
}

// dropWhile drops sessions from the one on that was used longest ago, but for those
// that are in use.
func (s *Store) dropWhile(goes func(*session) bool) {
	for e := s.recent.Back(); e != nil && goes(e.Value.(*session)); {
		se, before := e.Value.(*session), e.Prev()
		if se.pins == 0 {
			s.drop(se)
		}
		e = before
	}
}

// forget makes the next use open the session anew.
func (s *Store) forget(se *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(se)
}

func (s *Store) drop(se *session) {
	if se.used != nil {
		s.recent.Remove(se.used)
		se.used = nil
		delete(s.sessions, se.id)
	}
}

// remember takes over turns that are older than all that are known.
func (se *session) remember(begin, end []mark) {
	for _, m := range end {
		se.ends[m.Turn] = m.Seq
	}
	older := make([]eventlog.TurnMark, 0, len(begin)+len(se.turns))
	for _, m := range begin {
		older = append(older, eventlog.TurnMark{Turn: m.Turn, First: m.Seq, Last: se.ends[m.Turn]})
		delete(se.ends, m.Turn)
	}
	// An index message lists a turn that begins just behind its last record too,
	// since that is told by the message which holds both.
	if n := len(older); n > 0 && len(se.turns) > 0 && older[n-1].Turn == se.turns[0].Turn {
		se.turns[0].Last = max(se.turns[0].Last, older[n-1].Last)
		older = older[:n-1]
	}
	se.turns = append(older, se.turns...)
}

// turned takes over turns that are newer than all that are known.
func (se *session) turned(begin, end []mark) {
	for _, m := range begin {
		if se.turn(m.Turn) < 0 {
			se.turns = append(se.turns, eventlog.TurnMark{Turn: m.Turn, First: m.Seq})
		}
		se.open[m.Turn] = m.Seq
	}
	for _, m := range end {
		delete(se.open, m.Turn)
		i := se.turn(m.Turn)
		switch {
		case i < 0:
			se.ends[m.Turn] = m.Seq
		case se.turns[i].Last == 0:
			se.turns[i].Last = m.Seq
		}
	}
}

// trimmed forgets the turns that began up to a record. They come back by remember,
// which needs the ends that are not listed where they began.
func (se *session) trimmed(upTo uint64) {
	n := sort.Search(len(se.turns), func(i int) bool { return se.turns[i].First > upTo })
	for _, t := range se.turns[:n] {
		if t.Last > upTo {
			se.ends[t.Turn] = t.Last
		}
	}
	se.turns = slices.Clone(se.turns[n:])
}

// turn finds a turn among those that were looked up; a recent one quickly.
func (se *session) turn(turn string) int {
	for i := range slices.Backward(se.turns) {
		if se.turns[i].Turn == turn {
			return i
		}
	}
	return -1
}

// begun reports whether the turn is known to have begun.
func (se *session) begun(turn string) bool {
	se.mu.Lock()
	defer se.mu.Unlock()
	_, open := se.open[turn]
	return open || se.turn(turn) >= 0
}

func (se *session) deletedUpTo() uint64 {
	se.mu.Lock()
	defer se.mu.Unlock()
	return se.deleted
}

// Turns implements eventlog.Store.
func (s *Store) Turns(ctx context.Context, id string, before uint64, limit int) ([]eventlog.TurnMark, error) {
	se, err := s.acquire(ctx, id)
	if err != nil {
		return nil, err
	}
	defer s.release(se)
	for {
		se.mu.Lock()
		end := len(se.turns)
		if before != 0 {
			end = sort.Search(end, func(i int) bool { return se.turns[i].First >= before })
		}
		if enough := limit > 0 && end >= limit; enough || se.wholes.older == 0 {
			from := 0
			if limit > 0 {
				from = max(0, end-limit)
			}
			turns := slices.Clone(se.turns[from:end])
			se.mu.Unlock()
			return turns, nil
		}
		se.mu.Unlock()
		if err := s.loadOlder(ctx, se, &se.wholes); err != nil {
			return nil, s.failure("list the turns of session "+id, err)
		}
	}
}
