package agentops

import (
	"encoding/json"
	"slices"
	"strings"
)

// The tools behind what is asked: one asks the user, the other calls whatever is allowed
// to it, and says what in its arguments.
const (
	questionTool = "question"
	callingTool  = "call_tool"
)

// about finds the call that is behind what is asked.
func (tn *turn) about(q asking) *call {
	for _, c := range tn.order {
		if c.state != callDone && !c.asked && q.isOf(c) {
			c.asked = true
			return c
		}
	}
	return nil
}

// isOf reports whether what is asked is about a call, as far as its arguments tell.
func (q asking) isOf(c *call) bool {
	if q.question {
		return c.name == questionTool
	}
	var args struct {
		ToolID string `json:"tool_id"`
	}
	_ = json.Unmarshal(c.args, &args)
	return q.tool != "" && (args.ToolID == q.tool || c.name == q.tool)
}

// early reports whether something is asked too early. Several questions of one call have
// its id and a number: they wait while the first of them does.
func (r *run) early(q asking) bool {
	if call, number, several := strings.Cut(q.native, ":"); q.question && several && number != "0" {
		return slices.ContainsFunc(r.waits, func(w asking) bool { return strings.HasPrefix(w.native, call+":") })
	}
	return r.turn.early(q)
}

// early reports whether something is asked before the call that is likely behind it has
// its arguments, or is told at all, as may be the text before it. They follow at once: the
// session agent tells what is asked by a way that is quicker.
func (tn *turn) early(q asking) bool {
	if tn == nil {
		return q.hasCall()
	}
	whole := func(c *call) bool { return c.state != callDone && !c.asked && hasArgs(c.args) && q.isOf(c) }
	return !slices.ContainsFunc(tn.order, whole) && (q.hasCall() || tn.empties(q))
}

// empties reports whether there is a call without arguments that is likely behind what is
// asked.
func (tn *turn) empties(q asking) bool {
	return tn != nil && slices.ContainsFunc(tn.order, func(c *call) bool {
		return c.state != callDone && !c.asked && !hasArgs(c.args) && (q.isOf(c) || !q.question && c.name == callingTool)
	})
}

// hasCall reports whether a call is behind what today's session agent asks, whether or not
// it was told: behind what the question tool of OpenCode asks, and behind an action of a
// service. What others ask who speak its frames may have none.
func (q asking) hasCall() bool {
	if q.question {
		return strings.HasPrefix(q.native, "que_")
	}
	return strings.Contains(q.tool, ":")
}

// asking counts what has no answer, whether or not it was asked too early.
func (d *Decoder) asking() int {
	n := len(d.asks)
	for _, r := range d.runs {
		n += len(r.waits)
	}
	return n
}

// dismiss forgets what was asked too early, and is told again or has its answer.
func (r *run) dismiss(native string) {
	r.waits = slices.DeleteFunc(r.waits, func(q asking) bool { return q.native == native })
}

// overtaken takes it off what waits that has its answer. Where no call was told that shows
// it, it goes on record.
func (d *Decoder) overtaken(r *run, native string) {
	i := slices.IndexFunc(r.waits, func(q asking) bool { return q.native == native })
	if i < 0 {
		return
	}
	q := r.waits[i]
	r.dismiss(native)
	if !r.turn.empties(q) {
		d.put(q, r)
	}
}

// releaseDeferred asks what was asked too early and is not any more; or all of it, when no
// arguments come.
func (d *Decoder) releaseDeferred(r *run, all bool) {
	waits := r.waits
	r.waits = nil
	for _, q := range waits {
		if all || !r.early(q) {
			d.put(q, r)
			continue
		}
		r.waits = append(r.waits, q)
	}
}
