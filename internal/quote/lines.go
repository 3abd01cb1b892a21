package quote

import (
	"bytes"
	"encoding/json"
	"strings"
)

// deepest is how far [Lines] indents at most, in steps, and short is how long a list or an
// object of plain values may be that stands in one line, in bytes.
const deepest, short = 12, 72

// Lines writes JSON in lines, for a person who reads it. Each key and each value stays as it is
// written in raw, also a key that raw has twice. A string of several lines has a line break
// after each \n in it. A text that is no JSON stays as it is.
func Lines(raw []byte) string {
	if !json.Valid(raw) {
		return string(raw)
	}
	var l lines
	for i := 0; i < len(raw); {
		i += l.next(raw[i:])
	}
	return l.String()
}

type lines struct {
	strings.Builder

	depth int
}

// next writes the token at the beginning of raw, and returns its length.
func (l *lines) next(raw []byte) int {
	switch raw[0] {
	case '{', '[':
		if n := plain(raw); n > 0 && (l.depth > 0 || raw[0] == '[' || len(bytes.TrimSpace(raw[1:n-1])) == 0) {
			l.compact(raw[:n])
			return n
		}
		l.WriteByte(raw[0])
		l.depth++
		l.feed(l.depth)
	case '}', ']':
		l.depth--
		l.feed(l.depth)
		l.WriteByte(raw[0])
	case ',':
		l.WriteByte(',')
		l.feed(l.depth)
	case ':':
		l.WriteString(": ")
	case ' ', '\t', '\n', '\r':
	case '"':
		n := stringLen(raw)
		l.text(raw[:n])
		return n
	default:
		l.WriteByte(raw[0])
	}
	return 1
}

// feed begins a line.
func (l *lines) feed(depth int) {
	l.WriteByte('\n')
	for range min(depth, deepest) {
		l.WriteString("  ")
	}
}

// text writes a string. Its lines stand below each other.
func (l *lines) text(s []byte) {
	from := 0
	for i := 1; i < len(s)-1; i++ {
		if s[i] != '\\' {
			continue
		}
		i++
		if s[i] == 'n' && i < len(s)-2 {
			l.Write(s[from : i+1])
			l.feed(l.depth + 1)
			from = i + 1
		}
	}
	l.Write(s[from:])
}

// compact writes a list or an object in one line.
func (l *lines) compact(raw []byte) {
	for i := 0; i < len(raw); {
		n := 1
		switch raw[i] {
		case '"':
			n = stringLen(raw[i:])
			l.Write(raw[i : i+n])
		case ',', ':':
			l.WriteByte(raw[i])
			l.WriteByte(' ')
		case ' ', '\t', '\n', '\r':
		default:
			l.WriteByte(raw[i])
		}
		i += n
	}
}

// plain is the length of a short list or object whose values are plain and of one line, or 0.
func plain(raw []byte) int {
	for i := 1; i < min(len(raw), short); {
		switch raw[i] {
		case '{', '[':
			return 0
		case '}', ']':
			return i + 1
		case '"':
			n := stringLen(raw[i:])
			if bytes.Contains(raw[i:i+n], []byte(`\n`)) {
				return 0
			}
			i += n
		default:
			i++
		}
	}
	return 0
}

// stringLen is the length of the string at the beginning of raw, which is valid JSON.
func stringLen(raw []byte) int {
	for i := 1; ; i++ {
		switch raw[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
}
