package langgraph

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/remote"
	"github.com/tributary-dev/tributary/policy/toolkind"
	"github.com/tributary-dev/tributary/trace"
)

// Decoder reads what a graph says, in all forms in which graphs are published: the stream of
// a LangGraph server, the events of astream_events, and the events of Conversaition. The
// forms have different frames, so the Decoder tells them apart by themselves.
type Decoder struct {
	remote.Asking
	o     Options
	tools toolkind.Table
	live  bool // a session, and no recording
	ends  bool // the end of a stream is the end of its turn
	// goOn is the request that goes on with an interrupted graph; nil if there is none.
	goOn func(command raw) remote.Call

	t       agent.Turns
	effects []agent.Effect
	err     error

	turn       *turn
	over       bool // the turn has its end; what comes belongs to no turn
	at         spot
	notice     *trace.Error      // for the beginning of the next turn
	interrupts map[string]string // calls whose tool was interrupted, by the id of the interrupt
	earlier    *earlier          // a turn to take up

	server server
	events events
	talk   talk
}

// NewDecoder returns a Decoder for recordings.
func NewDecoder(o Options) *Decoder { return &Decoder{o: o} }

func (d *Decoder) do(e agent.Effect) { d.effects = append(d.effects, e) }

// strange reports a frame without a known form.
func (d *Decoder) strange(channel string, data raw) {
	d.err = fmt.Errorf("langgraph: a frame of %d bytes on %q has no known form", len(data), channel)
}

// Decode implements agent.Decoder.
func (d *Decoder) Decode(m agent.Message, t agent.Turns) ([]agent.Effect, error) {
	return d.Asking.Decode(m, t, d)
}

// Hear implements remote.Asker.
func (d *Decoder) Hear(m agent.Message, t agent.Turns) ([]agent.Effect, error) {
	d.t, d.effects, d.err = t, nil, nil
	d.settle()
	switch m.Channel {
	case remote.Opened:
	case remote.Ended:
		if d.ends && objectOf(m.Data).text("error") == "" { // a stream that broke off goes on elsewhere
			d.AtEnd(t)
		}
	case remote.Answer:
		d.answered(m.Data)
	default:
		d.frame(m.Channel, bytes.TrimSpace(m.Data))
	}
	return d.effects, d.err
}

// frame reads a frame of a mode, by the name of the event, or one whose form its content
// tells.
func (d *Decoder) frame(channel string, data raw) {
	mode, namespace, _ := strings.Cut(channel, "|")
	head := bytes.ReplaceAll(data[:min(len(data), 40)], []byte(" "), nil)
	switch {
	case bytes.HasPrefix(head, []byte(`{"type":"event",`)):
		d.protocol3(data)
	case d.mode(mode, namespace, data):
	case begins(data, '{'):
		d.object(channel, data)
	case len(data) == 0 || string(data) == `"[DONE]"` || string(data) == `""`: // the marks with which some backends end
	default:
		tuple := append(make([]raw, 3), list[raw](data)...) // [namespace, mode, data] of graph.stream
		tuple = tuple[len(tuple)-3:]
		if !d.mode(text(tuple[1]), strings.Join(list[string](tuple[0]), "|"), tuple[2]) {
			d.strange(channel, data)
		}
	}
}

// object reads a frame that is an object without a mode.
func (d *Decoder) object(channel string, data raw) {
	o := objectOf(data)
	switch {
	case o.first("event") != nil:
		d.event(o)
	case o.first("type") != nil && o["data"] != nil:
		d.conversation(o.text("type"), o["data"])
	case o["error"] != nil:
		d.mode("error", "", data)
	case o["__stream_error__"] != nil: // of a recording
		d.mode("error", "", o["__stream_error__"])
	case channel != "" && channel != remote.Unnamed: // the event's name stands beside its data
		d.conversation(channel, data)
	default:
		d.strange(channel, data)
	}
}

// begin returns the turn, and begins one in a recording that holds no prompt. It returns
// nil after the turn's end.
func (d *Decoder) begin() *turn {
	if d.over {
		return nil
	}
	if d.turn == nil {
		b := d.t.Current()
		if b == nil {
			b = d.t.Begin(agent.TurnInfo{})
		}
		if b != nil {
			d.enter(b, "")
		}
	}
	return d.turn
}

// enter begins a turn.
func (d *Decoder) enter(b *trace.Builder, prompt string) {
	d.turn = newTurn(b, d.o, d.tools)
	d.turn.prompt, d.turn.note = prompt, d.t.Note
	d.over, d.at.run = false, ""
	d.interrupts, d.server, d.events, d.talk = map[string]string{}, server{tuple: d.server.tuple && d.live, places: map[string]place{}}, newEvents(), talk{speaking: map[string]*speech{}}
}

// end ends the turn. An interrupted turn waits.
func (d *Decoder) end(reason, failure string) {
	if d.turn != nil && !d.over {
		d.turn.stop(reason, failure)
	}
	d.turn, d.over = nil, true
}

// allowNextTurn lets another turn begin after an end, in a recording of several turns.
func (d *Decoder) allowNextTurn() {
	if d.over && !d.live {
		d.over = false
	}
}

// waitsFor reports whether the turn waits for a person.
func (d *Decoder) waitsFor() bool { return d.turn != nil && len(d.turn.requests) > 0 }

// settle forgets a turn that somebody else has ended: what still comes belongs to no turn.
func (d *Decoder) settle() {
	if d.turn != nil && d.turn.b.Over() {
		d.turn, d.over = nil, true
	}
}

// AtEnd ends a turn at the end of a recording, or of the only stream of a turn.
func (d *Decoder) AtEnd(agent.Turns) {
	switch {
	case d.turn == nil:
	case d.waitsFor():
		if d.ends && !d.Waits() { // a backend that takes no answers
			d.end("", "")
		}
	case d.talk.begun:
		d.end("", "The conversation has gone silent: nothing says that it ended.")
	case d.events.root != "":
		d.end("", "The stream of events ended before the graph did.")
	case len(d.turn.order) == 0:
		d.end("", "")
	default: // in the middle of a message: canceled, or cut
	}
}

// fail takes an error that the source reports: an object, or a sentence.
func (d *Decoder) fail(data raw) {
	o := objectOf(data)
	kind := o.text("error", "name")
	sentence := cmp.Or(o.text("message", "detail", "error"), text(data), string(trace.CompactJSON(data)))
	if kind == "UserRollback" || kind == "UserInterrupt" || sentence == "rollback" {
		d.end("stopped", "")
		return
	}
	if kind == "UnknownInterruptError" || o["pending_ids"] != nil {
		if o.text("reason") == "ambiguous" || strings.Contains(sentence, "multiple pending") {
			sentence = "The graph waits for several answers, and takes no answer without the id of its question: send the prompt again."
		} else {
			sentence = "The graph does not wait for this answer any more: the question was answered on the server. Send a new prompt."
		}
	}
	if d.turn != nil {
		d.turn.class = remote.ClassOf(o.text("error"), o.text("name"), sentence)
	}
	d.end("failed", sentence)
}
