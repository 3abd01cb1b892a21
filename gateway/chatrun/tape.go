package chatrun

import "bytes"

// This file records the chunks of a response.

// maxTape bounds what is kept of a response, in bytes. A client that was cut lacks what was
// on its way, and no more.
const maxTape = 1 << 20

// tape is the newest chunks of a response, as server-sent events, with their numbers.
type tape struct {
	events  [][]byte
	first   int    // the number of the first of the events
	size    int    // of the events
	partial []byte // an event that has not ended yet
	done    bool   // the response has come to its end
}

// end is what stands between two events.
const end = "\n\n"

// record takes the next bytes of the response.
func (t *tape) record(p []byte) {
	t.partial = append(t.partial, p...)
	left := t.partial
	for {
		event, rest, whole := bytes.Cut(left, []byte(end))
		if !whole {
			break
		}
		t.add(event)
		left = rest
	}
	t.partial = append(t.partial[:0], left...)
}

// add takes an event. Comments are no chunks.
func (t *tape) add(event []byte) {
	for line := range bytes.SplitSeq(event, []byte("\n")) {
		switch data, is := bytes.CutPrefix(line, []byte("data: ")); {
		case !is:
		case string(data) == "[DONE]":
			t.done = true
		default:
			t.keep(bytes.Clone(event))
		}
	}
}

// keep keeps a chunk, and drops the oldest ones if there is too much.
func (t *tape) keep(event []byte) {
	t.events = append(t.events, event)
	t.size += len(event)
	for t.size > maxTape && len(t.events) > 1 {
		t.size -= len(t.events[0])
		t.events[0], t.events = nil, t.events[1:]
		t.first++
	}
}

// count is how many chunks there were.
func (t *tape) count() int { return t.first + len(t.events) }

// from returns the chunks with that number and greater ones.
func (t *tape) from(n int) (frames []byte, ok bool) {
	if n < t.first || n > t.count() {
		return nil, false
	}
	for _, event := range t.events[n-t.first:] {
		frames = append(append(frames, event...), end...)
	}
	return frames, true
}
