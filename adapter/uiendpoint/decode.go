package uiendpoint

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"slices"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/remote"
	"github.com/tributary-dev/tributary/policy/toolkind"
	"github.com/tributary-dev/tributary/trace"
	"github.com/tributary-dev/tributary/uistream"
)

// phase is what a turn does.
type phase uint8

const (
	idle    phase = iota // there is no turn
	running              // a stream is read
	cut                  // the stream broke off in the middle
	waiting              // the run has ended, and answers are missing
	over                 // the turn has its end
)

// Decoder reads what an endpoint says.
type Decoder struct {
	remote.Asking
	tools    toolkind.Table
	live     bool // else a recording is read, which may lack the requests
	session  string
	settings Settings

	b        *trace.Builder // of the turn; nil while the Decoder hears what is on record
	phase    phase
	before   []json.RawMessage // the messages before the one that is written
	message  *uistream.Reducer // the one that is written
	id       string            // its id
	reason   string            // why the endpoint ended the run
	finished bool              // it has said so
	idles    int               // streams in a row that broke off and had said nothing new
	place    place
	open     map[string]*part
	size     int                      // of the message that is decoded, in bytes
	forms    map[string]uistream.Form // of the calls
}

var _ agent.Decoder = (*Decoder)(nil)

// NewDecoder returns a Decoder of a recording.
func NewDecoder(tools toolkind.Table) *Decoder {
	d := &Decoder{tools: tools}
	d.turn(nil)
	d.phase = idle
	return d
}

// turn begins a turn.
func (d *Decoder) turn(before []json.RawMessage) {
	d.before, d.message, d.id = before, &uistream.Reducer{}, ""
	d.place, d.forms = newPlace(), map[string]uistream.Form{}
	d.begin()
}

// begin begins a run of the turn.
func (d *Decoder) begin() {
	d.phase, d.finished, d.reason, d.idles, d.open = running, false, "", 0, map[string]*part{}
	d.place.run = maps.Clone(d.place.now)
}

// expectReplay expects a stream that begins the run once more.
func (d *Decoder) expectReplay() {
	d.idles++
	d.open, d.place.now = map[string]*part{}, maps.Clone(d.place.run)
}

// Decode implements agent.Decoder.
func (d *Decoder) Decode(m agent.Message, t agent.Turns) ([]agent.Effect, error) {
	return d.Asking.Decode(m, t, d)
}

// Hear implements remote.Asker.
func (d *Decoder) Hear(m agent.Message, t agent.Turns) ([]agent.Effect, error) {
	d.b = t.Current()
	switch {
	case m.Channel == remote.Opened, m.Channel == remote.Answer:
		return nil, nil
	case m.Channel == remote.Ended:
		var end remote.End
		err := json.Unmarshal(m.Data, &end)
		return d.ended(end.Error), err
	case string(m.Data) == `"[DONE]"`:
		d.finished = true
		return nil, nil
	}
	c, err := uistream.ParseChunk(m.Data)
	if err != nil {
		return nil, err
	}
	d.size = len(m.Data)
	return d.heard(c, t), nil
}

// AtEnd ends the run of a recording that does not say how its stream ended.
func (d *Decoder) AtEnd(t agent.Turns) {
	d.b = t.Current()
	d.ended("")
}

// Request implements remote.Asker. A note says that an earlier process has left the turn.
func (d *Decoder) Request(c remote.Call, t agent.Turns) ([]agent.Effect, error) {
	switch s := readSent(c); {
	case c.Method == "":
		d.b = t.Prompted(sent{Messages: d.before}.prompt())
		if d.b != nil && d.phase == waiting {
			return d.ask(), nil
		}
	case c.Method != http.MethodPost || c.Path != "": // it begins no run
	case d.Continues():
		d.begin()
	case t.Prompted(s.prompt()) != nil:
		d.turn(s.Messages)
	}
	return nil, nil
}

// heard takes a chunk.
func (d *Decoder) heard(c uistream.Chunk, t agent.Turns) (effects []agent.Effect) {
	_, starts := uistream.Bare(c).(uistream.Start)
	if !d.live && starts && d.finished { // the next response of a recording
		effects = d.ended("")
		d.b = t.Current()
	}
	switch {
	case d.b != nil && d.phase != over && d.phase != idle:
	case d.b != nil && d.phase == idle, d.live || d.phase == over && !starts:
		return effects
	default:
		if d.b = t.Begin(agent.TurnInfo{}); d.b == nil {
			return effects
		}
		d.turn(nil)
	}
	if d.phase == waiting || d.phase == cut {
		d.phase = running
	}
	d.take(c)
	return effects
}

// ended takes the end of a run.
func (d *Decoder) ended(fault string) []agent.Effect {
	if d.b == nil || d.phase != running && d.phase != cut {
		return nil
	}
	if !d.finished && (fault != "" || d.unfinished() || d.idles > 0) {
		d.phase = cut
		d.expectReplay()
		return nil
	}
	d.endParts()
	if effects := d.ask(); len(effects) > 0 {
		d.phase = waiting
		return effects
	}
	d.leave()
	stop := trace.Stop{Reason: cmp.Or(d.reason, "stop"), Outcome: trace.OutcomeCompleted}
	if d.reason == "error" {
		stop.Outcome, stop.Error = trace.OutcomeFailed, "The endpoint says that its model failed."
	}
	d.b.End(stop)
	return nil
}

// leave ends the turn. The next turn brings the messages that the endpoint gets.
func (d *Decoder) leave() {
	d.phase, d.before, d.message, d.place = over, nil, &uistream.Reducer{}, newPlace()
}

// unfinished reports whether the message is empty, or a text or the input of a call is still
// being written.
func (d *Decoder) unfinished() bool {
	parts := d.message.Message().Parts
	return len(d.open) > 0 || slices.ContainsFunc(parts, func(p uistream.Part) bool { return p.State == "input-streaming" }) ||
		!slices.ContainsFunc(parts, func(p uistream.Part) bool { return p.Type != "step-start" })
}
