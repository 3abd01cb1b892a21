package trace

import (
	"encoding/json"
	"unicode/utf8"

	"github.com/tributary-dev/tributary/internal/quote"
)

// This file reads and writes payloads that are flat without encoding/json, which takes four times as long.

// flatPayload reads a payload of texts as MarshalPayload writes it. Most records of a page of history have one. Of
// other kinds, and of a payload that differs by a byte, ok is false: encoding/json reads those. The keys stand in
// the order of the fields, and Go evaluates the fields from left to right.
func flatPayload(k Kind, raw []byte) (p Payload, ok bool) {
	f := flatReader{rest: raw, ok: true, mark: '{'}
	switch k { //nolint:exhaustive // the others hold lists and values, or are rare
	case KindMessageStart:
		p = MessageStart{Part: f.text("part"), Role: Role(f.text("role"))}
	case KindMessage:
		p = Message{Part: f.text("part"), Role: Role(f.text("role")), Text: f.text("text"), Superseded: f.flag("superseded")}
	case KindThoughtStart:
		p = ThoughtStart{Part: f.text("part")}
	case KindThought:
		p = Thought{Part: f.text("part"), Text: f.text("text"), Signature: f.text("signature"), Superseded: f.flag("superseded")}
	case KindToolCallStart:
		p = ToolCallStart{
			ToolCallID: f.text("tool_call_id"), RawName: f.text("raw_name"), Name: f.text("name"), ToolKind: ToolKind(f.text("kind")), Title: f.text("title"),
		}
	case KindStep:
		p = Step{Phase: Phase(f.text("phase")), Name: f.text("name"), NativeID: f.text("native_id"), Finish: f.text("finish")}
	case KindReply:
		p = Reply{MessageID: f.text("message_id"), Cause: Cause(f.text("cause")), Resume: f.text("resume")}
	case KindStop:
		p = Stop{
			Reason: f.text("reason"), Outcome: Outcome(f.text("outcome")), Class: Class(f.text("class")), Error: f.text("error"), FinalOutput: f.text("final_output"),
		}
	default:
		return nil, false
	}
	return p, f.ok && string(f.rest) == "}" && f.mark == ','
}

// flatReader goes through an object of texts and flags. Once the object has another form, ok is false, and
// nothing that the methods return means anything.
type flatReader struct {
	rest []byte
	ok   bool
	mark byte // stands before the next key
}

// key passes over a key, and reports whether it stands next. One that does not is left out in the object.
func (f *flatReader) key(name string) bool {
	n := len(name) + len(`,"":`)
	if len(f.rest) <= n || f.rest[0] != f.mark || f.rest[1] != '"' || string(f.rest[2:n-2]) != name || f.rest[n-2] != '"' || f.rest[n-1] != ':' {
		return false
	}
	f.rest, f.mark = f.rest[n:], ','
	return true
}

// flag reads a truth, which is left out when it is none.
func (f *flatReader) flag(name string) bool {
	const value = "true"
	if !f.key(name) {
		return false
	}
	if f.ok = f.ok && len(f.rest) > len(value) && string(f.rest[:len(value)]) == value; f.ok {
		f.rest = f.rest[len(value):]
	}
	return f.ok
}

// text reads a text.
func (f *flatReader) text(name string) string {
	if !f.key(name) {
		return ""
	}
	f.ok = f.ok && f.rest[0] == '"'
	ascii, escaped := true, false
	for i := 1; f.ok && i < len(f.rest); i++ {
		switch c := f.rest[i]; {
		case c == '"':
			quoted := f.rest[:i+1]
			f.rest = f.rest[i+1:]
			if escaped || !ascii && !utf8.Valid(quoted) {
				return f.escaped(quoted)
			}
			return string(quoted[1:i])
		case c == '\\':
			escaped = true
			i++
		case c < ' ':
			f.ok = false
		case c >= utf8.RuneSelf:
			ascii = false
		}
	}
	f.ok = false
	return ""
}

// escaped leaves a text with escapes to encoding/json.
func (f *flatReader) escaped(quoted []byte) (text string) {
	f.ok = json.Unmarshal(quoted, &text) == nil
	return text
}

// appendDelta appends the payload of a delta, and tells whether it was one.
func appendDelta(dst []byte, p Payload) ([]byte, bool) {
	of, delta, is := deltaOf(p)
	if !is {
		return dst, false
	}
	head := `{"part":`
	if p.Kind() == KindToolCallDelta {
		head = `{"tool_call_id":`
	}
	dst = quote.Append(append(dst, head...), of)
	return append(quote.Append(append(dst, `,"delta":`...), delta), '}'), true
}
