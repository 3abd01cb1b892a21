package memlog

import (
	"bytes"
	"cmp"
	"context"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/tributary-dev/tributary/eventlog"
)

// Put implements eventlog.Registry.
func (s *Store) Put(ctx context.Context, e eventlog.Entry) error {
	_, err := s.AppendWith(ctx, e, "", nil)
	return err
}

// put is Put for a caller who holds the lock.
func (s *Store) put(e eventlog.Entry) {
	e.Doc, e.Members = bytes.Clone(e.Doc), maps.Clone(e.Members)
	e.CreatedAt, e.Updated = e.CreatedAt.Round(0).UTC(), e.Updated.Round(0).UTC().Truncate(time.Microsecond)
	s.docs[e.Session] = e
}

// Count implements eventlog.Registry.
func (s *Store) Count(ctx context.Context) (int, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return 0, eventlog.ErrClosed
	}
	return len(s.docs), ctx.Err()
}

// Get implements eventlog.Registry.
func (s *Store) Get(ctx context.Context, id string) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return nil, eventlog.ErrClosed
	}
	e, ok := s.docs[id]
	if !ok {
		return nil, eventlog.ErrNoSession
	}
	return bytes.Clone(e.Doc), nil
}

// List implements eventlog.Registry. It is a scan.
func (s *Store) List(ctx context.Context, q eventlog.Query) iter.Seq2[eventlog.Entry, error] {
	return func(yield func(eventlog.Entry, error) bool) {
		entries, err := s.entries(q)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			yield(eventlog.Entry{}, err)
			return
		}
		for _, e := range entries {
			e.Doc = bytes.Clone(e.Doc)
			if !yield(e, nil) {
				return
			}
		}
	}
}

// Damage implements eventlog.Registry.
func (s *Store) Damage() eventlog.Damage { return eventlog.Damage{} }

func (s *Store) entries(q eventlog.Query) ([]eventlog.Entry, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return nil, eventlog.ErrClosed
	}
	var entries []eventlog.Entry
	for _, e := range s.docs {
		_, member := e.Members[q.Person]
		if (q.Person == "" || member || e.CreatedBy == q.Person) && (e.Open || !q.Open) && (q.Before.IsZero() || e.Updated.Before(q.Before)) {
			entries = append(entries, e)
		}
	}
	slices.SortFunc(entries, func(a, b eventlog.Entry) int {
		return cmp.Or(b.Updated.Compare(a.Updated), cmp.Compare(b.Session, a.Session))
	})
	if q.Limit > 0 && len(entries) > q.Limit {
		entries = entries[:q.Limit]
	}
	return entries, nil
}

// Remove implements eventlog.Registry.
func (s *Store) Remove(ctx context.Context, id string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return eventlog.ErrClosed
	}
	delete(s.docs, id)
	return nil
}
