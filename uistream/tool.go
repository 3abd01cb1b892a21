package uistream

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"github.com/tributary-dev/tributary/trace"
)

// This file translates tool calls.

// inputBurst is how much of a call's input goes at once, because the clients parse
// the whole input again with every piece.
const inputBurst = 512

// call is a tool call of the turn.
type call struct {
	key             string // the id in the trace
	id, name, title string
	state           callState
	input           json.RawMessage // kept until the call is settled
	text            []byte          // input not yet sent
	hidden          bool            // a sub-agent's, which the client does not see
	continued       bool            // shown in the message before this one
	approval        string          // the approval request that the client was sent last
	allowed         bool            // somebody allowed it
	preliminary     bool            // the client has seen some output
	step            int             // the step that it was shown in
	client          bool            // the client answers it
	form            Form
	kind            trace.ToolKind
	event           string          // what began it
	subagent        string          // whose call it is, if not the agent's own
	upstream        json.RawMessage // the metadata of the call that an upstream has sent last
	since           time.Time       // when the agent made it, or zero
	ran             time.Time       // when it began to run, or zero while nobody has allowed it
}

type callState uint8

const (
	callUnseen callState = iota
	callWriting
	callRunning
	callSettled
)

func (t *Translator) call(id string) *call {
	c, ok := t.calls[id]
	if !ok {
		c = &call{key: id, id: t.freeID(id), name: "tool"}
		put(&t.calls, id, c)
		t.order = append(t.order, c)
	}
	return c
}

// freeID keeps a call apart from a question of the same name.
func (t *Translator) freeID(id string) string {
	if q, ok := t.questions[id]; ok && q.asked.id == id {
		return id + callSuffix
	}
	return id
}

// made takes over what a record says of the call.
func (t *Translator) made(c *call, kind trace.ToolKind) {
	c.kind, c.event = kind, cmp.Or(c.event, t.event)
	if c.state <= callWriting {
		c.since, c.ran = t.now, t.now
	}
}

func (c *call) named(name, rawName, title string) {
	c.name, c.title = cmp.Or(name, rawName, c.name), title
}

func (t *Translator) titleOf(c *call) string {
	if t.can.title {
		return c.title
	}
	return ""
}

func (t *Translator) callStart(p trace.ToolCallStart) {
	c := t.call(p.ToolCallID)
	if c.state != callUnseen {
		return
	}
	c.named(p.Name, p.RawName, p.Title)
	t.made(c, p.ToolKind)
	c.state = callWriting
	if c.hidden {
		return
	}
	t.writing++
	t.intoStep(c)
	t.started(c)
}

func (t *Translator) callDelta(p trace.ToolCallDelta) {
	if c, ok := t.calls[p.ToolCallID]; !ok || c.state == callUnseen {
		t.callStart(trace.ToolCallStart{ToolCallID: p.ToolCallID})
	}
	c := t.calls[p.ToolCallID]
	if c.state != callWriting || c.hidden {
		return
	}
	c.text = append(c.text, p.Delta...)
	if len(c.text) >= inputBurst {
		t.emit(ToolInputDelta{ToolCallID: c.id, Delta: string(c.text)})
		c.text = c.text[:0]
	}
}

func (t *Translator) fullCall(p trace.ToolCall) {
	c := t.call(p.ToolCallID)
	t.made(c, p.ToolKind)
	if c.continued && c.state == callRunning { // it was still being written then
		c.input = SafeJSON(p.Input)
		t.surface(c)
		return
	}
	if c.state >= callRunning {
		t.callRevised(c, p)
		return
	}
	if c.state == callUnseen { // a part keeps the name that it began with
		c.named(p.Name, p.RawName, p.Title)
	} else if p.Title != "" {
		c.title = p.Title
	}
	t.complete(c, p.Input)
}

// callRevised takes a call that its agent has changed. The clients replace a call that
// comes again in the same step, and only there. A request for it is asked again: the
// clients forget that they were asked.
func (t *Translator) callRevised(c *call, p trace.ToolCall) {
	if c.state == callSettled || c.client {
		return
	}
	input, name, title := c.input, c.name, t.titleOf(c)
	c.input = SafeJSON(p.Input)
	c.named(p.Name, p.RawName, cmp.Or(p.Title, c.title))
	same := bytes.Equal(input, c.input) && name == c.name && title == t.titleOf(c)
	if same || c.hidden || c.continued || c.step != t.steps {
		return
	}
	t.emit(t.available(c))
	if a := t.approvals[c.approval]; a != nil && !a.done && a.call == c {
		t.emit(ToolApprovalRequest{ToolCallID: c.id, ApprovalID: c.approval})
	}
}

// complete makes a call one that runs, and shows it.
func (t *Translator) complete(c *call, input json.RawMessage) {
	was := c.state
	c.state, c.input = callRunning, SafeJSON(input)
	c.text = nil
	if c.hidden {
		return
	}
	if was == callWriting {
		t.writing--
	}
	t.showCall(c)
}

func (t *Translator) showCall(c *call) {
	t.intoStep(c)
	if why, is := t.unusable[c.key]; is {
		if t.can.inputError {
			t.emit(ToolInputError{ToolCallID: c.id, ToolName: c.name, Title: t.titleOf(c), Input: c.input, ErrorText: why, Form: c.form})
			c.state, c.input = callSettled, nil
			return
		}
		c.form.Unmarked = false // nothing is to run it
	}
	t.emit(t.available(c))
}

// intoStep makes the call one that the step shows.
func (t *Translator) intoStep(c *call) {
	t.needStep()
	if c.step != t.steps {
		c.step = t.steps
		t.stepCalls = append(t.stepCalls, c)
	}
}

// surface makes sure that the client sees the call in this message.
func (t *Translator) surface(c *call) {
	switch {
	case c.hidden, c.continued:
		c.hidden, c.continued = false, false
		if c.state < callRunning {
			c.state, c.input = callRunning, json.RawMessage("{}")
		}
		t.showCall(c)
	case c.state < callRunning:
		t.complete(c, json.RawMessage("{}"))
	}
}

// preliminary shows what a running call has given so far, to clients that know of such.
func (t *Translator) preliminary(c *call, output json.RawMessage) {
	if !t.can.preliminary || c.hidden || c.continued || c.state == callSettled || c.approval != "" && !c.allowed {
		return
	}
	c.preliminary = true
	t.surface(c)
	t.emit(ToolOutputAvailable{ToolCallID: c.id, Output: output, Preliminary: true, Form: c.form})
}

func (t *Translator) callResult(p trace.ToolResult) {
	c := t.call(p.ToolCallID)
	t.endSubagent(p.ToolCallID, p.Status)
	if c.state == callSettled {
		return
	}
	if c.hidden {
		c.state, c.input = callSettled, nil
		return
	}
	t.surface(c)
	t.asked = t.asked || c.form.Unmarked && !t.options.Native
	switch {
	case c.state == callSettled: // its input was of no use
	case p.Status == trace.ToolCompleted:
		t.ended(c, ToolOutputAvailable{ToolCallID: c.id, Output: SafeJSON(p.Output), Form: c.form})
	case p.Status == trace.ToolDenied && c.approval != "" && !c.allowed && t.can.denied:
		if c.preliminary { // the refusal alone would leave that output standing
			t.emit(ToolOutputError{ToolCallID: c.id, ErrorText: failure(p), Form: c.form})
		}
		t.emit(ToolOutputDenied{ToolCallID: c.id})
	default:
		t.ended(c, ToolOutputError{ToolCallID: c.id, ErrorText: failure(p), Form: c.form})
	}
	c.state, c.input = callSettled, nil
}

func failure(p trace.ToolResult) string {
	return cmp.Or(p.Error, "The tool call ended as "+string(p.Status)+".")
}

// settleCalls ends what a message leaves open. Calls that go on in the next
// message keep their input, so that they can be shown there again.
func (t *Translator) settleCalls(why string, carry bool) {
	t.order = slices.DeleteFunc(t.order, func(c *call) bool { return c.state == callSettled })
	for _, c := range t.order {
		if c.state == callUnseen || c.hidden || c.continued {
			continue
		}
		if c.state == callWriting {
			t.complete(c, json.RawMessage("{}"))
		}
		if carry {
			t.fail(c, why)
			c.continued, c.approval = true, ""
			t.asked = t.asked || c.client
		} else {
			t.settleCall(c, why)
		}
	}
}

// settleCall ends a call that the client sees.
func (t *Translator) settleCall(c *call, why string) {
	if c.state == callSettled {
		return
	}
	c.state, c.input = callSettled, nil
	t.asked = t.asked || c.client
	t.fail(c, why)
}

// fail says in words of our own why a call gave nothing.
func (t *Translator) fail(c *call, why string) {
	t.emit(ToolOutputError{ToolCallID: c.id, ErrorText: why, Form: c.form})
}
