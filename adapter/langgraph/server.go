package langgraph

import (
	"encoding/json"
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

// reader takes the data of one mode of a stream.
type reader func(d *Decoder, namespace string, data raw)

// modes are the modes of a stream.
//
//nolint:gochecknoglobals // never written
var modes map[string]reader

func init() { //nolint:gochecknoinits // a table of methods that use it
	within := func(read reader) reader { // a turn
		return func(d *Decoder, namespace string, data raw) {
			if d.begin() != nil {
				read(d, namespace, data)
			}
		}
	}
	begins := func(read reader) reader { // a turn, in a recording of several
		return func(d *Decoder, namespace string, data raw) {
			d.again()
			within(read)(d, namespace, data)
		}
	}
	quiet := func(*Decoder, string, raw) {}
	modes = map[string]reader{
		"metadata":          begins((*Decoder).metadata),
		"messages":          within((*Decoder).tuple),
		"messages/metadata": within((*Decoder).places),
		"messages/partial":  within(func(d *Decoder, _ string, data raw) { d.legacy(data, true) }),
		"messages/complete": within(func(d *Decoder, _ string, data raw) { d.legacy(data, false) }),
		"updates":           begins((*Decoder).updates),
		"values":            begins((*Decoder).values),
		"custom":            within(func(d *Decoder, _ string, data raw) { d.turn.custom("", data) }),
		"tools":             within(func(d *Decoder, _ string, data raw) { d.tools3(data) }),
		"tasks":             within((*Decoder).tasks),
		"events":            func(d *Decoder, _ string, data raw) { d.event(data) },
		"error":             within(func(d *Decoder, _ string, data raw) { d.fail(data) }),
		"checkpoints":       quiet, "debug": quiet, "feedback": quiet, "end": quiet, "heartbeat": quiet,
	}
}

// metadata begins a run.
func (d *Decoder) metadata(_ string, data raw) {
	var f struct {
		Run string `json:"run_id"`
	}
	t := d.turn
	if read(data, &f); f.Run == "" || f.Run == d.at.run {
		return
	}
	d.at.run, d.server.values = f.Run, false
	switch name := runName + f.Run; t.skip {
	case name:
		t.skip, t.fresh = "", true
	case "":
		t.b.StepStart(trace.Step{NativeID: name})
		t.fresh = true
	}
}

// tuple takes [message, metadata].
func (d *Decoder) tuple(_ string, data raw) {
	var pair []raw
	if json.Unmarshal(data, &pair) != nil || len(pair) == 0 {
		d.strange("messages", data)
		return
	}
	if m, ok := parse(pair[0]); ok {
		d.server.tuple = true
		d.turn.message(m, source{at: placeOf(append(pair, nil)[1])})
	}
}

// places takes the metadata of messages whose content comes apart from it.
func (d *Decoder) places(_ string, data raw) {
	var all map[string]struct {
		Metadata raw `json:"metadata"`
	}
	read(data, &all)
	if d.server.places == nil {
		d.server.places = map[string]place{}
	}
	for id, one := range all {
		d.server.places[id] = placeOf(one.Metadata)
	}
}

// legacy takes messages as they are so far.
func (d *Decoder) legacy(data raw, partial bool) {
	d.server.tuple = true
	for _, m := range messages(data) {
		m.last = false
		if m.role == human && !partial {
			d.turn.known[m.id] = true // the prompt
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
	var all map[string]raw
	read(data, &all)
	d.pause(all["__interrupt__"])
	var about struct {
		Cached bool `json:"cached"`
	}
	if read(all["__metadata__"], &about); about.Cached {
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
		var fields map[string]raw
		read(one, &fields)
		if order := fields["update"]; text(fields["lg_name"]) == "Command" {
			all = append(all, d.messages(order)...)
		} else {
			all = append(all, messages(fields[d.o.messagesKey()])...)
		}
	}
	return all
}

// messages reads a list of messages, or one.
func messages(data raw) (all []message) {
	for _, one := range listed(data) {
		if m, ok := parse(one); ok {
			all = append(all, m)
		}
	}
	return all
}

// listed are the elements of a list, or one value that is none.
func listed(data raw) (list []raw) {
	if json.Unmarshal(data, &list) != nil {
		return []raw{data}
	}
	return list
}

// values takes the state. The first one of a run is what was there before.
func (d *Decoder) values(namespace string, data raw) {
	var f struct {
		Interrupt raw `json:"__interrupt__"`
	}
	read(data, &f)
	switch {
	case namespace != "":
	case !d.server.values && len(f.Interrupt) == 0:
		d.server.values = true
		d.turn.remember(d.messages(data))
	default:
		d.returned(data, "", "")
	}
	d.pause(f.Interrupt)
}

// tasks takes the end of a node's run: it has the interrupts, and what the node returned.
func (d *Decoder) tasks(namespace string, data raw) {
	var f struct {
		Name       string `json:"name"`
		Input      raw    `json:"input"`
		Result     raw    `json:"result"`
		Interrupts raw    `json:"interrupts"`
	}
	read(data, &f)
	d.turn.remember(d.messages(f.Input))
	var pairs [][]raw // [key, value] of the state
	if json.Unmarshal(f.Result, &pairs) == nil {
		for _, p := range pairs {
			if len(p) == 2 && text(p[0]) == d.o.messagesKey() {
				f.Result, _ = json.Marshal(map[string]raw{d.o.messagesKey(): p[1]})
			}
		}
	}
	d.returned(f.Result, f.Name, namespace)
	if string(f.Interrupts) != "[]" {
		d.pause(f.Interrupts)
	}
}

// toolNews is what a source tells of a tool that runs.
type toolNews struct {
	CallID string `json:"toolCallId"`
	Event  string `json:"event"`
	Name   string `json:"name"`
	Input  raw    `json:"input"`
	Data   raw    `json:"data"`
	Output raw    `json:"output"`
	Error  raw    `json:"error"`
	at     place
}

// tools3 takes what a tool does, from servers that publish it.
func (d *Decoder) tools3(data raw) {
	var f toolNews
	if read(data, &f); f.CallID != "" {
		d.tool(f)
	}
}

// tool takes what a tool does.
func (d *Decoder) tool(f toolNews) {
	t := d.turn
	c := t.calls[f.CallID]
	switch f.Event {
	case "on_tool_start":
		t.foreign(f.CallID, f.Name, object(f.Input), f.at)
	case "on_tool_event":
		if c != nil && c.shown == flat && !c.done {
			t.b.ToolResultProgress(c.id, f.Data)
		}
	case "on_tool_end":
		m, ok := parse(f.Output)
		switch {
		case ok && m.role == toolRole && m.callID != "":
			t.message(m, source{at: f.at})
		case c == nil || f.Output == nil || isCommand(f.Output): // the message of the tool comes with the node's update
		case ok && m.role == toolRole:
			t.result(c, m.output, "")
		default:
			t.result(c, result(f.Output), "")
		}
	case "on_tool_error":
		d.toolError(f.CallID, f.Error)
	}
}

// toolError takes the failure of a tool. The text is often lost on the way, and then the
// message of the tool has the text. A tool that asks a person has not failed.
func (d *Decoder) toolError(callID string, data raw) {
	var f struct {
		Interrupts []interrupt `json:"interrupts"`
		Message    string      `json:"message"`
	}
	if read(data, &f); text(data) != "" {
		f.Message = strings.TrimSpace(text(data))
	}
	if f.Interrupts == nil && strings.HasPrefix(f.Message, "[") { // the interrupts, and perhaps a stack trace
		_ = json.NewDecoder(strings.NewReader(f.Message)).Decode(&f.Interrupts) // any other text is the error
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

// isCommand reports whether a tool returned an order to the graph and no output.
func isCommand(output raw) bool {
	var f struct {
		Name  string `json:"lg_name"`
		Graph raw    `json:"goto"`
	}
	return read(output, &f) && (f.Name == "Command" || len(f.Graph) > 0)
}

// object is the input of a tool: an object, or a string that holds one.
func object(data raw) raw {
	if s := text(data); s != "" && json.Valid([]byte(s)) {
		return raw(s)
	}
	return data
}
