package trace

import (
	"bytes"
	"strconv"
	"time"
	"unicode/utf8"
)

// readOwn reads a record as AppendJSON writes it: the same keys in the same
// order, strings without escapes, a kind that is known. Nearly every record that
// is ever read is one, and costs a quarter of what encoding/json takes. It leaves
// alone whatever differs by a byte; then ok is false and nothing has changed. A
// session and a turn that r holds already are kept rather than copied.
func (r *Record) readOwn(data []byte) (ok bool) {
	s := scan{rest: data, ok: true}
	s.skip(`{"v":1,"session":"`)
	session := s.text()
	s.skip(`,"turn":`)
	turn := s.textOrNull()
	s.skip(`,"seq":`)
	seq := s.number()
	s.skip(`,"id":"`)
	id := s.text()
	s.skip(`,"ts":"`)
	ts := s.text()
	s.skip(`,"type":"`)
	kind := s.text()
	s.skip(`,"parent_id":`)
	parent := s.textOrNull()
	s.skip(`,"actor":"`)
	actor := s.text()
	s.skip(`,"payload":`)
	raw, closed := bytes.CutSuffix(s.rest, []byte{'}'})
	if !s.ok || !closed {
		return false
	}
	var at time.Time
	if at.UnmarshalText(ts) != nil {
		return false
	}
	at = at.UTC()
	payload, ok := readOwnPayload(kind, raw)
	if !ok || !inRFC3339(at) {
		return false
	}
	*r = Record{
		Session: keep(r.Session, session), Turn: keep(r.Turn, turn), Seq: seq,
		Event: Event{ID: string(id), Time: at, Parent: string(parent), Actor: actorOf(actor), Payload: payload},
	}
	return true
}

func keep(old string, text []byte) string {
	if old == string(text) {
		return old
	}
	return string(text)
}

func actorOf(text []byte) Actor {
	for _, a := range []Actor{Agent, Gateway, User} {
		if string(a) == string(text) {
			return a
		}
	}
	return Actor(text)
}

// readOwnPayload reads deltas in place: there are as many of them as of all other
// kinds together.
func readOwnPayload(kind, raw []byte) (Payload, bool) {
	switch Kind(kind) {
	case KindMessageDelta:
		part, delta, ok := readPair(raw, `{"part":"`)
		if ok {
			return MessageDelta{Part: part, Delta: delta}, true
		}
	case KindThoughtDelta:
		part, delta, ok := readPair(raw, `{"part":"`)
		if ok {
			return ThoughtDelta{Part: part, Delta: delta}, true
		}
	case KindToolCallDelta:
		id, delta, ok := readPair(raw, `{"tool_call_id":"`)
		if ok {
			return ToolCallDelta{ToolCallID: id, Delta: delta}, true
		}
	default: // the others are fewer, and larger
	}
	decode, known := decoders[Kind(kind)]
	if !known {
		return nil, false
	}
	p, err := decode(raw)
	return p, err == nil
}

// readPair reads a delta: of what, and the text.
func readPair(raw []byte, head string) (of, delta string, ok bool) {
	s := scan{rest: raw, ok: true}
	s.skip(head)
	first := s.text()
	s.skip(`,"delta":"`)
	second := s.text()
	s.skip(`}`)
	return string(first), string(second), s.ok && len(s.rest) == 0
}

// appendDelta appends the payload of a delta, and tells whether it was one.
func appendDelta(dst []byte, p Payload) ([]byte, bool) {
	switch p := p.(type) { //nolint:gochecksumtype // the others are left to encoding/json
	case MessageDelta:
		return appendPair(dst, `{"part":`, p.Part, p.Delta), true
	case ThoughtDelta:
		return appendPair(dst, `{"part":`, p.Part, p.Delta), true
	case ToolCallDelta:
		return appendPair(dst, `{"tool_call_id":`, p.ToolCallID, p.Delta), true
	}
	return dst, false
}

func appendPair(dst []byte, head, of, delta string) []byte {
	dst = appendString(append(dst, head...), of)
	return append(appendString(append(dst, `,"delta":`...), delta), '}')
}

// scan goes through bytes that are expected to have a certain form. Once they
// don't, ok is false and nothing that it returned means anything.
type scan struct {
	rest []byte
	ok   bool
}

func (s *scan) skip(what string) {
	if !s.ok || len(s.rest) < len(what) || string(s.rest[:len(what)]) != what {
		s.ok = false
		return
	}
	s.rest = s.rest[len(what):]
}

// text reads the rest of a string without escapes, and its closing quote.
func (s *scan) text() []byte {
	ascii := true
	for i, c := range s.rest {
		switch {
		case c == '"':
			text := s.rest[:i]
			s.rest = s.rest[i+1:]
			s.ok = s.ok && (ascii || utf8.Valid(text))
			return text
		case c < ' ' || c == '\\':
			s.ok = false
			return nil
		case c >= utf8.RuneSelf:
			ascii = false
		}
	}
	s.ok = false
	return nil
}

func (s *scan) textOrNull() []byte {
	const null = "null"
	if s.ok && len(s.rest) > len(null) && string(s.rest[:len(null)]) == null {
		s.rest = s.rest[len(null):]
		return nil
	}
	s.skip(`"`)
	return s.text()
}

func (s *scan) number() uint64 {
	i := 0
	for i < len(s.rest) && s.rest[i] >= '0' && s.rest[i] <= '9' {
		i++
	}
	n, err := strconv.ParseUint(string(s.rest[:i]), 10, 64)
	s.ok = s.ok && err == nil && (i == 1 || s.rest[0] != '0')
	s.rest = s.rest[i:]
	return n
}
