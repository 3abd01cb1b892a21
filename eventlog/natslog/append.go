package natslog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/trace"
)

// batch is records of one class that go into one message.
type batch struct {
	frame frame
	kept  bool
	text  []byte
	said  []eventlog.MessageMark
}

// Append implements eventlog.Store. Its context is looked at before it begins:
// an append that is under way is not cut short.
func (s *Store) Append(ctx context.Context, id, turn string, events []trace.Event) (uint64, error) {
	done, err := s.begin()
	if err != nil {
		return 0, err
	}
	defer done()
	if err := s.revive(); err != nil {
		return 0, s.failure("append to session "+id, err)
	}
	for {
		se, err := s.acquire(ctx, id)
		if err != nil {
			return 0, err
		}
		last, again, err := s.appendTo(ctx, se, turn, events)
		s.release(se)
		if again {
			continue
		}
		if err != nil {
			s.suspect(err)
			return 0, s.failure("append to session "+id, err)
		}
		return last, nil
	}
}

func (s *Store) appendTo(ctx context.Context, se *session, turn string, events []trace.Event) (last uint64, again bool, err error) {
	if err := s.enter(ctx, se.appending); err != nil {
		return 0, false, err
	}
	defer func() { <-se.appending }()
	if se.broken {
		return 0, true, nil
	}
	if len(events) == 0 {
		return se.last, false, nil
	}
	if err := s.lease.check(); err != nil {
		return 0, false, err
	}
	batches, begin, end, err := se.batches(turn, events)
	if err != nil {
		return 0, false, err
	}
	last = se.last + uint64(len(events))
	for _, b := range batches {
		l := &se.deltas
		if b.kept {
			l = &se.wholes
		}
		frames, pieces := b.frame.split(b.text, s.maxPayload())
		for i, f := range frames {
			if err := s.publish(ctx, se, l, f, pieces[i]); err != nil {
				// Nobody knows what landed. These numbers are never used again.
				se.broken = true
				s.forget(se)
				s.notes.touch(se, last)
				return 0, false, err
			}
		}
	}
	se.mu.Lock()
	se.last = last
	se.turned(begin, end)
	se.mu.Unlock()
	se.text = spare(batches[0].text)
	s.notes.touch(se, last)
	s.list(ctx, se, &se.wholes)
	s.list(ctx, se, &se.deltas)
	return last, false, nil
}

// spare is a buffer that is kept for the next append, unless it is large: a session
// streams dozens of words a second, and the client of NATS copies what it sends.
func spare(buffer []byte) []byte {
	const most = 2 << 10
	if cap(buffer) > most {
		return nil
	}
	return buffer[:0]
}

// batches numbers the events and puts them into as few messages as keep their
// order. All is encoded before anything is sent: a payload that can't be encoded
// leaves no half append behind.
func (se *session) batches(turn string, events []trace.Event) (batches []batch, begin, end []mark, err error) {
	seq := se.last + 1
	if turn != "" && !se.begun(turn) {
		begin = []mark{{turn, seq}}
		if trace.Provisional(events[0].Payload) {
			// The beginning of a turn is kept, even if its first record isn't.
			batches = append(batches, batch{frame: frame{First: seq, Last: seq - 1, Begin: begin}, kept: true})
		}
	}
	for i, e := range events {
		kept := !trace.Provisional(e.Payload)
		n := len(batches)
		if n == 0 || batches[n-1].kept != kept || len(batches[n-1].text) >= packed {
			var text []byte
			text, se.text = se.text, nil
			batches = append(batches, batch{frame: frame{First: seq}, kept: kept, text: slices.Grow(text, room(turn, events[i:]))})
			n++
		}
		b := &batches[n-1]
		before := len(b.text)
		r := trace.Record{Session: se.id, Turn: turn, Seq: seq, Event: e}
		b.text, err = r.AppendJSON(b.text)
		if err != nil {
			return nil, nil, nil, err
		}
		b.text = append(b.text, '\n')
		if size := len(b.text) - before; size > packed && before > 0 {
			// A large one goes alone.
			large := batch{frame: frame{First: seq}, kept: kept, text: append([]byte(nil), b.text[before:]...)}
			b.text = b.text[:before]
			batches = append(batches, large)
			b = &batches[n]
		}
		b.frame.Last = seq
		if m, ok := eventlog.MarkOf(r); ok {
			b.said = append(b.said, m)
		}
		if i == 0 && kept && begin != nil {
			b.frame.Begin = begin
		}
		if _, stop := e.Payload.(trace.Stop); stop && turn != "" && end == nil {
			end = []mark{{turn, seq}}
			b.frame.End = end
		}
		seq++
	}
	for i := range batches {
		if b := &batches[i]; b.kept {
			b.frame.Said = fitting(b.said, saidRoom)
		}
	}
	return batches, begin, end, nil
}

// room estimates what the records of a message take that begins with the first
// of the events, so that its text need not be copied as it grows.
func room(turn string, events []trace.Event) int {
	kept, n := !trace.Provisional(events[0].Payload), 0
	for _, e := range events {
		if n >= packed || kept == trace.Provisional(e.Payload) {
			break
		}
		n += trace.Weigh(e.Payload) + len(turn) + len(e.ID) + len(e.Parent)
	}
	return n
}

// publish sends one message and waits until it is stored. For wholes the server
// checks that nobody else has written to the session.
func (s *Store) publish(ctx context.Context, se *session, l *lane, f frame, text []byte) error {
	f.Prev = l.prev
	body, err := f.appendTo(se.body[:0], text)
	if err != nil {
		return err
	}
	se.body = spare(body)
	var options []jetstream.PublishOpt
	if l.kept && !s.isDamaged(se.id) {
		options = append(options, jetstream.WithExpectLastSequencePerSubject(l.prev))
	}
	at, err := s.send(ctx, l.subject, body, options...)
	if err != nil {
		return err
	}
	se.mu.Lock()
	defer se.mu.Unlock()
	l.add(place{at: at, first: f.First, last: f.Last, size: len(body), piece: f.Piece, of: f.Of, told: f.told()}, f)
	return nil
}

func (s *Store) send(ctx context.Context, subject string, body []byte, options ...jetstream.PublishOpt) (uint64, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), ackTimeout)
	defer cancel()
	ack, err := s.js.PublishMsg(ctx, &nats.Msg{Subject: subject, Data: body}, options...)
	var api *jetstream.APIError
	switch {
	case err == nil:
		return ack.Sequence, nil
	case errors.As(err, &api) && api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence:
		return 0, fmt.Errorf("somebody else has written to it: is a second gateway using this NATS account? (%w)", err)
	default:
		return 0, fmt.Errorf("NATS did not store it: %w", err)
	}
}

// list writes index messages for a tail that has grown long. That it fails does
// no harm: the tail is in memory, and opening the session finds it by searching.
func (s *Store) list(ctx context.Context, se *session, l *lane) {
	limit := segmentLimit(s.maxPayload())
	for len(l.tail) >= limit {
		run := l.tail[:limit]
		m := indexMessage{Before: l.index, Prev: run[limit-1].at, Count: run[limit-1].count, Last: run[limit-1].last}
		for _, p := range run {
			m.Places = append(m.Places, p.row())
		}
		begin, end := upTo(l.begin, m.Last), upTo(l.end, m.Last)
		m.Begin, m.End = l.begin[:begin], l.end[:end]
		if l.kept {
			for turn, seq := range se.open {
				m.Open = append(m.Open, mark{turn, seq})
			}
		}
		told := upToMessage(l.said, m.Last)
		if !slices.ContainsFunc(run, func(p place) bool { return !p.told }) {
			m.Said = fitting(l.said[:told], s.maxPayload()/2)
		}
		body, err := m.encode()
		var at uint64
		if err == nil {
			at, err = s.send(ctx, l.subject+".x", body)
		}
		if err != nil {
			s.opts.Logger.Warn("index messages of a session: the next append tries again", "session", se.id, "error", err)
			return
		}
		se.mu.Lock()
		l.indexed(limit, at)
		l.begin, l.end, l.said = l.begin[begin:], l.end[end:], l.said[told:]
		if dropped := l.trim(); l.kept {
			se.trimmed(dropped)
		}
		se.mu.Unlock()
	}
}

// upTo counts the marks that belong to messages whose last record is the given
// one. The next number may belong to them too: the beginning of a turn whose first
// record is provisional. Marks that are found twice do no harm.
func upTo(marks []mark, last uint64) int {
	return sort.Search(len(marks), func(i int) bool { return marks[i].Seq > last+1 })
}
