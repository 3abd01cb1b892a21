package agui

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/remote"
	"github.com/tributary-dev/tributary/policy/toolkind"
	"github.com/tributary-dev/tributary/trace"
)

// Decoder reads the events of runs, and the requests that begin them.
type Decoder struct {
	remote.Asking
	tools toolkind.Table
	live  bool // a session, and no recording

	t       agent.Turns
	effects []agent.Effect
	problem error // why an event was skipped
	turn    *turn
	left    *leftTurn // that an earlier process has left open
	plain   bool      // the last run had no snapshot of the messages
}

// NewDecoder returns a Decoder for recordings.
func NewDecoder() *Decoder { return &Decoder{} }

// turn is a turn of one run or of several.
type turn struct {
	b       *trace.Builder
	said    transcript // of this turn alone
	input   input      // of the newest run
	verdict *trace.Stop
	by      string // who has sent the prompt
	cancels bool   // the run cancels interrupts of an earlier turn, beside the prompt
	asks    []*ask
	legacy  []raw // the interrupts of endpoints before 1.0, in the newest run
	used    trace.Usage
	tokens  []usage // of the newest run, where RUN_FINISHED has none
	text    *voice
	thought *voice
	spoke   bool  // the run has said something
	chunk   chunk // that a chunk may go on with
	calls   map[string]*call
	order   []string        // of the calls
	earlier map[string]bool // the calls of earlier turns, if one of them is still to end
	latest  string          // the newest call
	news    bool            // a call has its result: what comes belongs to another step
	subs    map[string]sub
	values  map[place]raw // the state, and activities
	patched int64         // bytes of values that patches have changed
	unsent  []place
	// snapshot are the newest messages of an event MESSAGES_SNAPSHOT.
	snapshot []*message
	named    map[string]named // its calls
	doubts   []string         // the calls that a snapshot may correct
	strays   []event          // results of unknown calls, which wait for a snapshot
	held     int              // the results that wait for a snapshot
}

// Decode implements agent.Decoder.
func (d *Decoder) Decode(m agent.Message, t agent.Turns) ([]agent.Effect, error) {
	return d.Asking.Decode(m, t, d)
}

// Hear implements remote.Asker.
func (d *Decoder) Hear(m agent.Message, t agent.Turns) ([]agent.Effect, error) {
	d.t, d.effects, d.problem = t, nil, nil
	err := d.decode(m)
	return d.effects, err
}

func (d *Decoder) decode(m agent.Message) error {
	switch {
	case m.Channel == remote.Opened, string(m.Data) == `"[DONE]"`:
		return nil
	case m.Channel == remote.Ended:
		d.streamEnded()
		return nil
	}
	var e event
	if err := json.Unmarshal(m.Data, &e); err != nil {
		return fmt.Errorf("agui: an event of another form was skipped: %w", err)
	}
	decode, known := events[e.Type]
	if !known {
		return fmt.Errorf("agui: the event %.100q: %w", e.Type, agent.ErrUnknownEvent)
	}
	if e.Type == "RUN_STARTED" && !d.live {
		d.echoed(e)
	}
	t := d.current()
	if t == nil {
		return nil
	}
	decode(d, t, e)
	return d.problem
}

// events are the types of events. Those of reasoning had other names before 1.0.
var events = map[string]func(d *Decoder, t *turn, e event){ //nolint:gochecknoglobals // a table
	"RUN_STARTED": (*Decoder).runStarted, "RUN_FINISHED": (*Decoder).runFinished, "RUN_ERROR": (*Decoder).runError,
	"STEP_STARTED": (*Decoder).step, "STEP_FINISHED": (*Decoder).step,
	"TEXT_MESSAGE_START": (*Decoder).speechStart, "TEXT_MESSAGE_CONTENT": (*Decoder).speech, "TEXT_MESSAGE_END": (*Decoder).speechEnd, "TEXT_MESSAGE_CHUNK": (*Decoder).speechChunk,
	"TOOL_CALL_START": (*Decoder).callStart, "TOOL_CALL_ARGS": (*Decoder).callArgs, "TOOL_CALL_END": (*Decoder).callEnd,
	"TOOL_CALL_CHUNK": (*Decoder).callChunk, "TOOL_CALL_RESULT": (*Decoder).callResult,
	"STATE_SNAPSHOT": (*Decoder).snapshot, "STATE_DELTA": (*Decoder).patch, "ACTIVITY_SNAPSHOT": (*Decoder).snapshot, "ACTIVITY_DELTA": (*Decoder).patch,
	"MESSAGES_SNAPSHOT": (*Decoder).messages,
	"REASONING_START":   (*Decoder).touch, "REASONING_END": (*Decoder).speechEnd,
	"REASONING_MESSAGE_START": (*Decoder).speechStart, "REASONING_MESSAGE_CONTENT": (*Decoder).speech, "REASONING_MESSAGE_END": (*Decoder).speechEnd,
	"REASONING_MESSAGE_CHUNK": (*Decoder).speechChunk, "REASONING_ENCRYPTED_VALUE": (*Decoder).sealed,
	"THINKING_START": (*Decoder).speechStart, "THINKING_END": (*Decoder).speechEnd,
	"THINKING_TEXT_MESSAGE_START": (*Decoder).touch, "THINKING_TEXT_MESSAGE_CONTENT": (*Decoder).speech, "THINKING_TEXT_MESSAGE_END": (*Decoder).speechEnd,
	"SUBAGENT_STARTED": (*Decoder).subStarted, "SUBAGENT_FINISHED": (*Decoder).subEnded, "SUBAGENT_ERROR": (*Decoder).subEnded,
	"RAW": (*Decoder).raw, "CUSTOM": (*Decoder).custom,
}

func (*Decoder) touch(t *turn, _ event) { t.b.Touch() }

// current is the turn that runs. In a recording without requests, the first event begins a turn.
func (d *Decoder) current() *turn {
	b := d.t.Current()
	if d.turn != nil && (b != d.turn.b || b.Over()) {
		d.turn = nil
	}
	if d.turn == nil && !d.live {
		d.begin(d.t.Begin(agent.TurnInfo{}), input{})
	}
	return d.turn
}

func (d *Decoder) begin(b *trace.Builder, in input) {
	if b == nil {
		d.turn = nil
		return
	}
	t := &turn{b: b, input: in, text: newVoice(roleAssistant), thought: newVoice(roleReasoning), calls: map[string]*call{}, subs: map[string]sub{}, values: map[place]raw{state(): in.State}, earlier: map[string]bool{}}
	d.turn = t
	if t.cancels = len(in.Resume) > 0; t.cancels { // of an earlier turn, whose calls get their results now
		b.EmitOwn(memo{Answered: true}.record())
		for _, data := range in.Messages {
			var m message
			read(data, &m)
			for _, c := range m.Calls {
				t.earlier[c.ID] = true
			}
		}
	}
}

// Request implements remote.Asker.
func (d *Decoder) Request(c remote.Call, t agent.Turns) ([]agent.Effect, error) {
	d.t, d.effects = t, nil
	if c.Method == "" && d.left != nil {
		d.recall()
		return d.effects, nil
	}
	var in input
	if err := json.Unmarshal(c.Body, &in); err != nil || in.Messages == nil {
		return nil, errors.New("agui: an input without messages, or of another form, was skipped")
	}
	d.requested(in)
	if d.turn != nil && len(d.turn.asks) == 0 {
		d.turn.by = c.By
	}
	return nil, nil
}

// requested takes the input of a run: of a new turn, or of one that goes on.
func (d *Decoder) requested(in input) {
	t := d.turn
	if t == nil || !d.Continues() {
		if t != nil && t.verdict != nil {
			t.b.End(*t.verdict)
		}
		d.begin(d.t.Prompted(prompt(in.asked())), in)
		return
	}
	t.input, t.verdict = in, nil
}

// asked is the newest message of a person.
func (in input) asked() (m message) {
	for _, data := range slices.Backward(in.Messages) {
		if m = (message{}); read(data, &m) && m.Role == roleUser {
			return m
		}
	}
	return message{}
}

// echoed begins the turn of a recording whose events tell the input themselves.
func (d *Decoder) echoed(e event) {
	var in input
	if read(e.Input, &in) && len(in.Messages) > 0 && (d.turn == nil || d.turn.input.RunID != in.RunID) {
		d.requested(in)
	}
}

// prompt is the message of a person that a run answers.
func prompt(m message) trace.Prompt {
	p := trace.Prompt{Message: trace.UserMessage{ID: cmp.Or(m.ID, "prompt"), Parts: []trace.InputPart{}}}
	if len(m.Content) == 0 {
		return p
	}
	for _, c := range parts(m.Content) {
		in := trace.InputPart{Type: trace.InputText, Text: c.Text}
		if f, ok := c.file(); ok {
			in = trace.InputPart{Type: trace.InputFile, URL: f.URL, MediaType: f.MediaType, Filename: f.Filename}
		}
		p.Message.Parts = append(p.Message.Parts, in)
	}
	return p
}
