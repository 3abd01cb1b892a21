package acp

import (
	"encoding/json"
	"fmt"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/internal/jsonrpc"
	"github.com/tributary-dev/tributary/toolkind"
	"github.com/tributary-dev/tributary/trace"
)

// Options of a Decoder.
type Options struct {
	// Tools overrides what the agent says of the kinds of its tools.
	Tools toolkind.Table
	// Act runs a request of the agent's that the policy or a person has allowed, and
	// returns the result. A recording has none.
	Act func(method string, params json.RawMessage) (result any, err error)
	// Signs are those of the agent.
	Signs Signs
}

// Decoder reads the protocol's messages of one session.
type Decoder struct {
	o       Options
	session string            // the id of the session, once it is known
	ours    map[string]string // methods of requests of ours without a reply, by id
	theirs  map[string]their  // requests of the agent's without a reply, by id
	agent   hello             // the reply to initialize
	config  settings          // modes, models and options of the session
	prompts []prompt          // sent and not answered; the turn of the first one runs
	turn    *turn
	always  []*call         // what a person has allowed for good
	newest  jsonrpc.Message // of the agent; the zero Message if its newest line was none
	counted bool            // a reply has counted tokens
	heard   int             // lines of the agent
}

var _ agent.Decoder = (*Decoder)(nil)

// NewDecoder returns a Decoder for one session.
func NewDecoder(o Options) *Decoder {
	return &Decoder{o: o, ours: map[string]string{}, theirs: map[string]their{}}
}

// their is a request of the agent's.
type their struct {
	method   string
	ask      *ask
	terminal string
}

// turn is the running turn.
type turn struct {
	b        *trace.Builder
	stopped  bool // a person has stopped it
	broken   bool // the agent has said beside the protocol that it failed
	command  bool // the prompt is a command of the agent's
	shown    bool // the agent has shown a plan or a file
	speakers map[string]*speaker
	parts    int
	calls    map[string]*call
	held     *held
	context  *trace.Usage // the newest state of the context
	cost     *float64
}

// Decode implements agent.Decoder.
func (d *Decoder) Decode(m agent.Message, t agent.Turns) ([]agent.Effect, error) {
	if m.Dir == agent.Err {
		return nil, nil
	}
	msg, err := jsonrpc.Parse(m.Data)
	if m.Dir == agent.Out {
		d.newest = msg
		d.heard++
	}
	if err != nil {
		return nil, fmt.Errorf("acp: a line was skipped: %w", err)
	}
	var effects []agent.Effect
	if m.Dir == agent.In {
		effects, err = d.told(msg, t)
	} else {
		effects, err = d.said(msg, t)
	}
	if err != nil {
		return effects, fmt.Errorf("acp: a message was skipped: %w", err)
	}
	return effects, nil
}

// told takes what was sent to the agent.
func (d *Decoder) told(m jsonrpc.Message, t agent.Turns) ([]agent.Effect, error) {
	switch m.Kind() {
	case jsonrpc.Request:
		d.ours[string(m.ID)] = m.Method
		if id := sessionOf(m.Params); id != "" {
			d.session = id
		}
		if m.Method == methodPrompt {
			return d.prompt(m, t)
		}
	case jsonrpc.Response:
		d.answered(m)
	case jsonrpc.Notification, jsonrpc.Invalid:
		if c := d.current(t); c != nil && m.Method == methodCancel {
			c.stopped = true
		}
	}
	return nil, nil
}

// said takes what the agent has sent.
func (d *Decoder) said(m jsonrpc.Message, t agent.Turns) ([]agent.Effect, error) {
	switch m.Kind() {
	case jsonrpc.Response:
		method := d.ours[string(m.ID)]
		delete(d.ours, string(m.ID))
		return nil, d.replied(method, m, t)
	case jsonrpc.Request:
		return d.request(m, t)
	case jsonrpc.Notification, jsonrpc.Invalid:
	}
	switch m.Method {
	case methodUpdate:
		return nil, d.update(m.Params, t)
	case methodWithdraw:
		return d.withdrawn(m.Params), nil
	}
	d.touch(t)
	return nil, nil
}

// replied takes a reply to a request of ours.
func (d *Decoder) replied(method string, m jsonrpc.Message, t agent.Turns) error {
	switch method {
	case methodInitialize:
		return decodeInto(m.Result, &d.agent)
	case methodNew, methodLoad, methodResume, methodSetOption:
		return d.opened(m, t)
	case methodPrompt:
		return d.ended(m, t)
	}
	return nil
}

// opened takes the reply to a request that opened a session, or changed its options.
func (d *Decoder) opened(m jsonrpc.Message, t agent.Turns) error {
	if id := sessionOf(m.Result); id != "" {
		d.session = id
	}
	err := decodeInto(m.Result, &d.config)
	if m.Error == nil {
		d.config.note(t)
	}
	return err
}

// request takes a request of the agent's.
func (d *Decoder) request(m jsonrpc.Message, t agent.Turns) ([]agent.Effect, error) {
	switch m.Method {
	case methodPermission:
		return d.permission(m, t)
	case methodElicit:
		return d.elicit(m, t)
	case methodWrite, methodTermCreate:
		return d.action(m, t)
	case methodTermOutput:
		d.theirs[string(m.ID)] = their{method: m.Method, terminal: terminalOf(m.Params)}
	}
	d.touch(t)
	return nil, nil
}

// answered takes a reply of ours to a request of the agent's.
func (d *Decoder) answered(m jsonrpc.Message) {
	r, ok := d.theirs[string(m.ID)]
	delete(d.theirs, string(m.ID))
	switch {
	case !ok:
	case r.ask != nil:
		r.ask.answered(d, m)
	default:
		d.terminalOutput(r.terminal, m.Result)
	}
}

// withdrawn takes back a request of the agent's.
func (d *Decoder) withdrawn(params raw) []agent.Effect {
	var p struct {
		ID raw `json:"requestId"`
	}
	if json.Unmarshal(params, &p) != nil {
		return nil
	}
	r, ok := d.theirs[string(p.ID)]
	if !ok || r.ask == nil {
		return nil
	}
	delete(d.theirs, string(p.ID))
	r.ask.Cancel("")
	refusal := encode(map[string]any{
		"jsonrpc": "2.0", "id": p.ID, "error": jsonrpc.Error{Code: jsonrpc.CodeRequestCancelled, Message: "the request was withdrawn"},
	})
	return []agent.Effect{agent.Withdraw{Native: string(p.ID)}, agent.Send{Data: refusal}}
}

// current returns the turn that runs, or nil.
func (d *Decoder) current(t agent.Turns) *turn {
	b := t.Current()
	if b == nil || b.Over() || d.turn == nil || d.turn.b.Turn() != b.Turn() {
		return nil
	}
	return d.turn
}

func (d *Decoder) touch(t agent.Turns) {
	if c := d.current(t); c != nil {
		c.b.Touch()
	}
}

func decodeInto(data raw, into any) error {
	if len(data) == 0 {
		return nil
	}
	return json.Unmarshal(data, into)
}

func sessionOf(data raw) string {
	var s struct {
		ID string `json:"sessionId"`
	}
	_ = json.Unmarshal(data, &s) // params of another form have none
	return s.ID
}

func terminalOf(data raw) string {
	var s struct {
		ID string `json:"terminalId"`
	}
	_ = json.Unmarshal(data, &s) // as above
	return s.ID
}
