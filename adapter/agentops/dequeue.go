package agentops

import (
	"slices"

	"github.com/tributary-dev/tributary/agent"
	wire "github.com/tributary-dev/tributary/agentops"
	"github.com/tributary-dev/tributary/trace"
)

// dequeued notes that the prompt that waited is given to the agent: what it was given
// before is over, unless it is that once more.
func (d *Decoder) dequeued(f wire.StatusData, t agent.Turns) {
	d.unseen, d.asleep = false, false
	if d.era == wire.Feb { // it is February's second word of what was stopped, where something waits
		if d.twice && f.Remaining != nil {
			d.thrownOut(*f.Remaining + 1)
		}
		d.twice = false
	}
	next := d.upNext(f)
	if next == nil && d.onceMore() {
		return
	}
	for _, r := range slices.Clone(d.runs) {
		if r.prompt == nil || r.prompt != next {
			d.cut(r, t)
		}
	}
	d.unbegun(next, false, t)
	switch {
	case next != nil && next.phase == queued:
		d.give(next)
	case next == nil: // something else has waited, of which today nothing may be left to be seen
		d.unseen = d.era == wire.Feb || d.longestWaiting() != nil
	}
}

// upNext is the prompt whose turn it is, or nil if it is none that waits as far as is known.
// Today it was shown just before; in February it is the one that has waited for the longest
// time, if fewer wait now.
func (d *Decoder) upNext(f wire.StatusData) *prompt {
	if d.era == wire.Head {
		return d.justShown()
	}
	if f.Remaining != nil && *f.Remaining >= len(d.waitingThere()) {
		return nil
	}
	return d.longestWaiting()
}

// waitingThere are the prompts that wait, in order.
func (d *Decoder) waitingThere() []*prompt {
	return slices.DeleteFunc(slices.Clone(d.prompts), func(p *prompt) bool { return p.phase != queued })
}

// thrownOut withdraws the prompts that waited when everything was stopped: February throws
// them out without a word. Those that came after that are the last.
func (d *Decoder) thrownOut(left int) {
	waiting := d.waitingThere()
	for _, p := range waiting[:max(0, len(waiting)-left)] {
		d.withdraw(p)
	}
}

// justShown is the prompt whose message came last, if the agent has said nothing of it.
func (d *Decoder) justShown() *prompt {
	if p := d.lastSeen; p != nil && p.phase == given {
		return p
	}
	return nil
}

// longestWaiting is the prompt that came before the others that wait, or nil.
func (d *Decoder) longestWaiting() *prompt {
	if waiting := d.waitingThere(); len(waiting) > 0 {
		return waiting[0]
	}
	return nil
}

// unbegun ends the prompts that were given to the agent, except one, and of which nothing
// was seen.
func (d *Decoder) unbegun(except *prompt, aborted bool, t agent.Turns) {
	for _, p := range slices.Clone(d.prompts) {
		if p.phase != given || p == except {
			continue
		}
		stop := trace.Stop{Reason: endTurn, Outcome: trace.OutcomeCompleted}
		if aborted || p.abort {
			stop = halted()
		}
		if p.b == nil {
			p.phase = ended
			d.drop(p)
			continue
		}
		d.failPrompt(p, stop, t)
	}
}
