package agentops

import (
	"bytes"
	"cmp"
	"encoding/json"

	wire "github.com/tributary-dev/tributary/agentops"
	"github.com/tributary-dev/tributary/trace"
)

// call is a tool call of a turn.
type call struct {
	id     string // the upstream's
	key    string // for the Builder
	name   string
	args   json.RawMessage
	state  callState
	asked  bool // it is behind a question or an approval
	denied bool
}

// callState says how much of a call is on record.
type callState int

const (
	callSeen  callState = iota
	callBegun           // its start
	callWhole           // its input
	callDone            // its result
)

// tool brings a call to where its status says that it is. The first word of it may
// be the last.
func (d *Decoder) tool(tn *turn, f wire.Part) {
	c := tn.calls[f.CallID]
	if c != nil && c.state == callDone {
		if f.Status != wire.ToolPending && f.Status != wire.ToolRunning {
			return
		}
		c = nil // the name of the tool stands for an id, and it is used again
	}
	if c == nil {
		if f.CallID == "" || len(f.CallID) > longestID || len(tn.order) >= mostCalls {
			return
		}
		d.moved()
		tn.endText()
		c = &call{id: f.CallID, key: tn.run.keyOf(f.CallID, tn), name: cmp.Or(f.ToolName, "tool")}
		tn.calls[f.CallID] = c
		tn.order = append(tn.order, c)
		tn.waiting++
	}
	if hasArgs(f.Args) || len(c.args) == 0 {
		c.args = f.Args
	}
	if f.Status != wire.ToolPending {
		d.releaseDeferred(tn.run, false)
	}
	switch f.Status {
	case wire.ToolCompleted:
		d.moved()
		tn.write(d, c)
		if c.denied { // the tool that asks is not what was refused: it ends well
			tn.result(c, trace.ToolResult{Status: trace.ToolDenied, Error: cmp.Or(wordsOf(f.Result), toolFailed)})
			return
		}
		tn.result(c, trace.ToolResult{Status: trace.ToolCompleted, Output: f.Result})
	case wire.ToolError:
		d.moved()
		tn.write(d, c)
		status := trace.ToolFailed
		if c.denied {
			status = trace.ToolDenied
		}
		tn.result(c, trace.ToolResult{Status: status, Error: cmp.Or(f.Error, toolFailed)})
	case wire.ToolRunning:
		if hasArgs(c.args) {
			tn.write(d, c)
			return
		}
		tn.start(d, c)
	default:
		tn.start(d, c)
	}
}

// keyOf is the key of a call: turns of one run may use the same id.
func (r *run) keyOf(id string, tn *turn) string {
	for owner, taken := r.owners[id]; taken && owner != tn; owner, taken = r.owners[id] {
		id += "~"
	}
	r.owners[id] = tn
	return id
}

func (tn *turn) start(d *Decoder, c *call) {
	if c.state >= callBegun {
		return
	}
	c.state = callBegun
	tool := d.tools.Classify(c.name, nil)
	tn.run.b.ToolCallStart(trace.ToolCallStart{ToolCallID: c.key, RawName: c.name, Name: tool.Name, ToolKind: tool.Kind})
}

func (tn *turn) write(d *Decoder, c *call) {
	if c.state >= callWhole {
		return
	}
	c.state = callWhole
	tn.run.b.ToolCall(c.record(d, c.args))
}

// record is the record of a call with an input.
func (c *call) record(d *Decoder, input json.RawMessage) trace.ToolCall {
	tool := d.tools.Classify(c.name, input)
	if !hasArgs(input) {
		input = json.RawMessage("{}")
	}
	return trace.ToolCall{
		ToolCallID: c.key, RawName: c.name, Name: tool.Name, ToolKind: tool.Kind, Title: tool.Title, Input: input, Locations: tool.Locations,
	}
}

func (tn *turn) result(c *call, r trace.ToolResult) {
	c.state = callDone
	tn.waiting--
	r.ToolCallID = c.key
	if len(r.Output) == 0 {
		r.Output = json.RawMessage("null")
	}
	tn.run.b.ToolResult(r)
}

// wordsOf is a result that is a text.
func wordsOf(result json.RawMessage) (text string) {
	_ = json.Unmarshal(result, &text)
	return text
}

// works reports whether a call of the turn has no result.
func (tn *turn) works() bool { return tn.waiting > 0 }

// hasArgs reports whether arguments say anything: often they are {} until the call
// runs.
func hasArgs(args json.RawMessage) bool {
	switch string(bytes.TrimSpace(args)) {
	case "", "null", "{}":
		return false
	}
	return true
}
