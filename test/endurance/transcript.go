package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// transcript is the content of a stream, without the borders of its deltas.
type transcript struct {
	steps []string // all frames but deltas and previews, in order
	parts map[string]*streamPart
}

// streamPart is a part whose text comes in deltas.
type streamPart struct {
	text  string
	from  []int // the places of the deltas in the stream
	sizes []int // the length of the text before each delta
	ended bool
}

// transcriptOf reads the complete frames of a stream.
func transcriptOf(raw []byte) transcript {
	t := transcript{parts: map[string]*streamPart{}}
	at := 0
	for line := range bytes.Lines(raw) {
		from := at
		at += len(line)
		data, ok := bytes.CutPrefix(line, []byte("data: "))
		if !ok || line[len(line)-1] != '\n' {
			continue
		}
		var c struct {
			Type                   string
			ID                     string
			ToolCallID             string
			Delta                  string
			InputTextDelta         string
			Transient, Preliminary bool
		}
		if json.Unmarshal(data, &c) != nil && !bytes.HasPrefix(data, []byte("[DONE]")) {
			continue
		}
		part := t.part(strings.TrimSuffix(strings.TrimSuffix(c.Type, "-delta"), "-end") + c.ID)
		switch c.Type {
		case "text-delta", "reasoning-delta":
			part.grow(c.Delta, from)
			continue
		case "tool-input-delta":
			t.part("input"+c.ToolCallID).grow(c.InputTextDelta, from)
			continue
		case "text-end", "reasoning-end":
			part.ended = true
		case "tool-input-available":
			t.part("input" + c.ToolCallID).ended = true
		}
		if !c.Transient && !c.Preliminary {
			t.steps = append(t.steps, string(bytes.TrimSpace(data)))
		}
	}
	return t
}

func (t transcript) part(name string) *streamPart {
	if t.parts[name] == nil {
		t.parts[name] = &streamPart{}
	}
	return t.parts[name]
}

func (g *streamPart) grow(delta string, at int) {
	g.from, g.sizes = append(g.from, at), append(g.sizes, len(g.text))
	g.text += delta
}

// missing returns the place of the first delta beyond the first n bytes of the text, or -1.
func (g *streamPart) missing(n int) int {
	for i, size := range slices.Backward(g.sizes) {
		if size <= n {
			return g.from[i]
		}
	}
	return -1
}

// within compares a stream from before a crash with its replay after the crash. Only the end of an
// open part may be missing. first is the place of the oldest missing delta in the stream; -1: no
// delta is missing.
func (t transcript) within(is transcript, whole bool) (first int, f flaw) {
	first = -1
	for i, step := range t.steps {
		switch {
		case i >= len(is.steps):
			return first, flaw{what: fmt.Sprintf("frame %d was %.200s, and is missing", i, step)}
		case is.steps[i] != step:
			return first, flaw{what: fmt.Sprintf("frame %d was %.200s, and is %.200s", i, step, is.steps[i]), contradicts: true}
		}
	}
	if whole && len(is.steps) != len(t.steps) {
		return first, flaw{what: fmt.Sprintf("a client had the complete stream in %d frames, the replay has %d, the next is %.200s", len(t.steps), len(is.steps), is.steps[len(t.steps)]), contradicts: true}
	}
	for name, was := range t.parts {
		now := is.part(name)
		switch {
		case whole && now.text != was.text:
			return first, flaw{what: fmt.Sprintf("%s: a client had the complete text, %s", name, diff(was.text, now.text)), contradicts: !strings.HasPrefix(was.text, now.text)}
		case strings.HasPrefix(now.text, was.text):
		case was.ended || !strings.HasPrefix(was.text, now.text):
			return first, flaw{what: fmt.Sprintf("%s: the replay lacks what a client had seen: %s", name, diff(was.text, now.text)), contradicts: !strings.HasPrefix(was.text, now.text)}
		default:
			if at := was.missing(len(now.text)); first < 0 || at < first {
				first = at
			}
		}
	}
	return first, flaw{}
}

// arrival is the number of bytes that had come at a moment.
type arrival struct {
	bytes int
	at    time.Time
}

// until returns the observation as it was at a moment, if the stream ended later.
func (s *observation) until(moment time.Time) *observation {
	if moment.IsZero() || len(s.arrivals) == 0 || s.arrivals[0].at.After(moment) || s.ended.Before(moment) {
		return s
	}
	early := &observation{session: s.session, prompt: s.prompt, acked: s.acked, ended: moment}
	for _, a := range s.arrivals {
		if a.at.After(moment) {
			break
		}
		early.raw, early.arrivals = s.raw[:a.bytes], append(early.arrivals, a)
	}
	return early
}

// before returns the time between the arrival of a byte and the end of the stream.
func (s *observation) before(place int) time.Duration {
	for _, a := range s.arrivals {
		if a.bytes > place {
			return s.ended.Sub(a.at)
		}
	}
	return 0
}
