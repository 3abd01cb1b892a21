package natslog

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"sort"

	"github.com/tributary-dev/tributary/eventlog"
)

// Messages implements eventlog.Store. The index messages hold the marks, from the
// newest back to the first that does not: an older version wrote that one, or it
// is lost. What lies before is read from the records, which are the truth.
func (s *Store) Messages(ctx context.Context, id string) iter.Seq2[eventlog.MessageMark, error] {
	return func(yield func(eventlog.MessageMark, error) bool) {
		if err := s.messagesTo(ctx, id, yield); err != nil {
			yield(eventlog.MessageMark{}, s.failure("list the messages of session "+id, err))
		}
	}
}

func (s *Store) messagesTo(ctx context.Context, id string, yield func(eventlog.MessageMark, error) bool) error {
	se, err := s.acquire(ctx, id)
	if err != nil {
		return err
	}
	defer s.release(se)
	o := s.outlineOf(se)
	for o.index != 0 {
		if err := o.back(ctx); err != nil {
			return err
		}
	}
	seen := uint64(0)
	if o.unread > 0 {
		for r, err := range s.Wholes(ctx, id, 0, o.unread) {
			if err != nil {
				return err
			}
			seen = r.Seq
			if m, ok := eventlog.MarkOf(r); ok && !yield(m, nil) {
				return nil
			}
		}
	}
	for _, marks := range slices.Backward(o.runs) {
		for _, m := range marks {
			if m.Seq > seen && !yield(m, nil) {
				return nil
			}
		}
	}
	return nil
}

// outline gathers what is known of a session's messages without its records.
type outline struct {
	store *Store
	lane  string // its stream
	index uint64 // the index message to look at next, 0: none
	last  uint64 // of the session
	// unread is the number of the record up to which the records have to be read.
	unread uint64
	runs   [][]eventlog.MessageMark // newest first
}

// outlineOf begins with the tail.
func (s *Store) outlineOf(se *session) outline {
	damaged := s.isDamaged(se.id)
	se.mu.Lock()
	defer se.mu.Unlock()
	l := &se.wholes
	o := outline{store: s, lane: l.stream, index: l.index, last: se.last}
	if damaged || slices.ContainsFunc(l.tail, func(p place) bool { return !p.told }) {
		o.index, o.unread = 0, se.last // what is lost is in no list of messages either
		return o
	}
	o.runs = append(o.runs, l.said)
	return o
}

// back goes one index message further back.
func (o *outline) back(ctx context.Context) error {
	m, err := o.store.at(ctx, o.lane, o.index)
	o.index = 0
	if errors.Is(err, errGone) {
		o.unread = o.last // the read finds out what that means
		return nil
	}
	if err != nil {
		return err
	}
	var i struct { // of an indexMessage only what is needed: there may be many
		Before  uint64 `json:"before"`
		Last    uint64 `json:"last"`
		Deleted bool   `json:"deleted"`
		Said    *said  `json:"said"`
	}
	if err := json.Unmarshal(m.body, &i); err != nil {
		o.unread = o.last
		return nil //nolint:nilerr // as above
	}
	if i.Deleted {
		return nil
	}
	marks, told := i.Said.marks()
	if !told {
		o.unread = i.Last
		return nil
	}
	o.runs = append(o.runs, marks)
	o.index = i.Before
	return nil
}

// upToMessage counts the marks of messages up to a record.
func upToMessage(marks []eventlog.MessageMark, last uint64) int {
	return sort.Search(len(marks), func(i int) bool { return marks[i].Seq > last })
}
