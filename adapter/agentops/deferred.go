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
func (m *message) find(is func(c *call) bool) *call {
	if m == nil {
		return nil
	}
	if i := slices.IndexFunc(m.order, func(c *call) bool { return c.state != callDone && !c.asked && is(c) }); i >= 0 {
		return m.order[i]
	}
	return nil
}

// about finds the call that a request is about.
func (m *message) about(q request) *call {
	c := m.find(q.isOf)
	if c != nil {
		c.asked = true
	}
	return c
}

// withoutArgs finds a call without arguments that a request is likely about.
func (m *message) withoutArgs(q request) *call {
	return m.find(func(c *call) bool { return !hasArgs(c.args) && (q.isOf(c) || !q.question && c.name == callingTool) })
}

// early reports whether a request comes too early. Several questions of one call have its id and
// a number: they wait while the first of them does.
func (t *turn) early(q request) bool {
	if call, number, several := strings.Cut(q.native, ":"); q.question && several && number != "0" {
		return slices.ContainsFunc(t.deferred, func(w request) bool { return strings.HasPrefix(w.native, call+":") })
	}
	return t.message.find(func(c *call) bool { return hasArgs(c.args) && q.isOf(c) }) == nil && (q.hasCall() || t.message.withoutArgs(q) != nil)
}

// asking counts the requests without an answer.
func (d *Decoder) asking() int {
	n := len(d.asks)
	for t := range d.running() {
		n += len(t.deferred)
	}
	return n
}

// dismiss forgets a deferred request.
func (t *turn) dismiss(native string) (q request, was bool) {
	i := slices.IndexFunc(t.deferred, func(q request) bool { return q.native == native })
	if i < 0 {
		return q, false
	}
	q = t.deferred[i]
	t.deferred = slices.Delete(t.deferred, i, i+1)
	return q, true
}

// overtaken takes a deferred request that has its answer. The request goes on record unless a
// call shows it.
func (d *Decoder) overtaken(t *turn, native string) {
	if q, was := t.dismiss(native); was && t.message.withoutArgs(q) == nil {
		d.put(q, t)
	}
}

// release puts deferred requests on record that are not early any more, or all of them.
func (d *Decoder) release(t *turn, all bool) {
	waits := t.deferred
	t.deferred = nil
	for _, q := range waits {
		if all || !t.early(q) {
			d.put(q, t)
			continue
		}
		t.deferred = append(t.deferred, q)
	}
}
