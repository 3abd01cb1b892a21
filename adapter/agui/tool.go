package agui

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/tributary-dev/tributary/trace"
	"github.com/tributary-dev/tributary/uistream"
)

// call is a call of a tool.
type call struct {
	b       *trace.Builder
	name    string
	sub     string
	args    strings.Builder
	entry   *toolCall
	whole   bool
	done    bool
	refused bool
}

// input is what the call gets.
func (c *call) input() raw {
	if args := c.args.String(); json.Valid([]byte(args)) {
		return raw(args)
	}
	return raw("{}")
}

// known returns the call of an event, and begins one that was never announced.
func (d *Decoder) known(t *turn, e event) (string, *call) {
	id := cmp.Or(e.ToolCallID, t.latest)
	if t.calls[id] == nil {
		e.ToolCallID, e.ToolName = id, cmp.Or(e.ToolName, "tool")
		_ = d.callStart(t, e)
	}
	t.latest = id
	return id, t.calls[id]
}

// callStart begins a call. A call that is announced again goes on.
func (d *Decoder) callStart(t *turn, e event) error {
	t.latest, t.speech.some = e.ToolCallID, true
	if t.calls[e.ToolCallID] != nil {
		return nil
	}
	c := &call{b: t.view(e.Sub), name: e.ToolName, sub: e.Sub, entry: t.said.begun(e.ToolCallID, e.ToolName, e.Parent, e.Sub)}
	t.calls[e.ToolCallID] = c
	t.order = append(t.order, e.ToolCallID)
	if e.Sub == "" {
		t.nextStep()
	}
	if e.Sub == "" && e.Parent != "" {
		t.b.Emit(memo{Parent: e.Parent}.record())
	}
	if t.input.has(c.name) {
		c.b.Emit(ofTheApp(e.ToolCallID))
	}
	tool := d.tools.Classify(c.name, nil)
	c.b.ToolCallStart(trace.ToolCallStart{ToolCallID: e.ToolCallID, RawName: c.name, Name: tool.Name, ToolKind: tool.Kind})
	return nil
}

// ofTheApp marks a call as one that the app runs: clients answer it by its output.
func ofTheApp(call string) trace.Data {
	mark, _ := uistream.Beyond(uistream.ToolInputStart{ToolCallID: call, Form: uistream.Form{Static: true, Unmarked: true}})
	return mark
}

// callArgs adds to the input of a call. Input after the end of the call is a repetition.
func (d *Decoder) callArgs(t *turn, e event) error {
	id, c := d.known(t, e)
	text := e.text()
	if c.whole || text == "" {
		return d.touch(t, e)
	}
	c.args.WriteString(text)
	c.b.ToolCallDelta(id, text)
	return nil
}

func (d *Decoder) callEnd(t *turn, e event) error {
	id, _ := d.known(t, e)
	d.whole(t, id)
	return nil
}

// whole puts a call on record whose input is complete.
func (d *Decoder) whole(t *turn, id string) {
	c := t.calls[id]
	if c.whole {
		return
	}
	c.whole = true
	args := strings.TrimSpace(c.args.String())
	whole := d.tools.Call(id, c.name, c.input())
	if args != "" && !json.Valid([]byte(args)) {
		whole.InputText = args
	}
	c.entry.Function.Arguments = cmp.Or(args, "{}")
	c.b.ToolCall(whole)
}

// callResult ends a call. The id of the call counts alone: some endpoints use one message id
// for several results.
func (d *Decoder) callResult(t *turn, e event) error {
	if t.earlier[e.ToolCallID] && t.calls[e.ToolCallID] == nil {
		return d.touch(t, e)
	}
	id, c := d.known(t, e)
	d.whole(t, id)
	t.speech.some = true
	if c.done {
		return nil
	}
	c.done = true
	all := parts(e.Content)
	text := textOf(all)
	r := trace.ToolResult{ToolCallID: id, Status: trace.ToolCompleted, Output: output(text)}
	if c.refused {
		r = trace.ToolResult{ToolCallID: id, Status: trace.ToolDenied, Error: text}
	}
	if c.sub == "" {
		t.b.Emit(memo{ID: e.MessageID}.record())
		t.news = true
	}
	c.b.ToolResult(r)
	for _, p := range all {
		if f, ok := p.file(); ok {
			c.b.Emit(f)
		}
	}
	t.said.result(e.MessageID, id, c.sub, e.Content, "")
	return nil
}

// output is a result: an object or a list if the text is one.
func output(text string) raw {
	if s := strings.TrimSpace(text); (strings.HasPrefix(s, "{") || strings.HasPrefix(s, "[")) && json.Valid([]byte(s)) {
		return raw(s)
	}
	return encode(text)
}
