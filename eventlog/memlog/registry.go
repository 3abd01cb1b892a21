package memlog

import (
	"bytes"
	"context"
	"iter"
	"time"

	"github.com/tributary-dev/tributary/eventlog"
)

// Put implements eventlog.Registry.
func (s *Store) Put(ctx context.Context, id string, doc []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return eventlog.ErrClosed
	}
	s.docs[id] = eventlog.Entry{Session: id, Doc: bytes.Clone(doc), Updated: time.Now().Round(0).UTC()}
	return nil
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

// List implements eventlog.Registry.
func (s *Store) List(ctx context.Context) iter.Seq2[eventlog.Entry, error] {
	return func(yield func(eventlog.Entry, error) bool) {
		entries, err := s.entries()
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

func (s *Store) entries() ([]eventlog.Entry, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return nil, eventlog.ErrClosed
	}
	entries := make([]eventlog.Entry, 0, len(s.docs))
	for _, e := range s.docs {
		entries = append(entries, e)
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
