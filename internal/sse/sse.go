// Package sse reads server-sent events. Memory is bounded: an event beyond the
// limit is skipped and reported, and reading may go on.
package sse

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
)

// DefaultMax is the limit of an event in bytes where no other limit is given.
const DefaultMax = 64 << 20

// patience is how often the limit an event may exceed before the stream counts as broken.
const patience = 3

// Event is one event of a stream.
type Event struct {
	// Name is the event's type, or "".
	Name string
	// ID is the newest id of the stream, or "".
	ID   string
	Data []byte
}

// TooLargeError says that an event was skipped. Max bounds each of its lines and
// their sum.
type TooLargeError struct{ Max int }

// Error implements error.
func (e TooLargeError) Error() string {
	return fmt.Sprintf("an event of the stream is larger than %d bytes and was skipped", e.Max)
}

// Reader reads events. Lines end with LF, CRLF or CR, as in the HTML standard
// ("Server-sent events"). A Reader is for one goroutine.
type Reader struct {
	in      *bufio.Reader
	max     int
	id      string
	begun   bool
	afterCR bool // the last line ended with a CR, and an LF may still belong to its end
}

// NewReader returns a Reader with a limit for each event; DefaultMax if limit is 0.
func NewReader(r io.Reader, limit int) *Reader {
	if limit <= 0 {
		limit = DefaultMax
	}
	return &Reader{in: bufio.NewReader(r), max: limit}
}

// All yields the events until the stream ends. An error other than TooLargeError is
// the last. A clean end yields no error.
func (r *Reader) All() iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		for {
			e, err := r.Next()
			if errors.Is(err, io.EOF) || !yield(e, err) {
				return
			}
			if _, skipped := errors.AsType[TooLargeError](err); err != nil && !skipped {
				return
			}
		}
	}
}

// errEndless is the end of a stream that does not come to the end of an event.
var errEndless = errors.New("the stream is broken: an event does not end")

// Next returns the next event that has data. It returns io.EOF after the last. A stream
// that ends within an event gives that event together with io.ErrUnexpectedEOF.
func (r *Reader) Next() (Event, error) {
	var (
		e    Event
		some bool
		size int
	)
	for {
		line, long, err := r.line(r.max - size)
		if err != nil && !errors.Is(err, io.EOF) {
			return Event{}, err
		}
		size += len(line)
		if long {
			if err := r.skip(); err != nil {
				return Event{}, err
			}
			return Event{}, TooLargeError{Max: r.max}
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) {
		case "event":
			e.Name = string(value)
		case "id":
			r.id = string(value)
		case "data":
			if some {
				e.Data = append(e.Data, '\n')
			}
			e.Data, some = append(e.Data, value...), true
		}
		e.ID = r.id
		switch {
		case err != nil && some:
			return e, io.ErrUnexpectedEOF
		case err != nil:
			return Event{}, io.EOF
		case len(line) > 0:
		case some:
			return e, nil
		default:
			e, size = Event{}, 0
		}
	}
}

// line returns a line without its end. io.EOF may come together with the last line. A
// line beyond the limit is read to its end and reported as long, unless it is endless.
func (r *Reader) line(limit int) (line []byte, long bool, err error) {
	for size := 0; ; {
		part, ended, err := r.piece()
		if size += len(part); size > patience*r.max {
			return nil, true, errEndless
		}
		if long = long || len(line)+len(part) > limit; !long {
			line = append(line, part...)
		}
		if long {
			line = nil
		}
		if !ended && err == nil {
			continue
		}
		if !r.begun {
			line = bytes.TrimPrefix(line, []byte("\uFEFF"))
			r.begun = true
		}
		return line, long, err
	}
}

// piece returns what is there of a line, without the line's end. A CR ends a line at once: an LF
// that comes later belongs to that end.
func (r *Reader) piece() (part []byte, ended bool, err error) {
	if _, err := r.in.Peek(1); err != nil {
		return nil, false, err
	}
	part, _ = r.in.Peek(r.in.Buffered()) //nolint:errcheck // that many bytes are there
	if r.afterCR && part[0] == '\n' {
		r.afterCR = false
		_, err = r.in.Discard(1)
		return nil, false, err
	}
	r.afterCR = false
	end := bytes.IndexAny(part, "\r\n")
	if end < 0 {
		part = bytes.Clone(part)
		_, err = r.in.Discard(len(part))
		return part, false, err
	}
	r.afterCR = part[end] == '\r'
	part = bytes.Clone(part[:end])
	_, err = r.in.Discard(end + 1)
	return part, true, err
}

// skip reads to the end of an event. The next read finds a stream that has failed.
func (r *Reader) skip() error {
	for size := 0; size <= patience*r.max; {
		line, long, err := r.line(r.max)
		if errors.Is(err, errEndless) {
			return err
		}
		if err != nil || len(line) == 0 && !long {
			return nil //nolint:nilerr // the next read finds it
		}
		if size += len(line) + 1; long {
			size += r.max
		}
	}
	return errEndless
}
