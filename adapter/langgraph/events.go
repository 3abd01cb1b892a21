package langgraph

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/internal/sse"
	"github.com/tributary-dev/tributary/trace"
)

// events is what the Decoder knows of a stream of astream_events, version 2.
type events struct {
	root  string            // the run of the graph itself
	calls map[string]string // by the run of the tool
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
func (d *Decoder) event(data raw) {
	var e event
	read(data, &e)
	read(e.Data, &e.data)
	e.at = placeOf(e.Metadata)
	e.at.tags = append(e.at.tags, e.Tags...)
	e.at.participant = cmp.Or(e.Participant, e.at.participant)
	if slices.Contains(e.Tags, "langsmith:hidden") {
		return
	}
	if e.Event == "on_chain_start" && e.at.node == "" && len(e.Parents) == 0 {
		d.again()
	}
	if d.begin() == nil {
		return
	}
	switch kind, moment := split(e.Event); kind {
	case "chain":
		d.chain(e, moment)
	case "chat_model", "llm":
		d.model(e, moment)
	case "tool":
		d.toolRun(e, moment)
	case "custom_event":
		if d.o.shows(e.at) {
			d.turn.custom(e.Name, e.Data)
		}
	case "retriever", "prompt", "parser":
	case "error":
		d.fail(e.Data)
	default:
		d.foreignEvent(cmp.Or(e.Event, "unknown"), e.Participant, e.Data)
	}
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
func (d *Decoder) chain(e event, moment string) {
	root := e.Run == d.events.root
	switch {
	case moment == "start":
		if d.events.root == "" && e.at.node == "" {
			d.events.root = e.Run
		}
		d.turn.remember(d.messages(e.data.Input))
	case moment == "stream" && root:
		d.encoded(e.data.Chunk)
		var state struct {
			Interrupt raw `json:"__interrupt__"`
		}
		read(e.data.Chunk, &state)
		d.pause(state.Interrupt)
	case moment == "end" && e.Name == e.at.node && d.o.shows(e.at):
		d.turn.wholes(d.messages(e.data.Output), source{at: e.at})
	case moment == "end" && root && !d.waitsFor():
		d.end("", "")
	case moment == "end" && root:
		d.events.root = "" // the graph has said all
	case moment == "error" && root:
		d.fail(e.Data)
	}
}

// model takes what a model says. The run is the message, also if a chunk has no id.
func (d *Decoder) model(e event, moment string) {
	data := map[string]raw{"stream": e.data.Chunk, "end": e.data.Output}[moment]
	m, ok := parse(data)
	if s := text(data); s != "" && moment == "stream" && !strings.Contains(s, "content=") { // else Python's own notation
		m, ok = message{role: assistant, content: []block{{kind: words, text: s}}}, true
	}
	if !ok || m.role != assistant {
		return
	}
	if m.delta = moment == "stream"; !m.delta {
		m.chunks = nil
	}
	name := "run-" + e.Run
	if d.turn.known[m.id] || m.id == "" || d.turn.speeches[name] != nil {
		m.id = name
	}
	d.turn.message(m, source{at: e.at})
}

// toolRun takes the run of a tool. The events name no call, so the oldest call with the same
// name and input is meant; the end of the run may name another.
func (d *Decoder) toolRun(e event, moment string) {
	f := toolNews{Event: e.Event, CallID: e.data.CallID, Name: e.Name, Input: object(e.data.Input), Output: e.data.Output, Error: e.data.Error, at: e.at}
	if f.CallID == "" {
		f.CallID = cmp.Or(d.events.calls[e.Run], e.Run)
	}
	if moment == "start" && e.data.CallID == "" {
		taken := slices.Collect(maps.Values(d.events.calls))
		if c := d.turn.pending(f.Name, f.Input, func(o *toolCall) bool { return !slices.Contains(taken, o.id) }); c != nil {
			f.CallID = c.id
		}
		d.events.calls[e.Run] = f.CallID
	}
	d.tool(f)
}

// encoded takes the frames of a graph's own stream that came as bytes within an event, of
// which JSON made an object: {"0":101,"1":118,…}.
func (d *Decoder) encoded(chunk raw) {
	var all map[int]byte
	if json.Unmarshal(chunk, &all) != nil {
		return
	}
	frames := make([]byte, len(all))
	for i := range frames {
		frames[i] = all[i]
	}
	for e, err := range sse.NewReader(bytes.NewReader(frames), 0).All() {
		if mode, namespace, _ := strings.Cut(e.Name, "|"); err == nil && modes[mode] != nil && json.Valid(e.Data) {
			modes[mode](d, namespace, e.Data)
		}
	}
}

func newEvents() events { return events{calls: map[string]string{}} }
