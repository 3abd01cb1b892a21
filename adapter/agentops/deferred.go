package agentops

import (
	"encoding/json"
	"slices"
	"strings"
)

// The session agent sends requests by a quicker way than calls and texts. So a request may come
// before the call that it is about, or before the arguments of that call. Such a request is
// deferred.

// The tools behind requests: the first asks the user, the second calls other tools by their ids.
const (
	questionTool = "question"
	callingTool  = "call_tool"
)

// isOf reports whether a request is about a call, as far as its arguments tell.
func (q request) isOf(c *call) bool {
	if q.question {
		return c.name == questionTool
	}
	var args struct {
		ToolID string `json:"tool_id"`
	}
	_ = json.Unmarshal(c.args, &args)
	return q.tool != "" && (args.ToolID == q.tool || c.name == q.tool)
}

// hasCall reports whether a request of today's session agent is about a call: a question of
// OpenCode's tool, or an action of a service. Other servers ask without a call.
func (q request) hasCall() bool {
	if q.question {
		return strings.HasPrefix(q.native, "que_")
	}
	return strings.Contains(q.tool, ":")
}

// find returns the first open call without a request of its own that a condition holds for.
func (tn *turn) find(is func(c *call) bool) *call {
	if tn == nil {
		return nil
	}
	if i := slices.IndexFunc(tn.order, func(c *call) bool { return c.state != callDone && !c.asked && is(c) }); i >= 0 {
		return tn.order[i]
	}
	return nil
}

// about finds the call that a request is about.
func (tn *turn) about(q request) *call {
	c := tn.find(q.isOf)
	if c != nil {
		c.asked = true
	}
	return c
}

// withoutArgs finds a call without arguments that a request is likely about.
func (tn *turn) withoutArgs(q request) *call {
	return tn.find(func(c *call) bool { return !hasArgs(c.args) && (q.isOf(c) || !q.question && c.name == callingTool) })
}

// early reports whether a request comes too early. Several questions of one call have its id and
// a number: they wait while the first of them does.
func (r *run) early(q request) bool {
	if call, number, several := strings.Cut(q.native, ":"); q.question && several && number != "0" {
		return slices.ContainsFunc(r.waits, func(w request) bool { return strings.HasPrefix(w.native, call+":") })
	}
	return r.turn.find(func(c *call) bool { return hasArgs(c.args) && q.isOf(c) }) == nil && (q.hasCall() || r.turn.withoutArgs(q) != nil)
}

// asking counts the requests without an answer.
func (d *Decoder) asking() int {
	n := len(d.asks)
	for _, r := range d.runs {
		n += len(r.waits)
	}
	return n
}

// dismiss forgets a deferred request.
func (r *run) dismiss(native string) (q request, was bool) {
	i := slices.IndexFunc(r.waits, func(q request) bool { return q.native == native })
	if i < 0 {
		return q, false
	}
	q = r.waits[i]
	r.waits = slices.Delete(r.waits, i, i+1)
	return q, true
}

// overtaken takes a deferred request that has its answer. The request goes on record unless a
// call shows it.
func (d *Decoder) overtaken(r *run, native string) {
	if q, was := r.dismiss(native); was && r.turn.withoutArgs(q) == nil {
		d.put(q, r)
	}
}

// releaseDeferred puts deferred requests on record that are not early any more, or all of them.
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
