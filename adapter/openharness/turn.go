package openharness

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/policy/toolkind"
	"github.com/tributary-dev/tributary/trace"
)

// language is what a server speaks.
type language int

const (
	unknown language = iota
	kernel
	chunks
	scaffold
)

// turn is a prompt and what becomes of it.
type turn struct {
	b        *trace.Builder
	tools    toolkind.Table
	language language
	runs     map[string]*run
	steps    map[*run]bool // that are in the step
	flow     bool          // the flow says how it goes
	name     string        // of the flow
	stopped  bool          // a person has stopped the flow
	failure  string        // that the flow may survive
	why      string        // the newest failure
	class    trace.Class   // of the newest failure
	usage    trace.Usage   // of all runs
	pause    *agentkit.Asked
	called   string // the call of the chunk before
	gap      bool   // the connection was lost, and no event has come since
	asked    map[string]request

	session string          // of Open Scaffold
	seen    map[string]bool // events of the log
	earlier earlier
}

// earlier is what is on record of a turn of an earlier process.
type earlier struct {
	agent.OpenTurn
	step     string          // the event that began the newest step
	answered map[string]bool // requests that have an answer at the server
}

func newTurn(l language, b *trace.Builder, tools toolkind.Table) *turn {
	b.StepAfterResults()
	return &turn{language: l, b: b, tools: tools, runs: map[string]*run{}, steps: map[*run]bool{}, asked: map[string]request{}, seen: map[string]bool{}}
}

// run returns one run of one node.
func (t *turn) run(node, id string) *run {
	key := node + "\x00" + id
	r := t.runs[key]
	if r == nil {
		r = &run{t: t, name: cmp.Or(id, node, "run"), deltas: map[bool][]byte{}}
		t.runs[key] = r
		agentkit.CountKept(t.b, key, r.name)
	}
	return r
}

// begin begins the step of a run. Runs at the same time share a step, because the end of a
// step would end the texts of all.
func (t *turn) begin(r *run, name, native string) {
	if len(t.steps) == 0 {
		t.b.StepStart(trace.Step{Name: name, NativeID: native})
	}
	t.steps[r] = true
}

// leave ends the part of a run in its step.
func (t *turn) leave(r *run) {
	r.close()
	was := t.steps[r]
	delete(t.steps, r)
	if was && len(t.steps) == 0 {
		t.b.StepEnd()
	}
}

// domain is an event of the flow beside the conversation. Streams show those that they are
// configured to show.
func (t *turn) domain(name string, value any) {
	t.b.Emit(trace.Data{Name: name, Value: agentkit.Encode(value), Domain: true})
}

func (t *turn) status(status, flow string) {
	t.name = cmp.Or(flow, t.name)
	t.domain("flow-status", struct {
		Status string `json:"status"`
		Flow   string `json:"flowName,omitempty"`
	}{status, t.name})
}

// fail keeps a failure back that the flow may survive: an agent is tried again, or another
// branch goes on. A node repeats the words of its agent, and the agent alone tells the class.
func (t *turn) fail(sentence string, class trace.Class) {
	if class != "" || t.why == "" || !strings.Contains(sentence, t.why) {
		t.class = class
	}
	t.failure, t.why = sentence, sentence
}

// survived tells the failure that has ended nothing.
func (t *turn) survived() {
	if t.failure != "" {
		t.b.Emit(trace.Error{Message: t.failure})
		t.failure = ""
	}
}

// end ends the turn.
func (t *turn) end(reason string, outcome trace.Outcome, sentence string) {
	if outcome != trace.OutcomeFailed {
		t.survived()
	}
	if t.usage != (trace.Usage{Scope: trace.UsageTurn, Model: t.usage.Model}) && t.usage.Scope != "" {
		t.b.Emit(t.usage)
	}
	stop := trace.Stop{Reason: reason, Outcome: outcome, Error: sentence}
	if sentence == t.why {
		stop.Class = t.class
	}
	t.b.End(stop)
}

// finish ends the turn of a stream that tells no outcome. A command to stop in a recording
// may have come after the end.
func (t *turn) finish(recorded bool) {
	switch {
	case t.stopped && !recorded:
		t.end("stopped", trace.OutcomeCanceled, "")
	case t.failure != "":
		t.end("error", trace.OutcomeFailed, t.failure)
	default:
		t.end("stop", trace.OutcomeCompleted, "")
	}
}

// call puts a call of a tool on record.
func (t *turn) call(id, name string, input raw) {
	if len(input) == 0 {
		input = raw("{}")
	}
	k := t.tools.Classify(name, input)
	t.b.ToolCall(trace.ToolCall{ToolCallID: id, RawName: name, Name: k.Name, ToolKind: k.Kind, Title: k.Title, Input: input, Locations: k.Locations})
}

// result ends a call; failed says why the call failed, or is empty.
func (t *turn) result(id string, output raw, failed string) {
	r := trace.ToolResult{ToolCallID: id, Status: trace.ToolCompleted, Output: output, Error: failed}
	if failed != "" {
		r.Status = trace.ToolFailed
	}
	t.b.ToolResult(r)
}

// plain is JSON as a person reads it: a string as its text, and nothing for nothing.
func plain(v raw) string {
	var s string
	switch {
	case len(v) == 0 || string(v) == "null":
		return ""
	case json.Unmarshal(v, &s) == nil:
		return s
	}
	var e struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(v, &e) == nil && e.Message != "" {
		return e.Message
	}
	return string(v)
}
