package langgraph

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/internal/sse"
	"github.com/tributary-dev/tributary/trace"
)

// events is what the Decoder knows of a stream of astream_events, version 2.
type events struct {
	root  string               // the run of the graph itself
	tools map[string]*toolCall // by the run of the tool
}

// event is an event of astream_events.
type event struct {
	Event       string    `json:"event"`
	Name        string    `json:"name"`
	Run         string    `json:"run_id"`
	Tags        []string  `json:"tags"`
	Metadata    raw       `json:"metadata"`
	Participant string    `json:"participant"`
	Data        raw       `json:"data"`
	Parents     []string  `json:"parent_ids"`
	data        eventData // of an object
	at          place
	agent       string
}

type eventData struct {
	Chunk  raw    `json:"chunk"`
	Input  raw    `json:"input"`
	Output raw    `json:"output"`
	Error  raw    `json:"error"`
	CallID string `json:"tool_call_id"`
}

// event takes an event of astream_events. An event that LangChain does not have is the
// backend's own, and is passed on.
func (d *Decoder) event(data raw) error {
	var e event
	read(data, &e)
	read(e.Data, &e.data)
	e.at, e.agent = placeOf(e.Metadata)
	e.at.tags = append(e.at.tags, e.Tags...)
	if slices.Contains(e.Tags, "langsmith:hidden") {
		return nil
	}
	if e.Event == "on_chain_start" && e.at.node == "" && len(e.Parents) == 0 {
		d.again()
	}
	t := d.begin()
	if t == nil {
		return nil
	}
	switch kind, moment := split(e.Event); kind {
	case "chain":
		return d.chain(e, moment)
	case "chat_model", "llm":
		d.model(e, moment)
	case "tool":
		d.toolRun(e, moment)
	case "custom_event":
		if d.o.shows(e.at) {
			t.custom(e.Name, e.Data)
		}
	case "retriever", "prompt", "parser":
	case "error":
		return d.fail(e.Data)
	default:
		d.foreignEvent(cmp.Or(e.Event, "unknown"), e.Participant, e.Data)
	}
	return nil
}

// split takes the name of an event apart: on_chat_model_stream is the stream of chat_model.
func split(name string) (kind, moment string) {
	rest, ok := strings.CutPrefix(name, "on_")
	if !ok || rest == "custom_event" {
		return rest, ""
	}
	i := strings.LastIndexByte(rest, '_')
	if i < 0 || !slices.Contains([]string{"start", "stream", "end", "error"}, rest[i+1:]) {
		return name, ""
	}
	return rest[:i], rest[i+1:]
}

// foreignEvent passes on an event without a meaning of its own.
func (d *Decoder) foreignEvent(kind, participant string, data raw) {
	value := map[string]any{"eventType": kind}
	if participant != "" {
		value["participant"] = participant
	}
	if len(data) > 0 {
		value["data"] = data
	}
	d.turn.b.Emit(trace.Data{Name: "conversation-event", Value: agentkit.Encode(value), Transient: true})
}

// chain takes what a graph or a node does. Only the graph itself says that it was
// interrupted. The input of a node is the history of its output.
func (d *Decoder) chain(e event, moment string) error {
	root := e.Run == d.events.root
	switch {
	case moment == "start" && d.events.root == "" && e.at.node == "":
		d.events.root = e.Run
		d.turn.remember(d.messages(e.data.Input))
	case moment == "start":
		d.turn.remember(d.messages(e.data.Input))
	case moment == "stream" && root:
		if text := bytesOf(e.data.Chunk); text != nil {
			return d.encoded(text)
		}
		var state struct {
			Interrupt raw `json:"__interrupt__"`
		}
		read(e.data.Chunk, &state)
		d.pause(state.Interrupt)
	case moment == "end" && e.Name == e.at.node && d.o.shows(e.at):
		for _, m := range d.messages(e.data.Output) {
			m.delta, m.chunks = false, nil
			d.turn.message(m, source{at: e.at, who: d.o.speaker(e.Participant, e.at, e.agent, m)})
		}
	case moment == "end" && root && !d.waitsFor():
		d.end("", "")
	case moment == "end" && root:
		d.events.root = "" // the graph has said all
	case moment == "error" && root:
		return d.fail(e.Data)
	}
	return nil
}

// model takes what a model says. The run is the message, also if a chunk has no id.
func (d *Decoder) model(e event, moment string) {
	data := e.data.Chunk
	if moment == "end" {
		data = e.data.Output
	}
	if moment != "stream" && moment != "end" {
		return
	}
	m, ok := parse(data)
	if !ok {
		if s := text(data); s != "" && moment == "stream" && !strings.Contains(s, "content=") { // else Python's own notation
			m, ok = message{role: assistant, content: []block{{kind: words, text: s}}}, true
		}
	}
	if !ok || m.role != assistant {
		return
	}
	m.delta = moment == "stream"
	if !m.delta {
		m.chunks = nil
	}
	t := d.turn
	name := "run-" + e.Run
	if t.known[m.id] || m.id == "" || t.speeches[name] != nil {
		m.id = name
	}
	from := source{at: e.at, who: d.o.speaker(e.Participant, e.at, e.agent, m)}
	t.message(m, from)
}

// toolRun takes the run of a tool. The events name no call, so the oldest call with the same
// name and input is meant; the end of the run may name another.
func (d *Decoder) toolRun(e event, moment string) {
	t := d.turn
	if d.events.tools == nil {
		d.events.tools = map[string]*toolCall{}
	}
	c := d.events.tools[e.Run]
	switch moment {
	case "start":
		input := object(e.data.Input)
		if c = t.calls[e.data.CallID]; c == nil {
			taken := slices.Collect(maps.Values(d.events.tools))
			c = t.pending(e.Name, input, func(o *toolCall) bool { return !slices.Contains(taken, o) })
		}
		id := e.Run
		if c != nil {
			id = c.id
		}
		d.events.tools[e.Run] = t.foreign(id, e.Name, input, e.at)
	case "end":
		m, ok := parse(e.data.Output)
		switch {
		case ok && m.role == toolRole && m.callID != "":
			t.message(m, source{at: e.at})
		case c == nil:
		case ok && m.role == toolRole:
			t.result(c, m.output, "")
		case !isCommand(e.data.Output): // the message of the tool comes with the node's update
			t.result(c, result(e.data.Output), "")
		}
	case "error":
		id := e.data.CallID
		if c != nil {
			id = c.id
		}
		failure := e.data.Error
		if s := text(failure); strings.HasPrefix(strings.TrimSpace(s), "[") { // the interrupts, and a stack trace
			var all raw
			_ = json.NewDecoder(strings.NewReader(s)).Decode(&all) // else it is no list
			failure = agentkit.Encode(string(all))
		}
		d.toolError(id, failure)
	}
}

// isCommand reports whether a tool returned an order to the graph and no output.
func isCommand(output raw) bool {
	var f struct {
		Name  string `json:"lg_name"`
		Graph raw    `json:"goto"`
	}
	return read(output, &f) && (f.Name == "Command" || len(f.Graph) > 0)
}

// bytesOf reads a list of bytes that JSON made an object: {"0":101,"1":118,…}.
func bytesOf(chunk raw) []byte {
	var all map[string]byte
	if json.Unmarshal(chunk, &all) != nil {
		return nil
	}
	text := make([]byte, len(all))
	for at, b := range all {
		i, err := strconv.Atoi(at)
		if err != nil || i < 0 || i >= len(text) {
			return nil
		}
		text[i] = b
	}
	return text
}

// encoded takes the frames of a graph's own stream that came as bytes within an event.
func (d *Decoder) encoded(frames []byte) error {
	for e, err := range sse.NewReader(bytes.NewReader(frames), 0).All() {
		if mode, namespace, _ := strings.Cut(e.Name, "|"); err == nil && modes[mode] != nil && json.Valid(e.Data) {
			if err := modes[mode](d, namespace, e.Data); err != nil {
				return err
			}
		}
	}
	return nil
}
