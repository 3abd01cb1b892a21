package natslog

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"
)

// restore finds out where the session stands.
func (s *Store) restore(ctx context.Context, se *session) error {
	noted, err := s.notes.get(ctx, se.key)
	if err != nil {
		return err
	}
	for _, l := range []*lane{&se.wholes, &se.deltas} {
		if err := s.restoreLane(ctx, se, l); err != nil {
			return err
		}
	}
	switch {
	case noted.At <= se.wholes.prev:
	case noted.At <= se.erased:
		// A deletion was cut short before it came to the note.
		if err := s.notes.remove(ctx, se.key); err != nil {
			return err
		}
	default:
		s.lost(ctx, se, fmt.Sprintf("the log ends before record %d, which was acknowledged", noted.Last))
	}
	se.last = max(se.last, noted.Last)
	return nil
}

func (s *Store) restoreLane(ctx context.Context, se *session, l *lane) error {
	m, err := s.last(ctx, l.stream, l.subject+".x")
	if errors.Is(err, errGone) {
		return s.scan(ctx, se, l, 1)
	}
	if err != nil {
		return err
	}
	i, places, err := decodeIndex(m.body)
	if err != nil {
		return err
	}
	l.index, l.count = m.at, i.Count
	se.last = max(se.last, i.Last)
	if i.Deleted {
		se.deleted, se.erased = i.Last, i.Prev
		if err := s.finishDelete(ctx, l, i.Prev); err != nil {
			return err
		}
		return s.scan(ctx, se, l, i.Prev+1)
	}
	l.prev = i.Prev
	l.prepend(m.at, i, places)
	for _, t := range i.Open {
		se.open[t.Turn] = t.Seq
	}
	se.remember(i.Begin, i.End)
	return s.scan(ctx, se, l, i.Prev+1)
}

// finishDelete removes what a deletion that was cut short has left. It does so at
// once, which may hold up others for some milliseconds.
func (s *Store) finishDelete(ctx context.Context, l *lane, upTo uint64) error {
	m, err := s.next(ctx, l.stream, l.subject, 1)
	if errors.Is(err, errGone) || err == nil && m.at > upTo {
		return nil
	}
	if err != nil {
		return err
	}
	st, err := s.js.Stream(ctx, l.stream)
	if err != nil {
		return err
	}
	return st.Purge(ctx, jetstream.WithPurgeSubject(l.subject), jetstream.WithPurgeSequence(upTo+1))
}

// scan looks at the messages that no index lists yet, one after another.
func (s *Store) scan(ctx context.Context, se *session, l *lane, from uint64) error {
	end, err := s.last(ctx, l.stream, l.subject)
	if err != nil && !errors.Is(err, errGone) {
		return err
	}
	if end.at < from {
		if l.kept {
			if end.at < l.prev {
				s.lost(ctx, se, "the last messages of its log are not there")
			}
			l.prev = end.at // 0 if there is none: what the server takes for the last one
		}
		return nil
	}
	var pieces []place
	step := uint64(1)
	for at := from; at <= end.at; {
		m, err := s.next(ctx, l.stream, l.subject, at)
		if errors.Is(err, errGone) {
			// What is here is not sound, or has reached its age just now. The
			// steps grow, for the place where it goes on may be far.
			at, step = at+step, 2*step
			continue
		}
		if err != nil {
			return err
		}
		at, step = m.at+1, 1
		f, _, err := decodeFrame(m.body)
		if err := s.linked(ctx, se, l, f, err); err != nil {
			return err
		}
		l.prev = m.at
		l.count++
		se.last = max(se.last, f.Last)
		if f.First == 0 || f.First <= se.deleted {
			continue
		}
		if f.Piece <= 1 {
			pieces = nil // of an append that was never acknowledged
		}
		pieces = append(pieces, place{at: m.at, first: f.First, last: f.Last, size: len(m.body), piece: f.Piece, of: f.Of, count: l.count, told: f.told()})
		if f.complete() {
			l.tail = append(l.tail, pieces...)
			l.begin, l.end = append(l.begin, f.Begin...), append(l.end, f.End...)
			l.say(f)
			se.turned(f.Begin, f.End)
			pieces = nil
		}
	}
	if l.kept && l.prev < end.at {
		s.lost(ctx, se, "the last messages of its log can't be read")
		l.prev = end.at
	}
	return nil
}

// linked checks that a message follows the one before it.
func (s *Store) linked(ctx context.Context, se *session, l *lane, f frame, unreadable error) error {
	switch {
	case unreadable != nil:
		s.lost(ctx, se, unreadable.Error())
		return nil
	case f.Prev == l.prev:
		return nil
	case !l.kept:
		first, err := s.firstKept(ctx, l.stream)
		if err != nil || f.Prev < first {
			return err
		}
	}
	s.lost(ctx, se, fmt.Sprintf("something is missing before record %d", f.First))
	return nil
}

// lost makes the session damaged without failing what is being done.
func (s *Store) lost(ctx context.Context, se *session, what string) {
	if !s.isDamaged(se.id) {
		_ = s.damage(ctx, se.id, &lossError{what})
	}
}
