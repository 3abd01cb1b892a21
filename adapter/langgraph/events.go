package langgraph

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/trace"
)

// events is what the Decoder knows of a stream of astream_events, version 2.
type events struct {
	root  string            // the run of the graph itself
	calls map[string]string // by the run of the tool
}

// event is an event of astream_events.
type event struct {
	kind, moment, name, run string
	data                    object
	at                      place
}

// event takes an event of astream_events. An event that LangChain does not have is the
// backend's own, and is passed on.
func (d *Decoder) event(o object) {
	e := event{name: o.text("name"), run: o.text("run_id"), data: o.in("data"), at: placeOf(o["metadata"])}
	e.kind, e.moment = split(o.text("event"))
	e.at.tags = append(e.at.tags, list[string](o["tags"])...)
	e.at.participant = cmp.Or(o.text("participant"), e.at.participant)
	if slices.Contains(e.at.tags, "langsmith:hidden") {
		return
	}
	if e.kind == "chain" && e.moment == "start" && e.at.node == "" && len(list[raw](o["parent_ids"])) == 0 {
		d.allowNextTurn()
	}
	if d.begin() == nil {
		return
	}
	switch e.kind {
	case "chain":
		d.chain(e, o["data"])
	case "chat_model", "llm":
		d.model(e)
	case "tool":
		d.toolRun(e)
	case "on_custom_event":
		if d.o.shows(e.at) {
			d.turn.custom(e.name, o["data"])
		}
	case "retriever", "prompt", "parser":
	case "error":
		d.fail(o["data"])
	default:
		d.foreignEvent(cmp.Or(o.text("event"), "unknown"), o.text("participant"), o["data"])
	}
}

// split takes the name of an event apart: on_chat_model_stream is the stream of chat_model.
func split(name string) (kind, moment string) {
	for _, kind := range []string{"chain", "chat_model", "llm", "tool", "retriever", "prompt", "parser"} {
		if moment, ok := strings.CutPrefix(name, "on_"+kind+"_"); ok && slices.Contains([]string{"start", "stream", "end", "error"}, moment) {
			return kind, moment
		}
	}
	return name, ""
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
func (d *Decoder) chain(e event, data raw) {
	root := e.run == d.events.root
	switch {
	case e.moment == "start":
		if d.events.root == "" && e.at.node == "" {
			d.events.root = e.run
		}
		d.turn.remember(d.messages(e.data["input"]))
	case e.moment == "stream" && root:
		d.pause(e.data.in("chunk")["__interrupt__"])
	case e.moment == "end" && e.name == e.at.node && d.o.shows(e.at):
		d.turn.wholes(d.messages(e.data["output"]), source{at: e.at})
	case e.moment == "end" && root && !d.waitsFor():
		d.end("", "")
	case e.moment == "end" && root:
		d.events.root = "" // the graph says no more
	case e.moment == "error" && root:
		d.fail(data)
	}
}

// model takes what a model says. The run is the message, also if a chunk has no id.
func (d *Decoder) model(e event) {
	data := map[string]raw{"stream": e.data["chunk"], "end": e.data["output"]}[e.moment]
	m, ok := parse(data)
	if s := text(data); s != "" && e.moment == "stream" && !strings.Contains(s, "content=") { // else Python's own notation
		m, ok = textMessage(s), true
		m.role = assistant
	}
	if !ok || m.role != assistant {
		return
	}
	if m.delta = e.moment == "stream"; !m.delta {
		m.chunks = nil
	}
	name := "run-" + e.run
	if d.turn.known[m.id] || m.id == "" || d.turn.speeches[name] != nil {
		m.id = name
	}
	d.turn.message(m, source{at: e.at})
}

// toolRun takes the run of a tool. The events name no call, so the oldest call with the same
// name and input is meant; the end of the run may name another.
func (d *Decoder) toolRun(e event) {
	named := e.data.text("tool_call_id")
	f := toolNews{event: "on_tool_" + e.moment, id: cmp.Or(named, d.events.calls[e.run], e.run), name: e.name, input: unquoted(e.data["input"]), output: e.data["output"], failure: e.data["error"], at: e.at}
	if e.moment == "start" && named == "" {
		taken := slices.Collect(maps.Values(d.events.calls))
		if c := d.turn.pending(f.name, f.input, func(o *toolCall) bool { return !slices.Contains(taken, o.id) }); c != nil {
			f.id = c.id
		}
		d.events.calls[e.run] = f.id
	}
	d.tool(f)
}

func newEvents() events { return events{calls: map[string]string{}} }
