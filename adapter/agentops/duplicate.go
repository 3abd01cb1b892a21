package agentops

import (
	"slices"
)

// redispatched reports whether what was given to the agent is what it has already, if it is no
// prompt that waited: after a start, or the loss of its runner, a session agent gives the
// runner once more what it was at. Today's runner, if it still is, says that it is done,
// and goes on.
func (d *Decoder) redispatched() bool {
	once := slices.ContainsFunc(d.prompts, func(p *prompt) bool { return p.phase == given })
	for _, r := range d.runs {
		if r.prompt != nil && r.course != stopping && r.verdict == nil {
			d.goesOn(r)
			r.doubts(givenAgain)
			once = true
		}
	}
	return once
}

// goesOn takes it back that the agent was idle, unless nothing comes after that.
func (d *Decoder) goesOn(r *run) {
	r.on(resumes)
	if r.turn != nil && !r.turn.away {
		r.turn.flush()
	}
}

// goesOnOr ends a run that may have ended unseen, if nothing has come of it since and no
// tool of it is at work.
func (d *Decoder) goesOnOr(r *run) {
	ended := r.doubt == maybeOver && !r.turn.works()
	r.doubts(cleared)
	if ended {
		d.cut(r)
		return
	}
	d.goesOn(r)
}

// duplicateEnd reports whether it is once more told that what was stopped is over, or that of
// what was given once more. By then the next prompt may have been given to the agent, and
// it has said nothing of an end.
func (d *Decoder) duplicateEnd() bool {
	again, goesOn := d.endAgain, len(d.runs) > 0
	d.endAgain = false
	for _, r := range d.runs {
		if r.course == stopping || r.verdict != nil {
			return false
		}
		again = again || r.doubt == givenTwice
	}
	for _, p := range d.prompts {
		if p.abort {
			return false
		}
		goesOn = goesOn || p.phase == given
	}
	if !again || !goesOn { // where nothing is known to run, it ends what is not
		return false
	}
	for _, r := range d.runs {
		r.doubts(repeats)
		d.goesOn(r)
	}
	return true
}
