package uistream

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tributary-dev/tributary/internal/quote"
)

// This file makes JSON values that every client can read.

// SafeJSON makes any bytes a JSON value that every client can read. The value is one
// line of valid UTF-8, and keeps its numbers digit for digit. It lacks the keys
// that a client takes for an attack on JavaScript's prototypes, which would cost
// the client the turn. Such a key is put in brackets. A value that is not JSON
// becomes a string.
func SafeJSON(value json.RawMessage) json.RawMessage {
	if len(bytes.TrimSpace(value)) == 0 {
		return json.RawMessage("null")
	}
	if !utf8.Valid(value) {
		value = bytes.ToValidUTF8(value, []byte("\uFFFD"))
	}
	if !json.Valid(value) {
		return quote.Append(nil, string(value))
	}
	s := scanner{in: value, out: make([]byte, 0, len(value))}
	s.scan()
	return s.result()
}

// scanner copies valid JSON without white space and finds keys to rename.
type scanner struct {
	in, out []byte
	open    []scope
	bad     []int // where in out the keys stand that are to be renamed
	// constructor is where in out the key stands whose value comes next, if it
	// is one that must not hold a prototype.
	constructor int
}

// scope is an object or array that is being read.
type scope struct {
	object bool
	// constructor is where the key "constructor" stands that it is the value
	// of, or -1.
	constructor int
}

func (s *scanner) scan() {
	s.constructor = -1
	for i := 0; i < len(s.in); {
		switch c := s.in[i]; c {
		case ' ', '\t', '\r', '\n':
			i++
			continue
		case '"':
			i = s.text(i)
			continue
		case '{', '[':
			s.open = append(s.open, scope{object: c == '{', constructor: s.constructor})
			s.constructor = -1
		case '}', ']':
			s.open = s.open[:len(s.open)-1]
		case 'n': // null: the oldest clients stumble over one as a constructor
			if s.constructor >= 0 {
				s.bad = append(s.bad, s.constructor)
			}
			s.constructor = -1
		case ':':
		default:
			s.constructor = -1
		}
		s.out = append(s.out, s.in[i])
		i++
	}
}

// text copies the string that begins at i and returns where it ends.
func (s *scanner) text(i int) int {
	end := i + 1
	for s.in[end] != '"' {
		if s.in[end] == '\\' {
			end++
		}
		end++
	}
	end++
	at := len(s.out)
	s.out = append(s.out, s.in[i:end]...)
	s.constructor = -1
	if len(s.open) == 0 || !s.open[len(s.open)-1].object || !colonFollows(s.in[end:]) {
		return end
	}
	switch keyName(s.in[i:end]) {
	case "__proto__":
		s.bad = append(s.bad, at)
	case "constructor":
		s.constructor = at
	case "prototype":
		if c := s.open[len(s.open)-1].constructor; c >= 0 {
			s.bad = append(s.bad, c)
		}
	}
	return end
}

func colonFollows(in []byte) bool {
	for _, c := range in {
		switch c {
		case ' ', '\t', '\r', '\n':
		default:
			return c == ':'
		}
	}
	return false
}

// keyName decodes a key if it may be one of the three that matter: none is
// longer than eleven characters, six bytes each at most.
func keyName(quoted []byte) string {
	if len(quoted) > 2+11*6 {
		return ""
	}
	plain := string(quoted[1 : len(quoted)-1])
	if !strings.Contains(plain, `\`) {
		return plain
	}
	var name string
	if json.Unmarshal(quoted, &name) != nil {
		return ""
	}
	return name
}

// result renames the bad keys.
func (s *scanner) result() json.RawMessage {
	if len(s.bad) == 0 {
		return s.out
	}
	slices.Sort(s.bad)
	out := make([]byte, 0, len(s.out)+2*len(s.bad))
	from := 0
	for _, at := range slices.Compact(s.bad) {
		out = append(out, s.out[from:at]...)
		end := at + 1 + bytes.IndexByte(s.out[at+1:], '"')
		out = quote.Append(out, "["+keyName(s.out[at:end+1])+"]")
		from = end + 1
	}
	return append(out, s.out[from:]...)
}
