package trace

import (
	"bytes"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tributary-dev/tributary/internal/quote"
)

// This file reads and writes JSON records in the form of AppendJSON without encoding/json.

// decodeCanonical reads a record as AppendJSON writes it: the same keys in the same
// order, strings with short escapes only, a kind that is known. Nearly every record
// that is ever read is one, and costs a quarter of what encoding/json takes. It leaves
// alone whatever differs by a byte; then ok is false and nothing has changed. A
// session and a turn that r holds already are kept rather than copied.
func (r *Record) decodeCanonical(data []byte) (ok bool) {
	s := canonicalReader{rest: data, ok: true}
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
	payload, ok := decodeCanonicalPayload(kind, raw)
	if !ok || !inRFC3339(at) {
		return false
	}
	*r = Record{
		Session: keep(r.Session, session), Turn: keep(r.Turn, turn), Seq: seq,
		Event: Event{ID: string(id), Time: at, Parent: string(parent), Actor: oneOf(actor, Agent, Gateway, User), Payload: payload},
	}
	return true
}

func keep(old string, text []byte) string {
	if old == string(text) {
		return old
	}
	return string(text)
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
	dst = quote.Append(append(dst, head...), of)
	return append(quote.Append(append(dst, `,"delta":`...), delta), '}')
}

// canonicalReader goes through bytes that are expected to have a certain form. Once they
// don't, ok is false and nothing that it returned means anything.
type canonicalReader struct {
	rest []byte
	ok   bool
}

func (s *canonicalReader) skip(what string) {
	if !s.ok || !s.begins(what) {
		s.ok = false
		return
	}
	s.rest = s.rest[len(what):]
}

// text reads the rest of a string, and its closing quote.
func (s *canonicalReader) text() []byte {
	ascii := true
	for i, c := range s.rest {
		switch {
		case c == '"':
			text := s.rest[:i]
			s.rest = s.rest[i+1:]
			s.ok = s.ok && (ascii || utf8.Valid(text))
			return text
		case c == '\\':
			return s.escaped(i)
		case c < ' ':
			s.ok = false
			return nil
		case c >= utf8.RuneSelf:
			ascii = false
		}
	}
	s.ok = false
	return nil
}

// escaped is text for a string whose first escape stands at the given place: most
// answers have line breaks. Those with numbers are rare.
func (s *canonicalReader) escaped(at int) []byte {
	text := append(make([]byte, 0, 2*at+64), s.rest[:at]...)
	for rest := s.rest[at:]; s.ok && len(rest) > 1; {
		switch c := rest[0]; {
		case c == '"':
			s.rest = rest[1:]
			s.ok = utf8.Valid(text)
			return text
		case c != '\\':
			n := bytes.IndexAny(rest, `"\`)
			s.ok = n > 0 && !bytes.ContainsFunc(rest[:n], func(r rune) bool { return r < ' ' })
			text, rest = append(text, rest[:max(n, 0)]...), rest[max(n, 0):]
		default:
			c, s.ok = unescape(rest[1])
			text, rest = append(text, c), rest[2:]
		}
	}
	s.ok = false
	return nil
}

func unescape(c byte) (byte, bool) {
	const short, plain = `"\/bfnrt`, "\"\\/\b\f\n\r\t"
	i := strings.IndexByte(short, c)
	if i < 0 {
		return 0, false
	}
	return plain[i], true
}

func (s *canonicalReader) textOrNull() []byte {
	const null = "null"
	if s.ok && len(s.rest) > len(null) && string(s.rest[:len(null)]) == null {
		s.rest = s.rest[len(null):]
		return nil
	}
	s.skip(`"`)
	return s.text()
}

func (s *canonicalReader) number() uint64 {
	i := 0
	for i < len(s.rest) && s.rest[i] >= '0' && s.rest[i] <= '9' {
		i++
	}
	n, err := strconv.ParseUint(string(s.rest[:i]), 10, 64)
	s.ok = s.ok && err == nil && (i == 1 || s.rest[0] != '0')
	s.rest = s.rest[i:]
	return n
}
