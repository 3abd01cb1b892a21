package agentops

import (
	"encoding/json"
	"slices"
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
		if !c.done && !c.asked && q.isOf(c) {
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

// early reports whether something is asked before the call that is likely behind it has
// its arguments. They follow at once: the session agent tells what is asked by a way that
// is quicker.
func (tn *turn) early(q asking) bool {
	if tn == nil {
		return false
	}
	empty := false
	for _, c := range tn.order {
		switch {
		case c.done, c.asked:
		case hasArgs(c.args) && q.isOf(c):
			return false
		case !hasArgs(c.args) && (q.isOf(c) || !q.question && c.name == callingTool):
			empty = true
		}
	}
	return empty
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

// ripe asks what was asked too early and is not any more; or all of it, when no
// arguments come.
func (d *Decoder) ripe(r *run, all bool) {
	waits := r.waits
	r.waits = nil
	for _, q := range waits {
		if all || !r.turn.early(q) {
			d.put(q, r)
			continue
		}
		r.waits = append(r.waits, q)
	}
}
