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
	// open are the objects and arrays that are being read: where in out the key
	// "constructor" stands that each is the value of, or -1.
	open []int
	bad  []int // where in out the keys stand that are to be renamed
	last int   // where in out the last string stands
	// constructor is where in out the key stands whose value comes next, if it
	// is one that must not hold a prototype.
	constructor int
}

func (s *scanner) scan() {
	s.constructor = -1
	for i := 0; i < len(s.in); {
		switch s.in[i] {
		case ' ', '\t', '\r', '\n':
			i++
			continue
		case '"':
			i = s.text(i)
			continue
		case '{', '[':
			s.open = append(s.open, s.constructor)
			s.constructor = -1
		case '}', ']':
			s.open = s.open[:len(s.open)-1]
		case 'n': // null: the oldest clients stumble over one as a constructor
			if s.constructor >= 0 {
				s.bad = append(s.bad, s.constructor)
			}
			s.constructor = -1
		case ':':
			s.key()
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
	s.last, s.constructor = len(s.out), -1
	s.out = append(s.out, s.in[i:end]...)
	return end
}

// key takes the last string, behind which a colon stands.
func (s *scanner) key() {
	switch keyName(s.out[s.last:]) {
	case "__proto__":
		s.bad = append(s.bad, s.last)
	case "constructor":
		s.constructor = s.last
	case "prototype":
		if c := s.open[len(s.open)-1]; c >= 0 {
			s.bad = append(s.bad, c)
		}
	}
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
