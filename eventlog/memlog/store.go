package memlog

import (
	"context"
	"iter"
	"slices"
	"sort"
	"sync"

	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/trace"
)

// Store keeps records in memory. Make one with New.
type Store struct {
	mu       sync.RWMutex
	closed   bool
	sessions map[string]*session
	docs     map[string]*eventlog.Entry
	exports  map[string]map[string]uint64 // positions, by exporter and session
	grants   []grant                      // by their ids
}

var _ eventlog.Store = (*Store)(nil)

// session is what is kept of one. Readers share the records array: it only
// grows, or is replaced.
type session struct {
	last    uint64
	records []trace.Record
	turns   []eventlog.TurnMark
	open    map[string]int // turns without a stop, by their place in turns
}

// New returns an empty store.
func New() *Store {
	return &Store{sessions: map[string]*session{}, docs: map[string]*eventlog.Entry{}, exports: map[string]map[string]uint64{}}
}

// whileOpen calls do with the lock, or with s.mu.RLocker() if it only reads.
func (s *Store) whileOpen(ctx context.Context, lock sync.Locker, do func()) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	lock.Lock()
	defer lock.Unlock()
	if s.closed {
		return eventlog.ErrClosed
	}
	do()
	return nil
}

// Append implements eventlog.Store.
func (s *Store) Append(ctx context.Context, id, turn string, events []trace.Event) (uint64, error) {
	return s.append(ctx, id, turn, events, func() {})
}

// AppendWith implements eventlog.Store.
func (s *Store) AppendWith(ctx context.Context, e eventlog.Entry, turn string, events []trace.Event) (uint64, error) {
	return s.append(ctx, e.Session, turn, events, func() { s.put(e) })
}

// append calls also with the lock.
func (s *Store) append(ctx context.Context, id, turn string, events []trace.Event, also func()) (last uint64, err error) {
	err = s.whileOpen(ctx, &s.mu, func() {
		also()
		se := s.sessions[id]
		if se == nil {
			if len(events) == 0 {
				return
			}
			se = &session{open: map[string]int{}}
			s.sessions[id] = se
		}
		for _, e := range events {
			e.Time = e.Time.Round(0).UTC()
			se.last++
			se.records = append(se.records, trace.Record{Session: id, Turn: turn, Seq: se.last, Event: e})
			se.mark(turn, e.Payload)
		}
		last = se.last
	})
	return last, err
}

// mark notes the beginning and the end of a turn.
func (se *session) mark(turn string, p trace.Payload) {
	if turn == "" || trace.Ephemeral(p) {
		return
	}
	i, known := se.open[turn]
	if !known {
		i = len(se.turns)
		se.open[turn] = i
		se.turns = append(se.turns, eventlog.TurnMark{Turn: turn, First: se.last})
	}
	if _, stop := p.(trace.Stop); stop && se.turns[i].Last == 0 {
		se.turns[i].Last = se.last
	}
}

// After implements eventlog.Store.
func (s *Store) After(ctx context.Context, id string, after uint64) iter.Seq2[trace.Record, error] {
	return s.read(ctx, id, after, 0, false)
}

// Recent implements eventlog.Store.
func (s *Store) Recent(id string, after uint64) (records []trace.Record, all bool) {
	records, err := s.records(id)
	return records[behind(records, after):], err == nil
}

func behind(records []trace.Record, after uint64) int {
	return sort.Search(len(records), func(i int) bool { return records[i].Seq > after })
}

// Durable implements eventlog.Store.
func (s *Store) Durable(ctx context.Context, id string, after, until uint64) iter.Seq2[trace.Record, error] {
	return s.read(ctx, id, after, until, true)
}

func (s *Store) read(ctx context.Context, id string, after, until uint64, durable bool) iter.Seq2[trace.Record, error] {
	return func(yield func(trace.Record, error) bool) {
		records, err := s.records(id)
		if err != nil {
			yield(trace.Record{}, err)
			return
		}
		for _, r := range records[behind(records, after):] {
			if until != 0 && r.Seq > until {
				return
			}
			if err := ctx.Err(); err != nil {
				yield(trace.Record{}, err)
				return
			}
			if durable && trace.Ephemeral(r.Payload) {
				continue
			}
			if !yield(r, nil) {
				return
			}
		}
	}
}

func (s *Store) records(id string) ([]trace.Record, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return nil, eventlog.ErrClosed
	}
	if se := s.sessions[id]; se != nil {
		return se.records, nil
	}
	return nil, nil
}

// Turns implements eventlog.Store.
func (s *Store) Turns(ctx context.Context, id string, before uint64, limit int) (turns []eventlog.TurnMark, err error) {
	err = s.whileOpen(ctx, s.mu.RLocker(), func() {
		if se := s.sessions[id]; se != nil {
			end := len(se.turns)
			if before != 0 {
				end = sort.Search(len(se.turns), func(i int) bool { return se.turns[i].First >= before })
			}
			if limit <= 0 {
				limit = end
			}
			turns = slices.Clone(se.turns[max(0, end-limit):end])
		}
	})
	return turns, err
}

// Messages implements eventlog.Store.
func (s *Store) Messages(ctx context.Context, id string) iter.Seq2[eventlog.MessageMark, error] {
	return func(yield func(eventlog.MessageMark, error) bool) {
		for r, err := range s.Durable(ctx, id, 0, 0) {
			if err != nil {
				yield(eventlog.MessageMark{}, err)
				return
			}
			if m, ok := eventlog.MarkOf(r); ok && !yield(m, nil) {
				return
			}
		}
	}
}

// Last implements eventlog.Store.
func (s *Store) Last(ctx context.Context, id string) (last uint64, err error) {
	err = s.whileOpen(ctx, s.mu.RLocker(), func() {
		if se := s.sessions[id]; se != nil {
			last = se.last
		}
	})
	return last, err
}

// Delete implements eventlog.Store.
func (s *Store) Delete(ctx context.Context, id string) error {
	return s.whileOpen(ctx, &s.mu, func() {
		if se := s.sessions[id]; se != nil {
			s.sessions[id] = &session{last: se.last, open: map[string]int{}}
		}
		delete(s.docs, id)
		for _, positions := range s.exports {
			delete(positions, id)
		}
	})
}

// Close implements eventlog.Store.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed, s.sessions, s.docs = true, nil, nil
	return nil
}
