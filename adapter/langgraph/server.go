package langgraph

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/trace"
)

// server is what the Decoder knows of a run of a LangGraph server.
type server struct {
	tuple  bool   // messages come by themselves, so updates and values only complete them
	values bool   // the state at the beginning was read
	status string // of the run, as the server says behind the end of its stream
	places map[string]place
}

// runName is the name of a run on record; see Reattach.
const runName = "run:"

// mode takes the data of one mode of a stream. It reports false if LangGraph has no such mode.
func (d *Decoder) mode(name, namespace string, data raw) bool {
	switch name {
	case "checkpoints", "debug", "feedback", "heartbeat", "lifecycle", "input", "input.answered": // all that they say is told by others
		return true
	case "end":
		d.runEnded(objectOf(data).text("status"))
		return true
	case "events":
		d.event(objectOf(data))
		return true
	case "metadata", "updates", "values":
		d.allowNextTurn()
	case "messages", "messages/metadata", "messages/partial", "messages/complete", "custom", "tools", "tasks", "error":
	default:
		return false
	}
	t := d.begin()
	if t == nil {
		return true
	}
	switch name {
	case "metadata":
		d.metadata(objectOf(data).text("run_id"))
	case "messages":
		d.tuple(data)
	case "messages/metadata":
		for id, about := range objectOf(data) {
			d.server.places[id] = placeOf(objectOf(about)["metadata"])
			agentkit.CountKept(t.b, id, string(about))
		}
	case "messages/partial", "messages/complete":
		d.legacy(data, name == "messages/partial")
	case "updates":
		d.updates(namespace, data)
	case "values":
		d.values(namespace, data)
	case "custom":
		t.custom("", data)
	case "tools":
		o := objectOf(data)
		d.tool(toolNews{event: o.text("event"), id: o.text("toolCallId"), name: o.text("name"), input: o["input"], data: o["data"], output: o["output"], failure: o["error"]})
	case "tasks":
		d.tasks(namespace, objectOf(data))
	case "error":
		d.fail(data)
	}
	return true
}

// runEnded takes the end of a run's stream in a recording. A session asks the server for the state, too.
func (d *Decoder) runEnded(status string) {
	if how, over := outcomes[status]; over && !d.live && d.turn != nil && !d.waitsFor() {
		d.end(how[0], how[1])
	}
}

// metadata begins a run.
func (d *Decoder) metadata(run string) {
	t := d.turn
	if run == "" || run == d.at.run {
		return
	}
	d.at.run, d.server.values, d.server.status = run, false, ""
	if name := runName + run; t.skip == "" || t.skip == name {
		t.step(trace.Step{NativeID: name})
		t.fresh = true
	}
}

// tuple takes [message, metadata].
func (d *Decoder) tuple(data raw) {
	pair := list[raw](data)
	if len(pair) == 0 {
		d.strange("messages", data)
		return
	}
	if m, ok := parse(pair[0]); ok {
		d.server.tuple = true
		d.turn.message(m, source{at: placeOf(append(pair, nil)[1])})
	}
}

// legacy takes messages as they are so far.
func (d *Decoder) legacy(data raw, partial bool) {
	d.server.tuple = true
	for _, m := range messages(data) {
		m.last = false
		if m.role == human && !partial {
			d.turn.know(m.id) // the prompt
		}
		d.turn.wholes([]message{m}, source{at: d.server.places[m.id], partial: partial && m.finish == ""})
	}
}

// wholes takes messages that are no chunks, whatever their form says.
func (t *turn) wholes(all []message, from source) {
	for _, m := range all {
		m.delta, m.chunks = false, nil
		t.message(m, from)
	}
}

// updates takes what the nodes of a superstep have returned.
func (d *Decoder) updates(namespace string, data raw) {
	all := objectOf(data)
	d.pause(all["__interrupt__"])
	if string(all.in("__metadata__")["cached"]) == "true" {
		return // the node ran before the interrupt
	}
	for _, node := range slices.Sorted(maps.Keys(all)) {
		if !strings.HasPrefix(node, "__") {
			d.returned(all[node], node, namespace)
		}
	}
}

// returned takes the messages that a node has returned.
func (d *Decoder) returned(update raw, node, namespace string) {
	d.turn.wholes(d.messages(update), source{at: place{node: node, namespace: strings.Join(segments(namespace), "/")}, known: d.server.tuple})
}

// messages reads the messages of a state, or of one or several updates of it.
func (d *Decoder) messages(update raw) (all []message) {
	for _, one := range listed(update) {
		if o := objectOf(one); o.text("lg_name") == "Command" {
			all = append(all, d.messages(o["update"])...)
		} else {
			all = append(all, messages(o[d.o.messagesKey()])...)
		}
	}
	return all
}

// values takes the state. The first one of a run is what was there before.
func (d *Decoder) values(namespace string, data raw) {
	found := objectOf(data)["__interrupt__"]
	switch {
	case namespace != "":
	case !d.server.values && found == nil:
		d.server.values = true
		d.turn.remember(d.messages(data))
	default:
		d.returned(data, "", "")
	}
	d.pause(found)
}

// tasks takes the end of a node's run: it has the interrupts, and what the node returned.
func (d *Decoder) tasks(namespace string, o object) {
	d.turn.remember(d.messages(o["input"]))
	d.returned(o["result"], o.text("name"), namespace)
	if string(o["interrupts"]) != "[]" {
		d.pause(o["interrupts"])
	}
}

// toolNews is what a source tells of a tool that runs.
type toolNews struct {
	event, id, name              string
	input, data, output, failure raw
	at                           place
}

// tool takes what a tool does.
func (d *Decoder) tool(f toolNews) {
	t := d.turn
	c := t.calls[f.id]
	if f.id == "" {
		return
	}
	switch f.event {
	case "on_tool_start":
		t.foreign(f.id, f.name, unquoted(f.input), f.at)
	case "on_tool_event":
		if c != nil && !c.done {
			t.to(c.hidden).ToolResultProgress(c.id, f.data)
		}
	case "on_tool_end":
		m, ok := parse(f.output)
		switch {
		case ok && m.role == toolRole && m.callID != "":
			t.message(m, source{at: f.at})
		case c == nil || f.output == nil || objectOf(f.output).text("lg_name") == "Command": // an order to the graph: the message comes with the node's update
		case ok && m.role == toolRole:
			t.result(c, m.output, "")
		default:
			t.result(c, unquoted(f.output), "")
		}
	case "on_tool_error":
		d.toolError(f.id, f.failure)
	}
}

// toolError takes the failure of a tool. The text is often lost on the way, and then the
// message of the tool has the text. A tool that asks a person has not failed.
func (d *Decoder) toolError(callID string, data raw) {
	o := objectOf(data)
	sentence := strings.TrimSpace(cmp.Or(text(data), o.text("message")))
	asked := list[interrupt](o["interrupts"])
	if strings.HasPrefix(sentence, "[") { // the interrupts, and perhaps a stack trace
		_ = json.NewDecoder(strings.NewReader(sentence)).Decode(&asked) // any other text is the error
	}
	for _, i := range asked {
		if d.interrupts[i.ID] != callID {
			d.interrupts[i.ID] = callID
			agentkit.CountKept(d.turn.b, i.ID, callID)
		}
	}
	switch c := d.turn.calls[callID]; {
	case c == nil || asked != nil:
	case sentence == "":
		c.failing = true
	default:
		d.turn.result(c, nil, firstLine(sentence))
	}
}
