package langgraph

import (
	"encoding/json"
	"strings"

	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/trace"
)

// protocolEvent is an event of the third version of streamEvents, which LangGraph also calls
// its agent protocol.
type protocolEvent struct {
	Method string `json:"method"`
	Params struct {
		Namespace []string `json:"namespace"`
		Node      string   `json:"node"`
		Data      raw      `json:"data"`
	} `json:"params"`
}

// protocolMessage is an event of a message.
type protocolMessage struct {
	Event   string `json:"event"`
	ID      string `json:"id"`
	Run     string `json:"run_id"`
	Index   int    `json:"index"`
	Content raw    `json:"content"`
	Delta   struct {
		Text      trace.JSONText `json:"text"`
		Reasoning trace.JSONText `json:"reasoning"`
		Fields    raw            `json:"fields"`
	} `json:"delta"`
	Reason string `json:"reason"`
	Usage  *usage `json:"usage"`
}

// protocol3 takes an event of the third version.
func (d *Decoder) protocol3(data raw) {
	var e protocolEvent
	read(data, &e)
	p := e.Params
	namespace := strings.Join(p.Namespace, "|")
	var f struct {
		Event   string `json:"event"`
		Error   raw    `json:"error"`
		Node    string `json:"node"`
		Values  raw    `json:"values"`
		Payload raw    `json:"payload"`
		CallID  string `json:"tool_call_id"`
		Tool    string `json:"tool_name"`
		Input   raw    `json:"input"`
		Output  raw    `json:"output"`
	}
	read(p.Data, &f)
	if f.Event == "running" && namespace == "" {
		d.again()
	}
	if d.begin() == nil {
		return
	}
	switch e.Method {
	case "lifecycle":
		switch {
		case namespace != "":
		case f.Event == "failed":
			d.fail(p.Data)
		case f.Event == "completed" && !d.waitsFor():
			d.end("", "")
		}
	case "messages":
		d.protocolMessage(e)
	case "updates":
		if len(f.Values) == 0 {
			f.Values, f.Node = p.Data, p.Node
		}
		d.returned(f.Values, f.Node, namespace)
	case "values", "tasks":
		modes[e.Method](d, namespace, p.Data)
	case "custom":
		d.turn.custom("", f.Payload)
	case "tools":
		name := map[string]string{"tool-started": "on_tool_start", "tool-output-delta": "on_tool_event", "tool-finished": "on_tool_end", "tool-error": "on_tool_error"}[f.Event]
		d.tool(toolNews{Event: name, CallID: f.CallID, Name: f.Tool, Input: f.Input, Output: f.Output, Error: f.Error})
	}
}

// protocolMessage takes an event of a message as a chunk of LangChain.
func (d *Decoder) protocolMessage(e protocolEvent) {
	var f protocolMessage
	read(e.Params.Data, &f)
	at := placeOf(agentkit.Encode(map[string]string{"langgraph_node": e.Params.Node, "langgraph_checkpoint_ns": strings.Join(e.Params.Namespace, "|")}))
	m := message{role: assistant, delta: true, id: "run-" + f.Run}
	switch f.Event {
	case "content-block-start":
		m.content = blocks(agentkit.Encode([]raw{f.Content}))
		m.chunks = d.grown(m.id, f.Index, f.Content)
	case "content-block-delta":
		m.content = []block{{kind: words, text: string(f.Delta.Text)}, {kind: thought, text: string(f.Delta.Reasoning)}}
		m.chunks = d.grown(m.id, f.Index, f.Delta.Fields)
	case "content-block-finish":
		var c call
		if read(f.Content, &c); c.ID != "" && strings.HasPrefix(strings.TrimSpace(string(c.Args)), "{") {
			d.turn.input(d.turn.own(d.turn.speech(m.id, d.o.speaker(at, m), at), c.ID, c.Name), c.Args)
		}
		return
	case "message-finish":
		m.finish, m.last, m.usage = f.Reason, true, f.Usage.record()
	default:
		return
	}
	d.turn.message(m, source{at: at})
}

// grown is what a snapshot of a call's input adds.
func (d *Decoder) grown(id string, index int, fields raw) []callChunk {
	var c callChunk
	if read(fields, &c); c.ID == "" || c.Name == "" || json.Valid(fields) && !strings.Contains(string(fields), "tool_call") {
		return nil
	}
	c.Index = index
	if s := d.turn.speeches[id]; s != nil && s.calls[index] != nil {
		more, _ := strings.CutPrefix(string(c.Args), s.calls[index].text.String())
		c.Args = trace.JSONText(more)
	}
	return []callChunk{c}
}
