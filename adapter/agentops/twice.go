package agentops

import wire "github.com/tributary-dev/tributary/agentops"

// onceMore reports whether what was given to the agent is what it has already: today's
// session agent shows a prompt before it says that it has waited, and after a start gives
// the runner once more what it was at. A runner that still is says that it is done, and
// goes on.
func (d *Decoder) onceMore() bool {
	if d.era != wire.Head {
		return false
	}
	once := false
	for _, r := range d.runs {
		if r.prompt != nil && !r.abort && r.verdict == nil {
			r.goesOn()
			once = true
		}
	}
	d.twice = d.twice || once
	return once
}

// goesOn takes it back that the agent was idle.
func (r *run) goesOn() {
	r.idle = false
	if r.turn != nil && !r.turn.away {
		r.turn.flush()
	}
}

// again reports whether it is once more told that what was stopped is over, or that of
// what was given once more. By then the next prompt may have been given to the agent, and
// it has said nothing of an end.
func (d *Decoder) again() bool {
	if !d.twice {
		return false
	}
	d.twice = false
	for _, r := range d.runs {
		if r.abort || r.verdict != nil {
			return false
		}
	}
	for _, p := range d.prompts {
		if p.abort {
			return false
		}
	}
	for _, r := range d.runs {
		r.goesOn()
	}
	return true
}
