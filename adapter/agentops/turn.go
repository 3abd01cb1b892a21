package agentops

import (
	"cmp"
	"fmt"

	"github.com/tributary-dev/tributary/agent"
	wire "github.com/tributary-dev/tributary/agentops"
	"github.com/tributary-dev/tributary/trace"
)

// turn is a turn of the upstream: one message of the assistant.
type turn struct {
	id      string
	run     *run
	texts   int  // texts between tools, so far
	open    bool // the last of them has no end yet
	calls   map[string]*call
	order   []*call
	waiting int // calls without a result

	// What comes while something may have been missed is held until the whole
	// message has come, or until it is clear that nothing will.
	away bool // the connection was lost in the middle of it
	held []string
	size int // of what is held, about
}

const (
	mostCalls = 10_000
	mostHeld  = 1 << 20
)

// create begins a turn of the upstream.
func (d *Decoder) create(id, channel string, t agent.Turns) *turn {
	if tn, known := d.turns[id]; known || len(id) > longestID {
		return tn
	}
	r := d.active(channel)
	if r != nil && (r.verdict != nil || d.succeeded(r)) {
		d.cut(r, t) // what was not told of its end by now will not be told any more
		r = nil
	}
	if r == nil {
		r = d.begin(d.next(channel, true), channel, t)
	}
	return d.add(id, r)
}

// succeeded reports whether the agent is at another prompt than that of a run, which may
// have ended.
func (d *Decoder) succeeded(r *run) bool {
	next := d.justShown()
	return next != nil && next != r.prompt && next.channel == r.channel && (r.course == stopping || r.doubt == endRepeated)
}

// unknown finds the turn of a frame that names one whose beginning nobody saw.
func (d *Decoder) unknown(id, channel string, t agent.Turns) *turn {
	if tn, known := d.turns[id]; known || len(id) > longestID {
		return tn
	}
	r := d.active(channel)
	if r == nil {
		r = d.begin(d.next(channel, false), channel, t)
	}
	tn := d.add(id, r)
	if tn != nil && d.unseen {
		tn.away = true
	}
	return tn
}

func (d *Decoder) add(id string, r *run) *turn {
	if r == nil {
		d.forget(id)
		return nil
	}
	if r.turn != nil {
		r.turn.leave()
		delete(d.turns, r.turn.id)
		d.forget(r.turn.id)
	}
	tn := &turn{id: id, run: r, calls: map[string]*call{}}
	r.turn = tn
	r.on(speaks)
	d.turns[id] = tn
	r.b.StepStart(trace.Step{NativeID: id})
	return tn
}

// leave closes what a turn left open when another takes its place.
func (tn *turn) leave() {
	tn.flush()
	tn.endText()
	for _, c := range tn.order {
		if c.state != callDone {
			tn.result(c, trace.ToolResult{Status: trace.ToolCanceled, Error: "Not finished: the agent began anew."})
		}
	}
}

// empty reports whether nothing of a turn was seen but that it began.
func (tn *turn) empty() bool { return tn.texts == 0 && len(tn.calls) == 0 && len(tn.held) == 0 }

// chunk takes more text.
func (d *Decoder) chunk(f wire.Chunk, t agent.Turns) {
	tn := d.unknown(f.MessageID, f.Channel.Name(""), t)
	if tn == nil || tn.run.course == stopping {
		return
	}
	d.moved()
	switch {
	case tn.away, tn.run.course == idling:
		if tn.size += 16 + len(f.Content); tn.size <= mostHeld {
			tn.held = append(tn.held, string(f.Content))
		}
		tn.run.b.Touch()
	default:
		tn.grow(string(f.Content))
	}
}

// key names the last text to the Builder.
func (tn *turn) key() string { return fmt.Sprintf("%s/%d", tn.id, tn.texts-1) }

// beginText begins another text, unless one is open.
func (tn *turn) beginText() {
	if !tn.open {
		tn.texts++
		tn.open = true
	}
}

// grow adds to the text that is open, or begins another.
func (tn *turn) grow(text string) {
	if text == "" {
		tn.run.b.Touch()
		return
	}
	tn.beginText()
	tn.run.b.MessageDelta(tn.key(), text)
}

// endText ends the text that is open: text after a tool is another one.
func (tn *turn) endText() {
	if tn.open {
		tn.run.b.MessageEnd(tn.key())
		tn.open = false
	}
}

// release forgets what was held, and returns it.
func (tn *turn) release() (held []string) {
	held, tn.held, tn.size, tn.away = tn.held, nil, 0, false
	return held
}

// flush lets go of what was held. After an abort it is late, and dropped.
func (tn *turn) flush() {
	for _, text := range tn.release() {
		if tn.run.course != stopping && !(tn.run.course == idling && tn.run.verdict == nil) {
			tn.grow(text)
		}
	}
}

// ends closes the text of a turn, which is what its run ends with.
func (tn *turn) ends(d *Decoder, stop trace.Stop) {
	tn.run.verdict = &stop // what is held is no late text of a stopped turn
	tn.flush()
	tn.run.verdict = nil
	tn.endText()
	d.finish(tn.run, stop)
}

// stopOf says how a turn ended.
func stopOf(reason, text string) trace.Stop {
	switch reason {
	case wire.ReasonError:
		return trace.Stop{Reason: reason, Outcome: trace.OutcomeFailed, Error: cmp.Or(text, turnFailed)}
	case wire.ReasonCanceled:
		return trace.Stop{Reason: reason, Outcome: trace.OutcomeCanceled, Error: text}
	}
	return trace.Stop{Reason: cmp.Or(reason, endTurn), Outcome: trace.OutcomeCompleted}
}
