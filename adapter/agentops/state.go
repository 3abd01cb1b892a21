package agentops

import (
	"slices"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/trace"
)

// effects are what came that a running session has to act on.
type effects struct {
	// asks are to be answered, except those that the policy decided: these are to be
	// told to the session agent.
	asks []*ask
	// settled are asks, by their native ids, that need no answer any more.
	settled []string
	// again are asks, by their native ids, that were told once more: whatever was
	// answered did not arrive.
	again []string
	// unknown are the types of frames that nobody knows: the protocol has moved on.
	unknown []string
}

// mostEffects bounds what waits to be taken; nobody takes it from a recording.
const mostEffects = 256

func (n *effects) strange(typ string) {
	if len(n.unknown) < mostEffects {
		n.unknown = append(n.unknown, typ)
	}
}

func (n *effects) settle(native string) {
	if n.settled = append(n.settled, native); len(n.settled) > mostEffects {
		n.settled = slices.Delete(n.settled, 0, 1)
	}
}

// take returns what came since it was called last.
func (d *Decoder) take() effects {
	fresh := d.fresh
	d.fresh = effects{}
	return fresh
}

// phase says what became of the prompt whose turn b is.
func (d *Decoder) phase(b *trace.Builder) phase {
	if b.Over() {
		return ended
	}
	for _, p := range d.prompts {
		if p.b != nil && p.b.Turn() == b.Turn() {
			return p.phase
		}
	}
	for _, r := range d.runs {
		if r.b.Turn() == b.Turn() {
			if r.verdict != nil {
				return finishing
			}
			return running
		}
	}
	return 0
}

// waking reports whether the session is on its way up.
func (d *Decoder) waking() bool { return d.asleep }

// AtEnd ends what only waited for a last word, when nothing comes any more.
func (d *Decoder) AtEnd(t agent.Turns) { d.settle(t) }

// settle ends what only waits for a last word, and the wait for a second one.
func (d *Decoder) settle(t agent.Turns) {
	d.twice = false
	for _, r := range slices.Clone(d.runs) {
		switch {
		case r.verdict != nil || r.course == stopping:
			d.cut(r, t)
		case r.doubt == maybeOver || r.doubt == alive:
			d.goesOnOr(r, t)
		case r.doubt == overUnseen:
			d.end(r, interruptedStop())
		default:
			d.releaseDeferred(r, true)
		}
	}
}
