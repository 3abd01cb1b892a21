package agui

import (
	"cmp"
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
	entry   *toolCall // in the conversation
	whole   bool
	done    bool
	unnamed bool   // the stream has no name for it
	doubt   bool   // the stream lacks its input or its name, which a snapshot may have
	held    *event // the result, while the call is in doubt
	refused bool
}

// input is what the call gets.
func (c *call) input() raw {
	if args := c.args.String(); isJSON(args) {
		return raw(args)
	}
	return raw("{}")
}

// known returns the call of an event, and begins one that was never announced.
func (d *Decoder) known(t *turn, e event) (string, *call) {
	e.ToolCallID = cmp.Or(e.ToolCallID, t.latest)
	if t.calls[e.ToolCallID] == nil {
		unnamed := e.ToolCallName == ""
		e.ToolCallName = cmp.Or(e.ToolCallName, "tool")
		d.callStart(t, e)
		t.calls[e.ToolCallID].unnamed = unnamed
	}
	t.latest = e.ToolCallID
	t.turnTo(callKey(t.latest))
	return t.latest, t.calls[t.latest]
}

func callKey(id string) string { return roleTool + id }

// callStart begins a call. A call that is announced again goes on.
func (d *Decoder) callStart(t *turn, e event) {
	t.latest = e.ToolCallID
	t.turnTo(callKey(t.latest))
	t.speaks()
	if t.calls[e.ToolCallID] != nil {
		return
	}
	c := &call{b: t.view(e.SubagentRunID), name: e.ToolCallName, sub: e.SubagentRunID, entry: t.said.begun(e.ToolCallID, e.ToolCallName, e.ParentMessageID, e.SubagentRunID)}
	t.calls[e.ToolCallID] = c
	t.order = append(t.order, e.ToolCallID)
	if e.SubagentRunID == "" {
		t.nextStep()
		if e.ParentMessageID != "" {
			t.b.EmitOwn(memo{ID: e.ParentMessageID}.record())
		}
	}
	if t.input.has(c.name) { // clients answer a call of the app by its output
		mark, _ := uistream.Beyond(uistream.ToolInputStart{ToolCallID: e.ToolCallID, Form: uistream.Form{Static: true, Unmarked: true}})
		c.b.EmitOwn(mark)
	}
	tool := d.tools.Classify(c.name, nil)
	c.b.ToolCallStart(trace.ToolCallStart{ToolCallID: e.ToolCallID, RawName: c.name, Name: tool.Name, ToolKind: tool.Kind})
}

// callArgs adds to the input of a call. Input after the end of the call is a repetition.
func (d *Decoder) callArgs(t *turn, e event) {
	id, c := d.known(t, e)
	text := plain(e.Delta)
	if more, again := strings.CutPrefix(text, c.args.String()); again && strings.HasPrefix(text, "{") && isJSON(text) {
		text = more // the endpoint says the whole input again
	}
	if c.whole || text == "" {
		t.b.Touch()
		return
	}
	c.args.WriteString(text)
	c.b.ToolCallDelta(id, text)
}

// callChunk begins a call, goes on with it, and ends its input once something else comes.
func (d *Decoder) callChunk(t *turn, e event) {
	d.callArgs(t, e)
	id := t.latest
	t.chunk = chunk{callKey(id), func() { d.whole(t, id) }}
}

func (d *Decoder) callEnd(t *turn, e event) {
	id, _ := d.known(t, e)
	d.whole(t, id)
}

// whole puts a call on record whose input is complete.
func (d *Decoder) whole(t *turn, id string) {
	c := t.calls[id]
	if c.whole {
		return
	}
	c.whole = true
	args := strings.TrimSpace(once(c.args.String()))
	c.args.Reset()
	c.args.WriteString(args)
	if c.doubt = len(t.doubts) < mostHeld && (c.unnamed || !isJSON(args)); c.doubt && t.correct(id, c) {
		args = c.args.String()
	} else if c.doubt {
		t.doubts = append(t.doubts, id)
	}
	whole := d.tools.Call(id, c.name, c.input())
	if args != "" && !isJSON(args) {
		whole.InputText = args
	}
	c.entry.Function.Arguments = jsonText(cmp.Or(args, "{}"))
	c.b.ToolCall(whole)
}

// callResult takes the result of a call. A result waits for the snapshot, or for the end of the run, if the
// stream lacks the call, its input or its name. An endpoint that has ended a run without a snapshot sends none.
func (d *Decoder) callResult(t *turn, e event) {
	e.ToolCallID = cmp.Or(e.ToolCallID, t.latest)
	c := t.calls[e.ToolCallID]
	if t.earlier[e.ToolCallID] && c == nil {
		t.b.Touch()
		return
	}
	t.speaks()
	if c == nil {
		s := t.named[e.ToolCallID]
		if s.call == nil && (!d.plain || len(t.unfinished()) > 0) && t.hold(e, func() { t.strays = append(t.strays, e) }) {
			return
		}
		if s.call != nil {
			e.ToolCallName, e.ParentMessageID = s.call.Function.Name, s.parent
		}
	} else if d.whole(t, e.ToolCallID); c.held != nil || c.doubt && !c.done && !d.plain && t.hold(e, func() { c.held = &e }) {
		return
	}
	d.result(t, e)
}

// result ends a call. The id of the call counts alone: some endpoints use one message id
// for several results.
func (d *Decoder) result(t *turn, e event) {
	id, c := d.known(t, e)
	d.whole(t, id)
	t.speaks()
	if c.done {
		return
	}
	c.done = true
	all := parts(e.Content)
	text := textOf(all)
	r := trace.ToolResult{ToolCallID: id, Status: trace.ToolCompleted, Output: output(text)}
	if c.refused {
		r = trace.ToolResult{ToolCallID: id, Status: trace.ToolDenied, Error: text}
	}
	if c.sub == "" {
		t.b.EmitOwn(memo{ID: e.MessageID}.record())
		t.news = true
	}
	c.b.ToolResult(r)
	for _, p := range all {
		if f, ok := p.file(); ok {
			c.b.Emit(f)
		}
	}
	t.said.result(e.MessageID, id, c.sub, e.Content, "")
}
