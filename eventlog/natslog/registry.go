package natslog

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/tributary-dev/tributary/eventlog"
)

// docHead is the first line of a value in the registry; the document follows.
type docHead struct {
	Session string `json:"session"`
}

// Put implements eventlog.Registry.
func (s *Store) Put(ctx context.Context, id string, doc []byte) error {
	done, err := s.begin()
	if err != nil {
		return err
	}
	defer done()
	if err := s.lease.check(); err != nil {
		return err
	}
	if err := s.revive(); err != nil {
		return s.failure("store the document of session "+id, err)
	}
	head, err := json.Marshal(docHead{id})
	if err != nil {
		return err
	}
	value := append(append(head, '\n'), doc...)
	if limit := s.maxPayload() - frameRoom; len(value) > limit {
		return fmt.Errorf("store the document of session %s: it has %d bytes, NATS takes %d", id, len(value), limit)
	}
	if _, err = s.docs.Put(ctx, key(id), value); err != nil && ctx.Err() == nil {
		s.suspect(err)
	}
	return s.failure("store the document of session "+id, err)
}

// Get implements eventlog.Registry.
func (s *Store) Get(ctx context.Context, id string) ([]byte, error) {
	done, err := s.begin()
	if err != nil {
		return nil, err
	}
	defer done()
	e, err := s.docs.Get(ctx, key(id))
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return nil, eventlog.ErrNoSession
	}
	if err != nil {
		return nil, s.failure("read the document of session "+id, err)
	}
	_, doc, err := splitDoc(e.Value())
	return doc, s.failure("read the document of session "+id, err)
}

func splitDoc(value []byte) (session string, doc []byte, err error) {
	head, doc, ok := bytes.Cut(value, []byte("\n"))
	if !ok {
		return "", nil, errors.New("a value of the registry has no first line")
	}
	var h docHead
	if err := json.Unmarshal(head, &h); err != nil {
		return "", nil, fmt.Errorf("the first line of a value of the registry: %w", err)
	}
	return h.Session, doc, nil
}

// List implements eventlog.Registry.
func (s *Store) List(ctx context.Context) iter.Seq2[eventlog.Entry, error] {
	return func(yield func(eventlog.Entry, error) bool) {
		if err := s.listTo(ctx, yield); err != nil {
			yield(eventlog.Entry{}, s.failure("list the sessions", err))
		}
	}
}

func (s *Store) listTo(ctx context.Context, yield func(eventlog.Entry, error) bool) error {
	if s.isClosed() {
		return eventlog.ErrClosed
	}
	return each(ctx, s.docs, func(e jetstream.KeyValueEntry) (bool, error) {
		select {
		case <-s.closing:
			return false, errClosing
		default:
		}
		session, doc, err := splitDoc(e.Value())
		if err != nil {
			return false, err
		}
		return yield(eventlog.Entry{Session: session, Doc: doc, Updated: e.Created().UTC()}, nil), nil
	})
}

// each calls do for every value of a bucket, until it returns false or an error.
func each(ctx context.Context, kv jetstream.KeyValue, do func(jetstream.KeyValueEntry) (bool, error)) error {
	w, err := kv.WatchAll(ctx, jetstream.IgnoreDeletes())
	if err != nil {
		return err
	}
	defer func() { _ = w.Stop() }()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case e, open := <-w.Updates():
			if !open {
				return errors.New("NATS ended the list early")
			}
			if e == nil {
				return nil // that was all there is now
			}
			if more, err := do(e); err != nil || !more {
				return err
			}
		}
	}
}

// Remove implements eventlog.Registry.
func (s *Store) Remove(ctx context.Context, id string) error {
	done, err := s.begin()
	if err != nil {
		return err
	}
	defer done()
	if err := s.lease.check(); err != nil {
		return err
	}
	return s.failure("remove the document of session "+id, s.docs.Purge(ctx, key(id)))
}
