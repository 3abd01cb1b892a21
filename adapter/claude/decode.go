package claude

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/policy/toolkind"
	"github.com/tributary-dev/tributary/policy/workspace"
	"github.com/tributary-dev/tributary/trace"
)

// Options of a Decoder.
type Options struct {
	// Tools says what the tools do; toolkind.Claude() if zero.
	Tools *toolkind.Table
}

// Decoder reads the stream-json protocol of one session.
type Decoder struct {
	tools toolkind.Table
	at    agentkit.Bookmark // where the conversation stands
	model string
	// provider serves the model, if the agent says which one; it need not be Anthropic.
	provider string

	// starting is set until the agent is ready: what it says before that belongs
	// to no turn. An error it ends with then is kept.
	starting   bool
	startError string
	hello      chan<- controlResponse // takes the answer to initialize; nil when it has come, and in a recording

	prompted bool           // a prompt was seen
	echoes   bool           // prompts are known from their echo only
	echoing  bool           // the agent echoes prompts
	prompts  int            // prompts so far, for ids
	waiting  []trace.Prompt // prompts whose turn has not begun

	turn    *turn
	mode    string               // in which the agent works
	chosen  string               // the newest mode that the gateway asked for
	files   func() workspace.Dir // the workspace; nil in a recording
	modeID  string               // of the newest request for another mode
	told    string               // what the newest result has said
	calls   map[string]*call     // calls without a result, by id
	tasks   map[string]*call     // calls whose sub-agent works in the background
	asks    map[string]*ask      // requests without an answer, by the agent's id
	counted counted              // what the messages of the model have used since the newest result
	stored  string               // the resume token that the session knows
	effects []agent.Effect       // of the message that is being decoded
}

// call is a tool call without a result. The Decoder keeps calls beyond their turn, because
// calls of a background task may end in a later turn.
type call struct {
	trace.ToolCall
	turn   string // the turn in which it was written last
	first  string // the turn in which it was written first
	parent string // the call of the sub-agent that made it
}

// NewDecoder returns a Decoder for one session.
func NewDecoder(o Options) *Decoder {
	tools := toolkind.Claude()
	if o.Tools != nil {
		tools = *o.Tools
	}
	return &Decoder{tools: tools, calls: map[string]*call{}, tasks: map[string]*call{}, asks: map[string]*ask{}, counted: newCounted()}
}

var _ agent.Decoder = (*Decoder)(nil)

// Token is where the conversation stands and can be resumed: its id, and the
// newest message of it; "" until the agent has told the id.
func (d *Decoder) Token() string { return d.at.Token() }

// Decode implements agent.Decoder.
func (d *Decoder) Decode(m agent.Message, t agent.Turns) ([]agent.Effect, error) {
	if m.Dir == agent.Err {
		return nil, nil
	}
	var l line
	err := json.Unmarshal(m.Data, &l)
	if _, form := errors.AsType[*json.UnmarshalTypeError](err); err != nil && (!form || l.Type == "" || l.talk()) {
		return nil, fmt.Errorf("claude: a line that is not of its protocol was skipped: %w", err)
	}
	d.effects = nil
	if m.Dir == agent.In {
		d.fromGateway(l, t)
		return d.effects, nil
	}
	err = d.said(l, m.Data, t)
	if token := d.Token(); token != "" && token != d.stored && !d.starting {
		d.stored = token
		d.do(agent.Resume{Token: token})
	}
	return d.effects, err
}

func (d *Decoder) do(effects ...agent.Effect) { d.effects = append(d.effects, effects...) }

// fromGateway takes what the host wrote.
func (d *Decoder) fromGateway(l line, t agent.Turns) {
	switch l.Type {
	case "user":
		d.prompt(l, t)
	case "control_response":
		d.answer(l.Response, t)
	case "control_request":
		switch c := d.current(t); l.Request.Subtype {
		case "interrupt":
			if c != nil {
				c.interrupted = true
			}
		case "set_permission_mode":
			d.modeID, d.chosen = l.RequestID, l.Request.Mode
		}
	}
}

// said takes what the agent wrote.
func (d *Decoder) said(l line, data raw, t agent.Turns) error {
	if l.SessionID != "" && l.SessionID != d.at.Conversation {
		d.at = agentkit.Bookmark{Conversation: l.SessionID}
	}
	if l.UUID != "" && l.Parent == "" && (l.Type == "assistant" || l.Type == "user") {
		d.at.Moment = l.UUID
	}
	switch l.Type {
	case "stream_event":
		d.stream(l, t)
	case "assistant":
		d.snapshot(l, t)
	case "user":
		d.user(l, t)
	case "result":
		return d.result(data, t)
	case "system", "tool_progress", "rate_limit_event", "auth_status":
		return d.system(l, data, t)
	case "control_request":
		d.asked(l, t)
	case "control_response":
		d.offered(l.Response.Response, t)
		if l.Response.RequestID == d.modeID {
			d.modeSet(l.Response.Response, t)
		}
		if d.hello != nil && l.Response.RequestID == helloID {
			d.hello <- l.Response
			d.hello = nil
		}
	case "control_cancel_request":
		d.withdraw(l.RequestID)
	default:
		agentkit.Touch(t)
	}
	return nil
}

// asked takes a request of the agent's. The answer to an earlier request of the same id would count
// for it, too, so such a request is refused.
func (d *Decoder) asked(l line, t agent.Turns) {
	_, waits := d.asks[l.RequestID]
	switch {
	case waits:
		d.do(agent.Send{Data: refusalLine(l.RequestID, sameID)})
	case l.Request.Subtype == "can_use_tool":
		d.canUseTool(l, t)
	case l.Request.Subtype == "hook_callback":
		d.hook(l, t)
	default:
		d.do(agent.Send{Data: refusalLine(l.RequestID, unsupported)})
	}
}

// turn is what the Decoder knows of the turn that runs.
type turn struct {
	b *trace.Builder
	// prompt is set when somebody asked for the turn.
	prompt bool
	// echoed is set when the agent has taken the prompt up.
	echoed bool
	// began is set once the agent itself, not a sub-agent, has said something.
	began       bool
	shown       bool // a text of the agent itself
	interrupted bool
	fault       failure     // the newest error of the model's provider
	held        []*reply    // messages whose usage is not on record
	spent       trace.Usage // by the results of this turn
	speakers    map[string]*speaker
	messages    int
	sources     map[string]bool
	calls       map[string]bool // calls that were written in this turn
}

func newTurn(b *trace.Builder, prompt bool) *turn {
	return &turn{b: b, prompt: prompt, speakers: map[string]*speaker{}, sources: map[string]bool{}, calls: map[string]bool{}}
}

// current returns the turn that runs, or nil.
func (d *Decoder) current(t agent.Turns) *turn {
	b := t.Current()
	if b == nil || b.Over() {
		return nil
	}
	if d.turn == nil || d.turn.b.Turn() != b.Turn() {
		d.turn = newTurn(b, true)
	}
	return d.turn
}

// need returns the turn that runs and begins one if there is none: that of the
// prompt that waits longest, else one that the agent began by itself. It
// returns nil when no turn can be begun.
func (d *Decoder) need(t agent.Turns) *turn {
	if cur := d.current(t); cur != nil || d.starting {
		return cur
	}
	var b *trace.Builder
	prompted := len(d.waiting) > 0
	switch {
	case prompted:
		b = t.Prompted(d.waiting[0])
		d.waiting = d.waiting[1:]
	case !d.prompted && d.turn == nil:
		b = t.Begin(agent.TurnInfo{Reason: "stream"})
	default:
		b = t.Begin(agent.TurnInfo{Reason: "background_task"})
	}
	if b == nil {
		return nil
	}
	d.turn = newTurn(b, prompted)
	return d.turn
}
