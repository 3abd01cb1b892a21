package natslog

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// Delete implements eventlog.Store. First an index message says that all records
// so far are deleted: from then on nobody sees them, whatever happens to this
// process. Then they are removed one message at a time, which takes about as long
// as writing them did and holds up nobody else; purging a subject at once would
// hold up the whole stream. Appends to the session wait for the end.
func (s *Store) Delete(ctx context.Context, id string) error {
	done, err := s.begin()
	if err != nil {
		return err
	}
	defer done()
	for {
		se, err := s.acquire(ctx, id)
		if err != nil {
			return err
		}
		again, err := s.deleteFrom(ctx, se)
		s.release(se)
		if again {
			continue
		}
		return s.failure("delete session "+id, err)
	}
}

func (s *Store) deleteFrom(ctx context.Context, se *session) (again bool, err error) {
	if err := s.enter(ctx, se.appending); err != nil {
		return false, err
	}
	defer func() { <-se.appending }()
	if se.broken {
		return true, nil
	}
	if se.last == se.deleted {
		return false, nil
	}
	if err := s.lease.check(); err != nil {
		return false, err
	}
	// Where everything is has to be known before it is forgotten.
	var doomed [][]uint64
	lanes := []*lane{&se.wholes, &se.deltas}
	for _, l := range lanes {
		places, err := s.everything(ctx, se, l)
		if err != nil {
			return false, err
		}
		doomed = append(doomed, places)
	}
	m := indexMessage{Prev: se.wholes.prev, Count: 0, Last: se.last, Deleted: true}
	body, err := m.encode()
	if err != nil {
		return false, err
	}
	at, err := s.send(ctx, se.wholes.subject+".x", body)
	if err != nil {
		return false, err
	}
	se.mu.Lock()
	se.deleted = se.last
	for _, l := range lanes {
		l.segments, l.tail, l.begin, l.end, l.said, l.older, l.count = nil, nil, nil, nil, nil, 0, 0
	}
	se.wholes.index, se.deltas.index = at, 0
	se.turns = nil
	clear(se.ends)
	clear(se.open)
	se.mu.Unlock()
	s.undamage(se.id)
	if err := s.notes.remove(ctx, se.key); err != nil {
		return false, err
	}
	for i, l := range lanes {
		if err := s.erase(ctx, l.stream, doomed[i]); err != nil {
			// They are out of sight. Opening the session anew purges them.
			se.broken = true
			s.forget(se)
			return false, err
		}
	}
	se.mu.Lock()
	se.wholes.prev, se.deltas.prev = 0, 0
	se.mu.Unlock()
	return false, nil
}

// everything lists the places of the lane's messages and of its index.
func (s *Store) everything(ctx context.Context, se *session, l *lane) ([]uint64, error) {
	var segments []segment
	var tail []place
	for older := true; older; {
		se.mu.Lock()
		segments, tail = l.segments, l.tail
		older = l.older != 0
		se.mu.Unlock()
		if older {
			if err := s.loadOlder(ctx, se, l); err != nil && !isDamage(err) {
				return nil, err
			}
		}
	}
	var at []uint64
	for _, g := range segments {
		places, err := s.listed(ctx, l.stream, g.index)
		if err != nil && !isLoss(err) {
			return nil, err
		}
		for _, p := range places {
			at = append(at, p.at)
		}
		at = append(at, g.index)
	}
	for _, p := range tail {
		at = append(at, p.at)
	}
	return at, nil
}

// Erasing goes in small steps, 8,000 messages a second at most, so that appends
// to other sessions get their turn in between.
const (
	eraseAtOnce = 8
	erasePause  = time.Millisecond
)

func (s *Store) erase(ctx context.Context, stream string, places []uint64) error {
	if len(places) == 0 {
		return nil
	}
	st, err := s.js.Stream(ctx, stream)
	if err != nil {
		return err
	}
	pause := time.NewTicker(erasePause)
	defer pause.Stop()
	for i, at := range places {
		if i%eraseAtOnce == eraseAtOnce-1 {
			select {
			case <-s.closing:
				return errClosing
			case <-pause.C:
			}
		}
		var api *jetstream.APIError
		if err := st.DeleteMsg(ctx, at); err != nil && !errors.As(err, &api) {
			return fmt.Errorf("remove its messages: %w", err) // an API error: gone already
		}
	}
	return nil
}
