package openharness

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/remote"
	"github.com/tributary-dev/tributary/policy/toolkind"
	"github.com/tributary-dev/tributary/trace"
)

type raw = json.RawMessage

// Decoder reads what servers and the gateway say to each other.
type Decoder struct {
	tools toolkind.Table
	// live says that turns begin with prompts of this session only.
	live    bool
	earlier earlier // of the next turn
	// active says that the server has said something on the newest connection, and silent
	// counts the connections since the last word.
	active bool
	silent int

	model   string // that is on record
	turns   agent.Turns
	turn    *turn
	effects []agent.Effect
}

// NewDecoder returns a Decoder for recordings.
func NewDecoder() *Decoder { return &Decoder{tools: toolkind.Claude()} }

// message is anything that a server says.
type message struct {
	Type    string `json:"type"`
	Event   raw    `json:"event"`   // of the kernel, in its envelope
	Name    string `json:"name"`    // of an event of the log
	Payload raw    `json:"payload"` // as above
	Events  []raw  `json:"events"`  // a whole log
}

// Decode implements agent.Decoder.
func (d *Decoder) Decode(m agent.Message, t agent.Turns) ([]agent.Effect, error) {
	d.turns, d.effects = t, nil
	var err error
	switch {
	case m.Dir == agent.Err:
	case m.Channel == remote.Opened:
		d.active, d.silent = false, 0
	case m.Channel == "http":
		err = d.recorded(m.Data)
	case m.Dir == agent.In:
		err = d.sent(m.Data)
	case m.Channel == remote.Ended:
		var end remote.End
		err = json.Unmarshal(m.Data, &end)
		d.broken(end.Error == "")
	default:
		d.active, d.silent = true, 0
		err = d.event(m.Data)
	}
	return d.effects, err
}

// AtEnd ends the turn of a recording whose stream has no event for its end.
func (d *Decoder) AtEnd(agent.Turns) {
	if t := d.open(unknown); t != nil && t.language == chunks {
		t.finish(true)
	}
}

func (d *Decoder) event(data raw) error {
	if t := d.open(unknown); t != nil && t.gap {
		t.gap = false
		t.b.Emit(trace.Error{Code: "gap", Message: "The connection to Open Harness was lost for a while: events may be missing."})
	}
	var m message
	if err := json.Unmarshal(data, &m); err != nil {
		if string(data) == `"[DONE]"` {
			return nil
		}
		return fmt.Errorf("this is no message of Open Harness: %w", err)
	}
	switch {
	case m.Type == "event" && m.Event != nil:
		return d.kernel(m.Event)
	case m.Name != "" && m.Payload != nil:
		return d.logged(data)
	case m.Events != nil:
		for _, e := range m.Events {
			if err := d.logged(e); err != nil {
				return err
			}
		}
		return nil
	case strings.Contains(m.Type, ":"):
		return d.kernel(data)
	case m.Type != "" && m.Type != "command":
		return d.chunk(data)
	}
	return errors.New("this is no message of Open Harness: there is no type")
}

// command is what a client tells a flow.
type command struct {
	Type      string  `json:"type"`
	Message   *string `json:"message,omitempty"`
	RunID     string  `json:"runId,omitempty"`
	Resumable *bool   `json:"resumable,omitempty"`
	Reason    string  `json:"reason,omitempty"`
}

// envelope is a command as the WebSocket carries it.
type envelope struct {
	Type    string  `json:"type"`
	Command command `json:"command"`
}

// sent takes a request of the session, or a recorded command.
func (d *Decoder) sent(data raw) error {
	c, err := remote.ParseCall(data)
	if err != nil {
		return err
	}
	if c.Method == "" {
		c.Body = data
	}
	return d.request(c)
}

func (d *Decoder) request(c remote.Call) (err error) {
	switch {
	case c.Path == sessionsPath:
		var with struct{ Input string }
		_ = json.Unmarshal(c.Body, &with) // another form holds no prompt
		d.begin(scaffold, with.Input)
	case c.Path == chatPath:
		var with chat
		_ = json.Unmarshal(c.Body, &with) // as above
		d.begin(chunks, with.text())
	case strings.HasSuffix(c.Path, "/events"):
		d.begin(scaffold, "")
		if d.turn != nil {
			d.turn.session = strings.Split(c.Path, "/")[2]
			d.effects = append(d.effects, agent.Resume{Token: d.turn.session})
		}
	case strings.HasSuffix(c.Path, "/pause"):
		if t := d.open(unknown); t != nil {
			t.end("stopped", trace.OutcomeCanceled, "")
		}
	case strings.HasSuffix(c.Path, "/input"), c.Body == nil:
	default:
		var e envelope
		if err = json.Unmarshal(c.Body, &e); err != nil {
			return fmt.Errorf("this is no command of Open Harness: %w", err)
		}
		if c.Path == commandsPath {
			err = json.Unmarshal(c.Body, &e.Command)
		}
		d.command(e.Command)
	}
	return err
}

func (d *Decoder) command(c command) {
	t := d.open(unknown)
	switch {
	case c.Type == "resume" && t != nil && t.pause != nil:
		d.resumed(text(c.Message))
	case (c.Type == "send" || c.Type == "resume") && t == nil:
		d.begin(kernel, text(c.Message))
	case (c.Type == "abort" || c.Type == "stop") && t != nil:
		t.stopped = true
	}
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// recorded takes a request that a recording holds together with its answer.
func (d *Decoder) recorded(data raw) error {
	var x struct {
		Method, Path string
		Status       int
		Request      raw
	}
	err := json.Unmarshal(data, &x)
	if err != nil || x.Method != "POST" || x.Status/100 != 2 || x.Path != chatPath && x.Path != sessionsPath {
		return err
	}
	d.AtEnd(d.turns)
	return d.request(remote.Call{Path: x.Path, Body: x.Request})
}

// chat is the body of a prompt for the HTTP server.
type chat struct {
	Messages []chatMessage `json:"messages"`
}

type chatMessage struct {
	Role string `json:"role"`
	trace.UserMessage
}

// text is the text of the user's last message, as the server reads it.
func (c chat) text() string {
	for _, m := range slices.Backward(c.Messages) {
		for _, p := range m.Parts {
			if m.Role == "user" && p.Type == trace.InputText {
				return p.Text
			}
		}
	}
	return ""
}

// begin begins the turn of a prompt.
func (d *Decoder) begin(l language, prompt string) {
	p := trace.Prompt{Message: trace.UserMessage{Parts: []trace.InputPart{{Type: trace.InputText, Text: prompt}}}}
	d.take(l, d.turns.Prompted(p))
}

func (d *Decoder) take(l language, b *trace.Builder) {
	d.turn = nil
	if b != nil {
		d.turn = newTurn(l, b, d.tools)
		d.turn.earlier, d.earlier = d.earlier, earlier{}
	}
}

// open returns the turn that runs, or nil. A recording that holds no prompt begins its turns
// with events, in the language l.
func (d *Decoder) open(l language) *turn {
	if d.turn != nil && d.turn.b.Over() {
		d.turn = nil
	}
	if d.turn == nil && l != unknown && !d.live {
		d.take(l, d.turns.Begin(agent.TurnInfo{}))
	}
	return d.turn
}

// broken takes the end of a stream. Only the log of Open Scaffold can be read on.
func (d *Decoder) broken(cleanly bool) {
	t := d.open(unknown)
	switch {
	case t == nil || t.language == scaffold:
		return
	case t.language == chunks && cleanly && d.active:
		t.finish(false)
		return
	case !d.active:
		d.silent++
	}
	t.gap = true
	for _, r := range t.runs {
		r.close()
	}
}

// mostSilent is how many connections in a row may end without an event.
const mostSilent = 3

// hopeless begins another connection, or says why that has no hope.
func (d *Decoder) hopeless(b remote.Break) error {
	switch d.active = false; {
	case d.silent < mostSilent:
		return nil
	case b.Err != nil:
		return fmt.Errorf("each connection ends without an event: %w", b.Err)
	}
	return errors.New("each connection ends without an event")
}
