package agentops

import (
	"cmp"
	"fmt"
	"iter"
	"slices"

	"github.com/tributary-dev/tributary/adapter/agentops/wire"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/trace"
)

// turn is somebody's prompt, from when it is known, and all that the agent does with it. The
// prompt of a turn that began unseen is not known.
type turn struct {
	b       *trace.Builder // nil before the turn begins here
	phase   phase
	id      string // the upstream's id of the prompt; "" until it is known
	own     bool   // it was sent from here
	content string
	channel string
	author  string
	sender  string // of one that was sent from here: the server's id of its user
	parts   []trace.InputPart
	number  int        // of a prompt that is known
	since   wire.Stamp // when the server has shown it
	stopped bool       // it was withdrawn from here
	answers bool       // it may be taken for the answer to a question of its channel

	// Of a turn that was open before a restart:
	left   bool
	native []string // the upstream's messages that are on record, in order
	texts  int      // how many of their texts were found again

	// Of a turn that runs:
	message  *message // the newest
	owners   map[string]*message
	deferred []request
	verdict  *trace.Stop // how it ended, while a last word is awaited
	course   course
	ending   ending
}

// turnID is a Builder, which may be over.
type turnID interface{ Turn() string }

// turnOf finds the turn of a Builder, or nil.
func (d *Decoder) turnOf(b turnID) *turn {
	return d.first(func(t *turn) bool { return t.b != nil && t.b.Turn() == b.Turn() })
}

// fate is the phase of a turn, also after its Builder was ended; 0 if the turn is over.
func (d *Decoder) fate(b turnID) phase {
	if t := d.turnOf(b); t != nil {
		return t.phase
	}
	return 0
}

func (d *Decoder) byID(id string) *turn {
	return d.first(func(t *turn) bool { return id != "" && t.id == id })
}

// first returns the first open turn that a condition holds for, or nil.
func (d *Decoder) first(is func(*turn) bool) *turn {
	if i := slices.IndexFunc(d.turns, is); i >= 0 {
		return d.turns[i]
	}
	return nil
}

// in returns the turns of a phase, and running those that run.
func (d *Decoder) in(p phase) []*turn {
	return slices.DeleteFunc(slices.Clone(d.turns), func(t *turn) bool { return t.phase != p })
}

func (d *Decoder) running() iter.Seq[*turn] {
	return func(yield func(*turn) bool) {
		for _, t := range d.turns {
			if t.runs() && !yield(t) {
				return
			}
		}
	}
}

// prompted reports whether the prompt of a turn is known.
func (t *turn) prompted() bool { return t.number > 0 }

func (t *turn) inQueue() bool { return t.phase == queued || t.phase == promoted }

func (t *turn) runs() bool { return t.phase == running || t.phase == finishing }

// idle reports whether no turn runs.
func (d *Decoder) idle() bool { return d.first((*turn).runs) == nil }

// busy reports whether a turn is open.
func (d *Decoder) busy() bool {
	return d.first(func(t *turn) bool { return t.runs() || t.b != nil && !t.b.Over() }) != nil
}

// newestRunning returns the newest turn that runs and that a condition holds for, or nil.
func (d *Decoder) newestRunning(is func(*turn) bool) *turn {
	for _, t := range slices.Backward(d.turns) {
		if t.runs() && is(t) {
			return t
		}
	}
	return nil
}

// active returns the newest turn that runs in a channel, or nil.
func (d *Decoder) active(channel string) *turn {
	return d.newestRunning(func(t *turn) bool { return t.channel == channel })
}

// about finds the turn that a frame without a message is about: that of the prompt it names, or
// the newest of the channel it names, or the newest.
func (d *Decoder) about(promptID string, c wire.Channel) *turn {
	if t := d.byID(promptID); t != nil && t.runs() {
		return t
	}
	return d.newestRunning(func(t *turn) bool { return c == (wire.Channel{}) || t.channel == c.Name("") })
}

// next is the turn that the agent begins in a channel: one that it was given, else one that was
// sent. If the beginning was not seen, the turn may be one that ran before.
func (d *Decoder) next(channel string, seen bool) *turn {
	for _, want := range []phase{given, sent, queued, promoted} {
		t := d.first(func(t *turn) bool { return t.channel == channel && t.phase == want })
		if t != nil && (want == given && seen || !d.unseen) {
			return t
		}
	}
	return nil
}

// free returns a Builder that no turn has, or nil.
func (d *Decoder) free(b *trace.Builder) *trace.Builder {
	if b == nil || b.Over() || d.fate(b) != 0 {
		return nil
	}
	return b
}

// begin begins a turn, or one of an unknown prompt if it is nil. It returns nil for a turn that
// is left out.
func (d *Decoder) begin(t *turn, channel string, to agent.Turns) *turn {
	if all := slices.Collect(d.running()); len(all) >= mostRuns {
		d.cut(all[max(0, slices.IndexFunc(all, func(t *turn) bool { return !t.own }))])
	}
	info := agent.TurnInfo{Reason: "upstream", Concurrent: !d.idle()}
	if t == nil {
		t = &turn{phase: given}
	} else {
		info.Prompt, info.Reason = t.info(), ""
	}
	if t.b == nil && t.own {
		t.b = d.free(to.Current())
	}
	if t.b == nil {
		if d.ownOnly && !t.own {
			d.drop(t)
			d.unseen = true
			return nil
		}
		if t.b = to.Begin(info); t.b == nil {
			return nil
		}
	}
	t.b.StepAfterResults()
	t.channel, t.owners = channel, map[string]*message{}
	t.on(begins)
	d.asleep, d.lastErr = false, ""
	d.turns = append(slices.DeleteFunc(d.turns, func(o *turn) bool { return o == t }), t)
	d.stir()
	return t
}

// info is what a turn begins with.
func (t *turn) info() *trace.Prompt {
	id := cmp.Or(t.id, fmt.Sprintf("prompt-%d", t.number))
	return &trace.Prompt{Message: trace.UserMessage{ID: id, Parts: t.parts}, By: t.author, Channel: t.channel}
}

// drop forgets a turn.
func (d *Decoder) drop(t *turn) {
	d.turns = slices.DeleteFunc(d.turns, func(o *turn) bool { return o == t })
	if t.id != "" {
		d.forget(t.id)
	}
}

// forget keeps of a message, a prompt or a request no more than that it is over.
func (d *Decoder) forget(id string) {
	if m, known := d.messages[id]; known && m == nil {
		return
	}
	d.messages[id] = nil
	d.past = append(d.past, id)
	if len(d.past) > mostPast {
		delete(d.messages, d.past[0])
		d.past = slices.Delete(d.past, 0, 1)
	}
}
