package otlp

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

// This file has what a request is made of, and what receivers refuse.

// Request is what one POST to a receiver holds: some spans of one turn. In a file it is one line.
type Request struct {
	Resource []Attr
	// Scope names the program that made the spans, and ScopeVersion its version.
	Scope, ScopeVersion string
	Spans               []Span
}

// TraceID is the id of a trace in OpenTelemetry.
type TraceID [16]byte

// SpanID is the id of a span in OpenTelemetry.
type SpanID [8]byte

// The kinds of spans that are used, and the one status.
const (
	KindInternal = 1
	KindClient   = 3
	StatusError  = 2
)

// Span is a span that has ended. Times are nanoseconds since 1970.
type Span struct {
	Trace        TraceID
	ID, Parent   SpanID // the parent of a root is zero
	Name         string
	Kind         int
	Start, End   uint64
	Attrs        []Attr
	Events       []Event
	Links        []Link
	Error        bool
	ErrorMessage string
}

// Event is a moment in a span.
type Event struct {
	Time  uint64
	Name  string
	Attrs []Attr
}

// Link points to another span.
type Link struct {
	Trace TraceID
	ID    SpanID
}

// Attr is an attribute. The value is a string, a bool, an int64, a float64 or a []string.
type Attr struct {
	Key   string
	Value any
}

// get is the value of an attribute, or nil.
func (s Span) get(key string) any {
	for _, a := range s.Attrs {
		if a.Key == key {
			return a.Value
		}
	}
	return nil
}

// Validate returns an error for a request that a receiver would refuse, would drop in part, or
// would take for something else.
func (r Request) Validate() error {
	var all []error
	seen := map[SpanID]bool{}
	for _, s := range r.Spans {
		refuse := func(why string) { all = append(all, fmt.Errorf("the span %s: %s", s.Name, why)) }
		switch {
		case s.Trace == TraceID{} || s.ID == SpanID{}:
			refuse("it has no id")
		case seen[s.ID]:
			refuse("its id is there twice")
		case s.Start > s.End:
			refuse("it ends before it begins")
		case s.Name == "":
			refuse("it has no name")
		}
		seen[s.ID] = true
		if s.get(sessionID) == nil || s.get(conversationID) == nil {
			refuse("it has no session")
		}
		for _, a := range s.Attrs {
			if s.Name == "permission" && strings.Contains(a.Key, "tool") {
				refuse(a.Key + " makes a used tool of it for some readers")
			}
			switch a.Value.(type) {
			case string, bool, int64, float64, []string:
			default:
				refuse(fmt.Sprintf("%s is a %T", a.Key, a.Value))
			}
		}
	}
	return errors.Join(all...)
}

// hash is the SHA-256 of parts, which no part can imitate.
func hash(parts ...string) [sha256.Size]byte {
	return sha256.Sum256([]byte(strings.Join(parts, "\x1f")))
}

func spanID(word, session, turn, key string) (id SpanID) {
	parts := []string{word, session, turn}
	if key != "" {
		parts = append(parts, key)
	}
	sum := hash(parts...)
	copy(id[:], sum[:])
	return id
}

// traceOf is the trace of a turn: the caller's if the caller gave a valid traceparent, which then
// also names the parent of the turn's span.
func traceOf(session, turn, traceparent string) (id TraceID, parent SpanID) {
	parts := strings.Split(traceparent, "-")
	const hexadecimal = "0123456789abcdef" // W3C allows no capitals
	form := len(parts) >= 4 && strings.Trim(strings.Join(parts[:4], ""), hexadecimal) == "" && parts[0] != "ff" && (len(parts) == 4 || parts[0] != "00")
	if form && len(parts[0]) == 2 && len(parts[1]) == 32 && len(parts[2]) == 16 && len(parts[3]) == 2 {
		_, err := hex.Decode(id[:], []byte(parts[1]))
		_, wrong := hex.Decode(parent[:], []byte(parts[2]))
		if err == nil && wrong == nil && id != (TraceID{}) && parent != (SpanID{}) {
			return id, parent
		}
	}
	sum := hash("trace", session, turn)
	copy(id[:], sum[:])
	return id, SpanID{}
}
