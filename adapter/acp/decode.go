package acp

import (
	"encoding/json"
	"fmt"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/internal/jsonrpc"
	"github.com/tributary-dev/tributary/policy/toolkind"
	"github.com/tributary-dev/tributary/trace"
)

// Options of a Decoder.
type Options struct {
	// Tools overrides what the agent says of the kinds of its tools.
	Tools toolkind.Table
	// Signs are those of the agent.
	Signs Signs
	// LooseTools are those of the agent.
	LooseTools []string

	// check refuses an action that cannot be done even with a permission. do does an
	// action that was allowed. now returns the content of a file. A recording has none
	// of these functions.
	check func(action) error
	do    func(action) (result any, err error)
	now   func(path string) (text string, whole bool)
}

// Decoder reads the protocol's messages of one session.
type Decoder struct {
	o          Options
	session    string            // the id of the session, once it is known
	cwd        string            // of the session
	ours       map[string]string // methods of requests of ours without a reply, by id
	theirs     map[string]their  // requests of the agent's without a reply, by id
	agent      hello             // the reply to initialize
	options    []option          // of the session
	prompts    []prompt          // sent and not answered; the turn of the first one runs
	phase      phase
	early      []update // came outside any turn, for the beginning of the next one
	earlyBytes int
	turn       *turn
	past       map[string]*call // calls of earlier turns, by id; nil for a call that has its result
	newest     jsonrpc.Message  // of the agent; the zero Message if its newest line was none, or was refused
	counted    bool             // a reply has counted tokens
	known      trace.AgentInfo  // what is on record of the agent
	chosen     string           // the model that the settings of the session name
	heard      int              // lines of the agent
}

// phase says what an update means that comes outside any turn.
type phase int

const (
	fresh    phase = iota // before the first prompt: it belongs to the first turn
	loaded                // likewise, but the agent tells the past of the session: it is dropped
	prompted              // the agent begins a turn of its own
)

var _ agent.Decoder = (*Decoder)(nil)

// NewDecoder returns a Decoder for one session.
func NewDecoder(o Options) *Decoder {
	return &Decoder{o: o, ours: map[string]string{}, theirs: map[string]their{}}
}

// their is a request of the agent's.
type their struct {
	ask      *ask   // nil if nobody is asked, or no longer
	terminal string // whose output is asked for
}

// turn is the running turn.
type turn struct {
	b        *trace.Builder
	own      bool // the agent began it
	stopped  bool // a person has stopped it
	broken   bool // the agent has said beside the protocol that it failed
	command  bool // the prompt is a command of the agent's
	shown    bool // the agent has shown a plan or a file
	waiting  bool // its reply has come and waits
	updates  int  // of the turn, so far
	before   int  // updates that came before the reply
	speakers map[string]*speaker
	parts    int
	calls    map[string]*call
	held     *held
	context  *trace.Usage // the newest state of the context
	model    string       // that the agent has told beside the protocol
	steps    trace.Usage  // the sum of the calls of the model that were counted
	step     step
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
	take := d.said
	if m.Dir == agent.In {
		take = d.fromGateway
	}
	effects, err := take(msg, t)
	if err != nil {
		err = fmt.Errorf("acp: a message was skipped: %w", err)
	}
	return effects, err
}

// fromGateway takes what was sent to the agent.
func (d *Decoder) fromGateway(m jsonrpc.Message, t agent.Turns) ([]agent.Effect, error) {
	switch {
	case m.IsSameID():
		return nil, nil
	case m.Kind() == jsonrpc.Response:
		d.answered(m)
		return nil, nil
	case m.Method == methodCancel:
		if c := d.current(t); c != nil {
			c.stopped = true
		}
		return nil, nil
	}
	d.ours[string(m.ID)] = m.Method
	in := parse[ids](m.Params)
	if in.Session != "" {
		d.session = in.Session
	}
	switch m.Method {
	case methodNew, methodLoad, methodResume:
		d.cwd, d.phase = in.Cwd, fresh
		if m.Method == methodLoad {
			d.phase = loaded
		}
		if m.Method != methodNew {
			return []agent.Effect{agent.Resume{Token: d.session}}, nil // the conversation began before
		}
	case methodPrompt:
		return d.prompt(m, t)
	}
	return nil, nil
}

// said takes what the agent has sent.
func (d *Decoder) said(m jsonrpc.Message, t agent.Turns) ([]agent.Effect, error) {
	if c := d.current(t); c != nil {
		c.b.Touch() // the agent is alive, whatever it says
	}
	switch {
	case m.Kind() == jsonrpc.Response:
		return nil, d.replied(m, t)
	case m.Kind() == jsonrpc.Request:
		return d.request(m, t)
	case m.Method == "session/update":
		return nil, d.update(m.Params, t)
	case m.Method == "$/cancel_request":
		return d.withdrawn(parse[ids](m.Params).Request), nil
	}
	return nil, nil
}

// replied takes a reply to a request of the gateway.
func (d *Decoder) replied(m jsonrpc.Message, t agent.Turns) error {
	method := d.ours[string(m.ID)]
	delete(d.ours, string(m.ID))
	switch method {
	case methodInitialize:
		err := decode(m.Result, &d.agent)
		d.learn(trace.AgentInfo{Product: d.agent.Info.Name, Version: d.agent.Info.Version}, t)
		return err
	case methodPrompt:
		return d.ended(m, t)
	case methodNew, methodLoad, methodResume, methodSetOption:
		if id := parse[ids](m.Result).Session; id != "" {
			d.session = id
		}
		var o opened
		err := decode(m.Result, &o)
		d.configured(o.options(), t)
		return err
	}
	return nil
}

// request takes a request of the agent's. Its reply would answer an earlier request of the same id,
// too, so such a request is refused, and nothing of it is done.
func (d *Decoder) request(m jsonrpc.Message, t agent.Turns) ([]agent.Effect, error) {
	id := string(m.ID)
	if _, waits := d.theirs[id]; waits {
		d.newest = jsonrpc.Message{}
		return []agent.Effect{agent.Send{Data: refusal(m.ID, jsonrpc.SameID())}}, nil
	}
	d.theirs[id] = their{}
	switch m.Method {
	case methodPermission:
		return d.permission(m, t)
	case methodElicit:
		return d.elicit(m, t)
	case methodRead, methodWrite, methodTerminal:
		return d.act(m, t), nil
	case methodOutput:
		d.theirs[id] = their{terminal: parse[ids](m.Params).Terminal}
	}
	return nil, nil
}

// answered takes the gateway's reply to a request of the agent.
func (d *Decoder) answered(m jsonrpc.Message) {
	r := d.theirs[string(m.ID)]
	delete(d.theirs, string(m.ID))
	switch {
	case r.ask != nil:
		r.ask.answered(m)
	case r.terminal != "":
		d.terminalOutput(r.terminal, m.Result)
	}
}

// withdrawn withdraws a request of the agent. Its id is taken until its reply is sent.
func (d *Decoder) withdrawn(id raw) []agent.Effect {
	r := d.theirs[string(id)]
	if r.ask == nil {
		return nil
	}
	d.theirs[string(id)] = their{}
	r.ask.Cancel("")
	withdrawn := jsonrpc.Error{Code: jsonrpc.CodeRequestCancelled, Message: "the request was withdrawn"}
	return []agent.Effect{agent.Withdraw{Native: string(id)}, agent.Send{Data: refusal(id, withdrawn)}}
}

// current returns the turn that runs, or nil.
func (d *Decoder) current(t agent.Turns) *turn {
	b := t.Current()
	if b == nil || b.Over() || d.turn == nil || d.turn.b.Turn() != b.Turn() {
		return nil
	}
	return d.turn
}

// busy reports whether a call or a request of the turn is open.
func (d *Decoder) busy() bool {
	if d.turn.runs() {
		return true
	}
	for _, r := range d.theirs {
		if r.ask != nil && r.ask.Turn() == d.turn.b.Turn() {
			return true
		}
	}
	return false
}

// decode is json.Unmarshal for a value that may be missing.
func decode(data raw, into any) error {
	if len(data) == 0 {
		return nil
	}
	return json.Unmarshal(data, into)
}
