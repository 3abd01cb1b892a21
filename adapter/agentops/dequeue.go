package agentops

import (
	"slices"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/trace"
)

// dequeued notes that the prompt that waited is given to the agent: what it was given
// before is over, unless it is that once more.
func (d *Decoder) dequeued(t agent.Turns) {
	d.unseen, d.asleep = false, false
	next := d.justShown()
	if next == nil && d.redispatched() {
		return
	}
	for _, r := range slices.Clone(d.runs) {
		if r.prompt == nil || r.prompt != next {
			d.cut(r, t)
		}
	}
	d.unbegun(next, t)
	if next == nil { // something else has waited, of which nothing may be left to be seen
		d.unseen = len(d.waitingThere()) > 0
	}
}

// waitingThere are the prompts that wait, in order.
func (d *Decoder) waitingThere() []*prompt {
	return slices.DeleteFunc(slices.Clone(d.prompts), func(p *prompt) bool { return p.phase != queued })
}

// justShown is the prompt whose message came last, if the agent has said nothing of it.
func (d *Decoder) justShown() *prompt {
	if p := d.lastSeen; p != nil && p.phase == given {
		return p
	}
	return nil
}

// unbegun ends the prompts that were given to the agent, except one, and of which nothing
// was seen.
func (d *Decoder) unbegun(except *prompt, t agent.Turns) {
	for _, p := range slices.Clone(d.prompts) {
		if p.phase != given || p == except {
			continue
		}
		stop := trace.Stop{Reason: endTurn, Outcome: trace.OutcomeCompleted}
		if p.abort {
			stop = halted()
		}
		if p.b == nil {
			p.on(ends)
			d.drop(p)
			continue
		}
		d.failPrompt(p, stop, t)
	}
}
