package langgraph

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/remote"
	"github.com/tributary-dev/tributary/toolkind"
	"github.com/tributary-dev/tributary/trace"
)

// Decoder reads what a graph says, in all forms in which graphs are published: the stream of
// a LangGraph server, the events of astream_events, and the events of Conversaition. The
// forms have different frames, so the Decoder tells them apart by themselves.
type Decoder struct {
	o     Options
	tools toolkind.Table
	live  bool // a session, and no recording
	ends  bool // the end of a stream is the end of its turn
	// goOn is the request that goes on with an interrupted graph; nil if there is none.
	goOn func(command raw) remote.Call

	t       agent.Turns
	effects []agent.Effect

	turn       *turn
	over       bool // the turn has its end; what comes belongs to no turn
	ended      bool // the stream has ended
	at         spot
	notice     *trace.Error      // for the beginning of the next turn
	by         string            // the last person who answered
	interrupts map[string]string // calls whose tool was interrupted, by the id of the interrupt
	waiting    []string          // what an earlier process asks

	server server
	events events
	talk   talk
}

// NewDecoder returns a Decoder for recordings.
func NewDecoder(o Options) *Decoder { return &Decoder{o: o} }

func (d *Decoder) do(e agent.Effect) { d.effects = append(d.effects, e) }

// Decode implements agent.Decoder.
func (d *Decoder) Decode(m agent.Message, t agent.Turns) ([]agent.Effect, error) {
	d.t, d.effects = t, nil
	err := d.decode(m)
	return d.effects, err
}

func (d *Decoder) decode(m agent.Message) error {
	if m.Dir == agent.In {
		return d.sent(m.Data)
	}
	if m.Dir != agent.Out {
		return nil
	}
	switch m.Channel {
	case remote.Opened:
		d.ended = false
		return nil
	case remote.Ended:
		return d.streamEnded(m.Data)
	case remote.Answer:
		return d.answered(m.Data)
	}
	mode, namespace, _ := strings.Cut(m.Channel, "|")
	if head := bytes.ReplaceAll(m.Data[:min(len(m.Data), 40)], []byte(" "), nil); bytes.HasPrefix(head, []byte(`{"type":"event",`)) {
		return d.protocol3(m.Data)
	}
	if decode := modes[mode]; decode != nil {
		return decode(d, namespace, m.Data)
	}
	return d.frame(m)
}

// streamEnded takes the end of a stream. A stream that broke off goes on elsewhere.
func (d *Decoder) streamEnded(data raw) error {
	var end remote.End
	if read(data, &end); end.Error != "" || d.turn == nil || d.over {
		return nil
	}
	d.ended = true
	switch {
	case d.waitsFor() && d.goOn != nil:
		d.answer()
	case d.waitsFor() && d.ends:
		d.end("", "")
	case d.ends:
		d.AtEnd(d.t)
	}
	return nil
}

// frame reads a frame whose form its content tells.
func (d *Decoder) frame(m agent.Message) error {
	var f struct {
		Event *string `json:"event"`
		Type  *string `json:"type"`
		Data  raw     `json:"data"`
		Error raw     `json:"error"`
		Role  string  `json:"role"`
	}
	var list []raw
	switch data := strings.TrimSpace(string(m.Data)); {
	case strings.HasPrefix(data, "["):
		if err := json.Unmarshal(m.Data, &list); err != nil || len(list) < 2 || len(list) > 3 {
			return unknownFrame(m)
		}
		if decode := modes[text(list[len(list)-2])]; decode != nil { // [namespace, mode, data] of graph.stream
			var path []string
			_ = json.Unmarshal(list[0], &path) // a mode without a namespace
			return decode(d, strings.Join(path, "|"), list[len(list)-1])
		}
		return unknownFrame(m)
	case !strings.HasPrefix(data, "{"):
		return d.word(m)
	}
	read(m.Data, &f)
	switch {
	case f.Event != nil:
		return d.event(m.Data)
	case f.Type != nil && len(f.Data) > 0:
		return d.conversation(*f.Type, f.Data)
	case len(f.Error) > 0:
		return d.fail(m.Data)
	case len(lone(m.Data, "error")) > 0:
		return d.fail(lone(m.Data, "error"))
	case m.Channel != "" && m.Channel != remote.Unnamed: // the event's name stands beside its data
		return d.conversation(m.Channel, m.Data)
	}
	return unknownFrame(m)
}

// lone is the value of the only key of an object, if its name has this word in it.
func lone(object raw, word string) raw {
	var all map[string]raw
	read(object, &all)
	for key, value := range all {
		if len(all) == 1 && strings.Contains(key, word) {
			return value
		}
	}
	return nil
}

// word reads a frame that is no object: the marks with which some backends end.
func (d *Decoder) word(m agent.Message) error {
	if s := text(m.Data); s == "[DONE]" || s == "" || m.Channel == "end" {
		return nil
	}
	return unknownFrame(m)
}

func unknownFrame(m agent.Message) error {
	return fmt.Errorf("langgraph: a frame of %d bytes on %q has no known form", len(m.Data), m.Channel)
}

// begin returns the turn, and begins one in a recording that holds no prompt. It returns
// nil after the turn's end.
func (d *Decoder) begin() *turn {
	if d.over {
		return nil
	}
	if d.turn == nil {
		if b := d.t.Current(); b != nil {
			d.enter(b, "")
		} else if b := d.t.Begin(agent.TurnInfo{}); b != nil {
			d.enter(b, "")
		}
	}
	return d.turn
}

// enter begins a turn.
func (d *Decoder) enter(b *trace.Builder, prompt string) {
	d.turn = newTurn(b, d.o, d.tools)
	d.turn.prompt = prompt
	d.over, d.ended, d.by, d.at.run = false, false, "", ""
	d.interrupts, d.server, d.events, d.talk = map[string]string{}, server{tuple: d.server.tuple && d.live}, events{}, talk{}
}

// end ends the turn. An interrupted turn waits.
func (d *Decoder) end(reason, failure string) {
	if d.turn != nil && !d.over {
		d.turn.stop(reason, failure)
	}
	d.turn, d.over = nil, true
}

// again lets another turn begin after an end, in a recording of several turns.
func (d *Decoder) again() {
	if d.over && !d.live {
		d.over = false
	}
}

// waitsFor reports whether the turn waits for a person.
func (d *Decoder) waitsFor() bool { return d.turn != nil && !d.over && len(d.turn.asks) > 0 }

// AtEnd ends a turn at the end of a recording, or of the only stream of a turn.
func (d *Decoder) AtEnd(agent.Turns) {
	switch {
	case d.turn == nil || d.waitsFor():
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
func (d *Decoder) fail(data raw) error {
	t := d.begin()
	if t == nil {
		return nil
	}
	var f struct {
		Error   raw    `json:"error"`
		Message string `json:"message"`
		Detail  string `json:"detail"`
	}
	read(data, &f)
	sentence := f.Message
	for _, other := range []string{f.Detail, text(f.Error), text(data), string(trace.Opaque(data))} {
		if sentence == "" {
			sentence = other
		}
	}
	if text(f.Error) == "UserRollback" || sentence == "rollback" || text(f.Error) == "UserInterrupt" {
		d.end("stopped", "")
		return nil
	}
	d.end("failed", sentence)
	return nil
}
