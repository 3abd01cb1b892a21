package agentops

import (
	"cmp"
	"fmt"
	"unicode/utf8"

	"github.com/tributary-dev/tributary/agent"
	wire "github.com/tributary-dev/tributary/agentops"
	"github.com/tributary-dev/tributary/trace"
)

// turn is a turn of the upstream: one message of the assistant.
type turn struct {
	id      string
	run     *run
	blocks  []block
	said    int  // bytes in blocks
	deaf    bool // too much was said to compare it with anything
	calls   map[string]*call
	order   []*call
	waiting int  // calls without a result
	tooled  bool // a tool came after the last block

	// What comes while something may have been missed is held until the whole
	// message has come, or until it is clear that nothing will.
	away bool // the connection was lost in the middle of it
	held string
}

// block is a text between tools.
type block struct {
	key  string
	text []byte // it grows by very many small pieces
}

const (
	mostCalls = 10_000
	mostHeld  = 1 << 20
	mostSaid  = 16 << 20
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
func (tn *turn) empty() bool { return len(tn.blocks) == 0 && len(tn.calls) == 0 && tn.held == "" }

// chunk takes more text.
func (d *Decoder) chunk(f wire.Chunk, t agent.Turns) {
	tn := d.unknown(f.MessageID, channelOf(f.Channel, ""), t)
	if tn == nil || tn.run.course == stopping {
		return
	}
	d.moved()
	switch {
	case tn.away, tn.run.course == idling:
		if len(tn.held)+len(f.Content) <= mostHeld {
			tn.held = join(tn.held, string(f.Content))
		}
		tn.run.b.Touch()
	default:
		tn.grow(string(f.Content))
	}
}

// grow adds text to the last block, or to a new one after a tool.
func (tn *turn) grow(text string) {
	if text == "" {
		tn.run.b.Touch()
		return
	}
	if len(tn.blocks) == 0 || tn.tooled {
		tn.blocks = append(tn.blocks, block{key: fmt.Sprintf("%s/%d", tn.id, len(tn.blocks))})
		tn.tooled = false
	}
	b := &tn.blocks[len(tn.blocks)-1]
	tn.run.b.MessageDelta(b.key, text)
	if tn.said += len(text); tn.said > mostSaid {
		tn.deaf = true
	}
	if !tn.deaf {
		b.text = add(b.text, text)
	}
}

// endText ends the block that is open: text after a tool is another one.
func (tn *turn) endText() {
	if len(tn.blocks) > 0 && !tn.tooled {
		tn.run.b.MessageEnd(tn.blocks[len(tn.blocks)-1].key)
	}
	tn.tooled = true
}

// flush lets go of what was held. After an abort it is late, and dropped.
func (tn *turn) flush() {
	held := tn.held
	tn.held, tn.away = "", false
	if held != "" && tn.run.course != stopping && !(tn.run.course == idling && tn.run.verdict == nil) {
		tn.grow(held)
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

// join adds text to text. Half a character at the end of the one and the other half
// at the beginning of the next become one, as in a snapshot of the whole.
func join(a, b string) string { return string(add([]byte(a), b)) }

func add(a []byte, b string) []byte {
	if len(a) >= 3 && len(b) >= 3 && a[len(a)-3] == 0xED && a[len(a)-2]&0xF0 == 0xA0 && b[0] == 0xED && b[1]&0xF0 == 0xB0 {
		hi := rune(a[len(a)-2]&0x0F)<<6 | rune(a[len(a)-1]&0x3F)
		lo := rune(b[1]&0x0F)<<6 | rune(b[2]&0x3F)
		return append(utf8.AppendRune(a[:len(a)-3], hi<<10+lo+0x10000), b[3:]...)
	}
	return append(a, b...)
}
