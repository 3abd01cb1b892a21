package langgraph

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/trace"
)

// server is what the Decoder knows of a run of a LangGraph server.
type server struct {
	tuple  bool // messages come by themselves, so updates and values only complete them
	values bool // the state at the beginning was read
	places map[string]place
}

// runName is the name of a run on record; see Reattach.
const runName = "run:"

// modes are the modes of a stream.
//
//nolint:gochecknoglobals // never written
var modes map[string]func(d *Decoder, namespace string, data raw) error

func init() { //nolint:gochecknoinits // a table of methods that use it
	quiet := func(*Decoder, string, raw) error { return nil }
	modes = map[string]func(*Decoder, string, raw) error{
		"metadata":          func(d *Decoder, _ string, data raw) error { return d.metadata(data) },
		"messages":          func(d *Decoder, _ string, data raw) error { return d.tuple(data) },
		"messages/metadata": func(d *Decoder, _ string, data raw) error { return d.places(data) },
		"messages/partial":  func(d *Decoder, _ string, data raw) error { return d.legacy(data, true) },
		"messages/complete": func(d *Decoder, _ string, data raw) error { return d.legacy(data, false) },
		"updates":           (*Decoder).updates,
		"values":            (*Decoder).values,
		"custom":            func(d *Decoder, _ string, data raw) error { return d.custom("", data) },
		"tools":             (*Decoder).tool,
		"tasks":             (*Decoder).tasks,
		"events":            func(d *Decoder, _ string, data raw) error { return d.event(data) },
		"error":             func(d *Decoder, _ string, data raw) error { return d.fail(data) },
		"checkpoints":       quiet, "debug": quiet, "feedback": quiet, "end": quiet, "heartbeat": quiet,
	}
}

// metadata begins a run.
func (d *Decoder) metadata(data raw) error {
	var f struct {
		Run string `json:"run_id"`
	}
	d.again()
	read(data, &f)
	t := d.begin()
	if t == nil || f.Run == "" || f.Run == d.at.run {
		return nil
	}
	d.at.run, d.server.values = f.Run, false
	switch name := runName + f.Run; t.skip {
	case name:
		t.skip, t.fresh = "", true
	case "":
		t.b.StepStart(trace.Step{NativeID: name})
		t.fresh = true
	}
	return nil
}

// tuple takes [message, metadata].
func (d *Decoder) tuple(data raw) error {
	var pair []raw
	if err := json.Unmarshal(data, &pair); err != nil || len(pair) == 0 {
		return fmt.Errorf("langgraph: a message is no pair: %w", err)
	}
	m, ok := parse(pair[0])
	t := d.begin()
	if !ok || t == nil {
		return nil
	}
	d.server.tuple = true
	from := source{}
	if len(pair) > 1 {
		var agent string
		from.at, agent = placeOf(pair[1])
		from.who = d.o.speaker("", from.at, agent, m)
	}
	t.message(m, from)
	return nil
}

// places takes the metadata of messages whose content comes apart from it.
func (d *Decoder) places(data raw) error {
	var all map[string]struct {
		Metadata raw `json:"metadata"`
	}
	read(data, &all)
	if d.server.places == nil {
		d.server.places = map[string]place{}
	}
	for id, one := range all {
		at, agent := placeOf(one.Metadata)
		at.participant = d.o.speaker("", at, agent, message{})
		d.server.places[id] = at
	}
	return nil
}

// legacy takes messages as they are so far.
func (d *Decoder) legacy(data raw, partial bool) error {
	t := d.begin()
	if t == nil {
		return nil
	}
	d.server.tuple = true
	for _, m := range messages(data) {
		m.delta, m.chunks, m.last = false, nil, false
		at := d.server.places[m.id]
		if m.role == human && !partial {
			t.known[m.id] = true // the prompt
		}
		t.message(m, source{at: at, who: d.o.speaker("", at, "", m), partial: partial && m.finish == ""})
	}
	return nil
}

// updates takes what the nodes of a superstep have returned.
func (d *Decoder) updates(namespace string, data raw) error {
	var all map[string]raw
	if read(data, &all); len(all) == 0 {
		return nil
	}
	d.again()
	t := d.begin()
	if t == nil {
		return nil
	}
	if found, ok := all["__interrupt__"]; ok {
		d.pause(found)
	}
	var about struct {
		Cached bool `json:"cached"`
	}
	if read(all["__metadata__"], &about); about.Cached {
		return nil // the node ran before the interrupt
	}
	for _, node := range slices.Sorted(maps.Keys(all)) {
		if !strings.HasPrefix(node, "__") {
			d.returned(all[node], node, namespace)
		}
	}
	return nil
}

// returned takes the messages that a node has returned.
func (d *Decoder) returned(update raw, node, namespace string) {
	at := place{node: node, namespace: strings.Join(segments(namespace), "/")}
	for _, m := range d.messages(update) {
		m.delta, m.chunks = false, nil
		d.turn.message(m, source{at: at, who: d.o.speaker("", at, "", m), known: d.server.tuple})
	}
}

// messages reads the messages of a state, or of one or several updates of it.
func (d *Decoder) messages(update raw) (all []message) {
	var list []raw
	if json.Unmarshal(update, &list) == nil {
		for _, one := range list {
			all = append(all, d.messages(one)...)
		}
		return all
	}
	var fields map[string]raw
	read(update, &fields)
	if order := fields["update"]; text(fields["lg_name"]) == "Command" {
		return d.messages(order)
	}
	return messages(fields[d.o.messagesKey()])
}

func (d *Decoder) pause(found raw) {
	var all []interrupt
	if json.Unmarshal(found, &all) == nil && all != nil {
		d.interrupted(all)
	}
}

// values takes the state. The first one of a run is what was there before.
func (d *Decoder) values(namespace string, data raw) error {
	d.again()
	t := d.begin()
	if t == nil {
		return nil
	}
	var f struct {
		Interrupt raw `json:"__interrupt__"`
	}
	read(data, &f)
	all := d.messages(data)
	switch {
	case namespace != "":
	case !d.server.values && len(f.Interrupt) == 0:
		d.server.values = true
		t.remember(all)
	default:
		d.returned(data, "", "")
	}
	if len(f.Interrupt) > 0 {
		d.pause(f.Interrupt)
	}
	return nil
}

func (d *Decoder) custom(name string, data raw) error {
	if t := d.begin(); t != nil {
		t.custom(name, data)
	}
	return nil
}

// tool takes what a tool does, from servers that publish it.
func (d *Decoder) tool(_ string, data raw) error {
	var f struct {
		Event  string `json:"event"`
		CallID string `json:"toolCallId"`
		Name   string `json:"name"`
		Input  raw    `json:"input"`
		Data   raw    `json:"data"`
		Output raw    `json:"output"`
		Error  raw    `json:"error"`
	}
	t := d.begin()
	if read(data, &f); t == nil || f.CallID == "" {
		return nil
	}
	switch f.Event {
	case "on_tool_start":
		t.foreign(f.CallID, f.Name, object(f.Input), place{})
	case "on_tool_event":
		if c := t.calls[f.CallID]; c != nil && c.shown == flat && !c.done {
			t.b.ToolResultProgress(c.id, f.Data)
		}
	case "on_tool_end":
		if m, ok := parse(f.Output); ok && m.role == toolRole {
			t.message(m, source{})
		}
	case "on_tool_error":
		d.toolError(f.CallID, f.Error)
	}
	return nil
}

// toolError takes the failure of a tool. The text is often lost on the way, and then the
// message of the tool has the text. A tool that asks a person has not failed.
func (d *Decoder) toolError(callID string, data raw) {
	var f struct {
		Interrupts []interrupt `json:"interrupts"`
		Message    string      `json:"message"`
	}
	if read(data, &f); text(data) != "" {
		f.Message = text(data)
	}
	if f.Interrupts == nil && strings.HasPrefix(strings.TrimSpace(f.Message), "[") {
		_ = json.Unmarshal([]byte(f.Message), &f.Interrupts) // any other text is the error
	}
	for _, i := range f.Interrupts {
		d.interrupts[i.ID] = callID
	}
	c := d.turn.calls[callID]
	switch {
	case c == nil || f.Interrupts != nil:
	case f.Message == "":
		c.failing = true
	default:
		d.turn.result(c, nil, firstLine(f.Message))
	}
}

// tasks takes the end of a node's run: it has the interrupts, and what the node returned.
func (d *Decoder) tasks(namespace string, data raw) error {
	var f struct {
		Name       string      `json:"name"`
		Input      raw         `json:"input"`
		Result     raw         `json:"result"`
		Interrupts []interrupt `json:"interrupts"`
	}
	t := d.begin()
	if read(data, &f); t == nil {
		return nil
	}
	t.remember(d.messages(f.Input))
	result := f.Result
	var pairs [][]raw // [key, value] of the state
	if json.Unmarshal(result, &pairs) == nil {
		fields := map[string]raw{}
		for _, p := range pairs {
			if len(p) == 2 {
				fields[text(p[0])] = p[1]
			}
		}
		result, _ = json.Marshal(fields)
	}
	d.returned(result, f.Name, namespace)
	if len(f.Interrupts) > 0 {
		d.interrupted(f.Interrupts)
	}
	return nil
}

// object is the input of a tool: an object, or a string that holds one.
func object(data raw) raw {
	if s := text(data); s != "" && json.Valid([]byte(s)) {
		return raw(s)
	}
	return data
}
