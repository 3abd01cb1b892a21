package agentops

import (
	"bytes"
	"cmp"
	"encoding/json"

	"github.com/tributary-dev/tributary/adapter/agentops/wire"
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
func (d *Decoder) tool(m *message, f wire.Part) {
	c := m.calls[f.CallID]
	if c != nil && c.state == callDone {
		if f.Status != wire.ToolPending && f.Status != wire.ToolRunning {
			return
		}
		c = nil // the name of the tool stands for an id, and it is used again
	}
	if c == nil {
		if f.CallID == "" || len(f.CallID) > longestID || len(m.order) >= mostCalls {
			return
		}
		d.moved()
		m.endText()
		c = &call{id: f.CallID, key: m.turn.keyOf(f.CallID, m), name: cmp.Or(f.ToolName, "tool")}
		m.calls[f.CallID] = c
		m.order = append(m.order, c)
		m.waiting++
	}
	if hasArgs(f.Args) || len(c.args) == 0 {
		c.args = f.Args
	}
	if f.Status != wire.ToolPending {
		d.release(m.turn, false)
	}
	switch f.Status {
	case wire.ToolCompleted:
		d.moved()
		m.write(d, c)
		if c.denied { // the tool that asks is not what was refused: it ends well
			m.result(c, trace.ToolResult{Status: trace.ToolDenied, Error: cmp.Or(wordsOf(f.Result), toolFailed)})
			return
		}
		m.result(c, trace.ToolResult{Status: trace.ToolCompleted, Output: f.Result})
	case wire.ToolError:
		d.moved()
		m.write(d, c)
		status := trace.ToolFailed
		if c.denied {
			status = trace.ToolDenied
		}
		m.result(c, trace.ToolResult{Status: status, Error: cmp.Or(f.Error, toolFailed)})
	case wire.ToolRunning:
		if hasArgs(c.args) {
			m.write(d, c)
			return
		}
		m.start(d, c)
	default:
		m.start(d, c)
	}
}

// keyOf is the key of a call: turns of one run may use the same id.
func (t *turn) keyOf(id string, m *message) string {
	for owner, taken := t.owners[id]; taken && owner != m; owner, taken = t.owners[id] {
		id += "~"
	}
	t.owners[id] = m
	return id
}

func (m *message) start(d *Decoder, c *call) {
	if c.state >= callBegun {
		return
	}
	c.state = callBegun
	tool := d.tools.Classify(c.name, nil)
	m.turn.b.ToolCallStart(trace.ToolCallStart{ToolCallID: c.key, RawName: c.name, Name: tool.Name, ToolKind: tool.Kind})
}

func (m *message) write(d *Decoder, c *call) {
	if c.state >= callWhole {
		return
	}
	c.state = callWhole
	m.turn.b.ToolCall(c.record(d, c.args))
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

func (m *message) result(c *call, r trace.ToolResult) {
	c.state = callDone
	m.waiting--
	r.ToolCallID = c.key
	if len(r.Output) == 0 {
		r.Output = json.RawMessage("null")
	}
	m.turn.b.ToolResult(r)
}

// wordsOf is a result that is a text.
func wordsOf(result json.RawMessage) (text string) {
	_ = json.Unmarshal(result, &text)
	return text
}

// hasArgs reports whether arguments say anything: often they are {} until the call
// runs.
func hasArgs(args json.RawMessage) bool {
	switch string(bytes.TrimSpace(args)) {
	case "", "null", "{}":
		return false
	}
	return true
}
