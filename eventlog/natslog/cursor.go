package natslog

import (
	"context"
	"errors"
	"fmt"

	"github.com/tributary-dev/tributary/trace"
)

// cursor reads one lane of a session, from a mark on, up to a number.
type cursor struct {
	store        *Store
	session      *session
	kept         bool
	stream       string
	segments     []segment
	tail         []place
	after, until uint64

	getter *getter
	todo   []place // to be asked for
	asked  []place // to be taken
	pieces []byte  // of a record that is not complete yet
	want   int     // the next piece
	skip   uint64  // the first record of pieces of which one is lost
}

func (c *cursor) close() {
	if c.getter != nil {
		c.getter.close()
	}
}

// next returns some more records, or none at the end.
func (c *cursor) next(ctx context.Context) ([]trace.Record, error) {
	for {
		if err := c.fill(ctx); err != nil {
			return nil, err
		}
		if len(c.asked) == 0 {
			return nil, nil
		}
		p := c.asked[0]
		c.asked = c.asked[1:]
		body, err := c.getter.take(ctx)
		var records []trace.Record
		if err == nil {
			records, err = c.open(p, body)
			if err != nil {
				err = &lossError{fmt.Sprintf("records %d to %d can't be read: %v", p.first, p.last, err)}
			}
		} else if errors.Is(err, errGone) {
			err = &lossError{fmt.Sprintf("records %d to %d are not in the store any more", p.first, p.last)}
		}
		if err := c.forgive(ctx, p, err); err != nil {
			return nil, err
		}
		if records = c.within(records); len(records) > 0 {
			return records, nil
		}
	}
}

// fill asks for messages ahead.
func (c *cursor) fill(ctx context.Context) error {
	for {
		if len(c.todo) == 0 {
			more, err := c.places(ctx)
			if err != nil {
				return err
			}
			if c.todo = more; len(more) == 0 {
				return nil
			}
		}
		p := c.todo[0]
		if p.last <= c.after || p.first > p.last {
			c.todo = c.todo[1:]
			continue
		}
		if p.first > c.until {
			c.todo, c.segments, c.tail = nil, nil, nil
			return nil
		}
		if c.getter == nil {
			g, err := c.store.getter(c.stream)
			if err != nil {
				return err
			}
			c.getter = g
		}
		if !c.getter.room(p.size) {
			return nil
		}
		if err := c.getter.ask(p.at, p.size); err != nil {
			return err
		}
		c.asked = append(c.asked, p)
		c.todo = c.todo[1:]
	}
}

// places returns the next places of the lane, none at its end.
func (c *cursor) places(ctx context.Context) ([]place, error) {
	for len(c.segments) > 0 {
		g := c.segments[0]
		c.segments = c.segments[1:]
		if g.first > c.until {
			c.segments, c.tail = nil, nil
			return nil, nil
		}
		places, err := c.store.listed(ctx, c.stream, g.index)
		if isLoss(err) {
			err = c.forgive(ctx, place{at: g.index, first: g.first, last: g.last}, err)
		}
		if err != nil {
			return nil, err
		}
		if len(places) > 0 {
			return places, nil
		}
	}
	tail := c.tail
	c.tail = nil
	return tail, nil
}

// listed reads the places of an index message.
func (s *Store) listed(ctx context.Context, stream string, index uint64) ([]place, error) {
	m, err := s.at(ctx, stream, index)
	if errors.Is(err, errGone) {
		return nil, &lossError{"a part of its index is not in the store any more"}
	}
	if err != nil {
		return nil, err
	}
	_, places, err := decodeIndex(m.body)
	if err != nil {
		return nil, &lossError{err.Error()}
	}
	return places, nil
}

// open reads a message and joins pieces. It returns no records when more pieces
// are to come.
func (c *cursor) open(p place, body []byte) ([]trace.Record, error) {
	f, text, err := decodeFrame(body)
	if err != nil {
		return nil, err
	}
	if f.First != p.first || f.Last != p.last || f.Piece != p.piece || f.Of != p.of {
		return nil, fmt.Errorf("the message holds records %d to %d", f.First, f.Last)
	}
	if f.Of > 0 {
		if f.First == c.skip {
			return nil, nil
		}
		if f.Piece == 1 {
			c.pieces, c.want = nil, 1
		}
		if f.Piece != c.want {
			return nil, fmt.Errorf("piece %d is missing", c.want)
		}
		c.pieces = append(c.pieces, text...)
		c.want++
		if !f.complete() {
			return nil, nil
		}
		text, c.pieces = c.pieces, nil
	}
	return decodeRecords(c.session.id, f, text)
}

// forgive decides about a loss: provisional records that have reached their age
// are meant to go, and a session that is known to be damaged is read as far as
// it goes. Any other loss makes the session damaged and ends the read.
func (c *cursor) forgive(ctx context.Context, p place, err error) error {
	if !isLoss(err) {
		return err
	}
	c.pieces, c.want, c.skip = nil, 0, p.first
	if !c.kept {
		if first, err := c.store.firstKept(ctx, c.stream); err != nil || p.at < first {
			return err
		}
	}
	if c.session.deletedUpTo() >= p.last || c.store.isDamaged(c.session.id) {
		return nil
	}
	return c.store.damage(ctx, c.session.id, err)
}

// within leaves out what is not in the range that was asked for.
func (c *cursor) within(records []trace.Record) []trace.Record {
	for len(records) > 0 && records[0].Seq <= c.after {
		records = records[1:]
	}
	for n := len(records); n > 0 && records[n-1].Seq > c.until; n-- {
		records = records[:n-1]
	}
	if n := len(records); n > 0 {
		c.after = records[n-1].Seq // numbers never go back, whatever is stored
	}
	return records
}
