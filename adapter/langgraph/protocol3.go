package langgraph

import (
	"strings"

	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/trace"
)

// protocol3 takes an event of the third version of streamEvents, which LangGraph also calls
// its agent protocol.
func (d *Decoder) protocol3(data raw) {
	e := objectOf(data)
	p := e.in("params")
	o := p.in("data")
	event, namespace := o.text("event"), strings.Join(list[string](p["namespace"]), "|")
	if event == "running" && namespace == "" {
		d.allowNextTurn()
	}
	if d.begin() == nil {
		return
	}
	switch method := e.text("method"); method {
	case "lifecycle":
		switch {
		case namespace != "":
		case event == "failed":
			d.fail(p["data"])
		case event == "completed" && !d.waitsFor():
			d.end("", "")
		}
	case "messages":
		d.protocolMessage(o, p.text("node"), namespace)
	case "updates":
		if values := o.first("values"); values != nil {
			d.returned(values, o.text("node"), namespace)
		} else {
			d.returned(p["data"], p.text("node"), namespace)
		}
	case "values", "tasks":
		d.mode(method, namespace, p["data"])
	case "custom":
		d.turn.custom("", o["payload"])
	case "tools":
		name := map[string]string{"tool-started": "on_tool_start", "tool-output-delta": "on_tool_event", "tool-finished": "on_tool_end", "tool-error": "on_tool_error"}[event]
		d.tool(toolNews{event: name, id: o.text("tool_call_id"), name: o.text("tool_name"), input: o["input"], output: o["output"], failure: o["error"]})
	}
}

// protocolMessage takes an event of a message as a chunk of LangChain.
func (d *Decoder) protocolMessage(o object, node, namespace string) {
	at := placeOf(agentkit.Encode(map[string]string{"langgraph_node": node, "langgraph_checkpoint_ns": namespace}))
	m := message{role: assistant, delta: true, id: "run-" + o.text("run_id")}
	delta, index := o.in("delta"), int(o.number("index"))
	switch o.text("event") {
	case "content-block-start":
		m.content = blocks(o["content"])
		m.chunks = d.grown(m.id, index, o.in("content"))
	case "content-block-delta":
		m.content = []block{{kind: words, text: delta.text("text")}, {kind: thought, text: delta.text("reasoning")}}
		m.chunks = d.grown(m.id, index, delta.in("fields"))
	case "content-block-finish":
		if c := o.in("content"); c.text("id") != "" && objectOf(c["args"]) != nil {
			d.turn.input(d.turn.own(d.turn.speech(m.id, d.o.speaker(at, m), at), c.text("id"), c.text("name")), c["args"])
		}
		return
	case "message-finish":
		m.finish, m.last, m.usage = o.text("reason"), true, usageOf(o.in("usage"))
	default:
		return
	}
	d.turn.message(m, source{at: at})
}

// grown is what a snapshot of a call's input adds.
func (d *Decoder) grown(id string, index int, fields object) []callChunk {
	c := callChunk{Index: index, ID: fields.text("id"), Name: fields.text("name"), Args: trace.JSONText(fields.text("args"))}
	if c.ID == "" || c.Name == "" || !strings.Contains(fields.text("type"), "tool_call") {
		return nil
	}
	if s := d.turn.speeches[id]; s != nil && s.calls[index] != nil {
		more, _ := strings.CutPrefix(string(c.Args), s.calls[index].text.String())
		c.Args = trace.JSONText(more)
	}
	return []callChunk{c}
}
