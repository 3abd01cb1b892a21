package memlog

import (
	"bytes"
	"cmp"
	"container/heap"
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

// put is Put for a caller who holds the lock. The newest entry stays.
func (s *Store) put(e eventlog.Entry) {
	e.Doc, e.Members = bytes.Clone(e.Doc), maps.Clone(e.Members)
	e.CreatedAt, e.Updated = e.CreatedAt.Round(0).UTC(), e.Updated.Round(0).UTC().Truncate(time.Microsecond)
	if before := s.docs[e.Session]; before == nil || !e.Updated.Before(before.Updated) {
		s.docs[e.Session] = &e
	}
}

// Count implements eventlog.Registry.
func (s *Store) Count(ctx context.Context) (n int, err error) {
	err = s.whileOpen(ctx, s.mu.RLocker(), func() { n = len(s.docs) })
	return n, err
}

// Get implements eventlog.Registry.
func (s *Store) Get(ctx context.Context, id string) (doc []byte, err error) {
	known := false
	err = s.whileOpen(ctx, s.mu.RLocker(), func() {
		if e := s.docs[id]; e != nil {
			doc, known = bytes.Clone(e.Doc), true
		}
	})
	if err == nil && !known {
		err = eventlog.ErrNoSession
	}
	return doc, err
}

// List implements eventlog.Registry. A list is a scan, and orders only what its reader takes.
func (s *Store) List(ctx context.Context, q eventlog.Query) iter.Seq2[eventlog.Entry, error] {
	return func(yield func(eventlog.Entry, error) bool) {
		var entries newestFirst
		err := s.whileOpen(ctx, s.mu.RLocker(), func() {
			for _, e := range s.docs {
				if chosen(q, e) && (len(q.Words) == 0 || s.has(e, q.Words)) {
					entries = append(entries, e)
				}
			}
		})
		if err != nil {
			yield(eventlog.Entry{}, err)
			return
		}
		heap.Init(&entries)
		for n := 0; len(entries) > 0 && (q.Limit <= 0 || n < q.Limit); n++ {
			e := *heap.Pop(&entries).(*eventlog.Entry) //nolint:forcetypeassert // it has entries only
			e.Doc = bytes.Clone(e.Doc)
			if !yield(e, nil) {
				return
			}
		}
	}
}

// newestFirst is a heap of entries, the last changed on top.
type newestFirst []*eventlog.Entry

func (n newestFirst) Len() int      { return len(n) }
func (n newestFirst) Swap(i, j int) { n[i], n[j] = n[j], n[i] }
func (n newestFirst) Less(i, j int) bool {
	return cmp.Or(n[j].Updated.Compare(n[i].Updated), cmp.Compare(n[j].Session, n[i].Session)) < 0
}
func (n *newestFirst) Push(e any) { *n = append(*n, e.(*eventlog.Entry)) } //nolint:forcetypeassert // as above
func (n *newestFirst) Pop() any {
	last := len(*n) - 1
	e := (*n)[last]
	*n = (*n)[:last]
	return e
}

// Damage implements eventlog.Registry.
func (s *Store) Damage() eventlog.Damage { return eventlog.Damage{} }

// chosen reports whether the query asks for the entry.
func chosen(q eventlog.Query, e *eventlog.Entry) bool {
	_, member := e.Members[q.Person]
	return (q.Person == "" || member || e.CreatedBy == q.Person) && (q.Before.IsZero() || e.Updated.Before(q.Before)) &&
		(q.Agent == "" || e.Agent == q.Agent) && (len(q.Phases) == 0 || slices.Contains(q.Phases, e.Phase)) && (q.Archived == nil || e.Archived == *q.Archived)
}
