package trace

// This file joins deltas that wait together.

// joinedBytes is how long a delta may become by joining. A record then stays small beside what a store keeps of a
// turn, and beside what a client reads at a time.
const joinedBytes = 2 << 10

// JoinDeltas joins deltas of one part that stand side by side, so that each reader of the log has
// fewer records to read. A joined delta is the first one with the text of all, and has 2 KB of text at most. All
// other events stay as they are, in their order. JoinDeltas uses the list again for its result.
//
// The caller joins events before they get their numbers: a record that has a number never changes.
func JoinDeltas(events []Event) []Event {
	joined := events[:0]
	var text []byte // of the last one in joined, if that is more than one event
	seal := func() {
		if len(text) > 0 {
			last := &joined[len(joined)-1]
			last.Payload = WithDelta(last.Payload, string(text))
			text = text[:0]
		}
	}
	var kind Kind
	var part, first string // of the last one in joined
	for _, e := range events {
		p := e.Payload
		key, delta, is := deltaOf(p)
		if n := len(joined); n > 0 && is && key == part && p.Kind() == kind && e.Actor == joined[n-1].Actor && e.Parent == joined[n-1].Parent &&
			max(len(text), len(first))+len(delta) <= joinedBytes {
			if len(text) == 0 {
				text = append(text, first...)
			}
			text = append(text, delta...)
			continue
		}
		seal()
		joined = append(joined, e)
		if kind, part, first = "", "", ""; is {
			kind, part, first = p.Kind(), key, delta
		}
	}
	seal()
	clear(events[len(joined):])
	return joined
}

// deltaOf is the part that a delta adds to, and what it adds.
func deltaOf(p Payload) (part, text string, is bool) {
	switch p := p.(type) { //nolint:gochecksumtype // the others add to no part
	case MessageDelta:
		return p.Part, p.Delta, true
	case ThoughtDelta:
		return p.Part, p.Delta, true
	case ToolCallDelta:
		return p.ToolCallID, p.Delta, true
	}
	return "", "", false
}

// WithDelta is a delta with another text, or a payload of another kind as it is.
func WithDelta(p Payload, text string) Payload {
	switch p := p.(type) { //nolint:gochecksumtype // the others have no such text
	case MessageDelta:
		p.Delta = text
		return p
	case ThoughtDelta:
		p.Delta = text
		return p
	case ToolCallDelta:
		p.Delta = text
		return p
	}
	return p
}
