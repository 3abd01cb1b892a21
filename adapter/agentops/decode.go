package agentops

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/tributary-dev/tributary/agent"
	wire "github.com/tributary-dev/tributary/agentops"
	"github.com/tributary-dev/tributary/toolkind"
)

// Options of a Decoder.
type Options struct {
	// Tools says what the tools do; toolkind.OpenCode() if nil.
	Tools *toolkind.Table
	// User is our own id on the server. If it is "", the first who joins after the
	// greeting is taken for us.
	User string
	// OwnOnly leaves out the turns that others began.
	OwnOnly bool
	// Told says that who prompts is told before each prompt: nobody is taken for us.
	Told bool
}

// Decoder reads the frames of one session.
type Decoder struct {
	tools   toolkind.Table
	ownOnly bool
	user    string // our own id, once it is known
	guesses bool   // it is taken from who joins

	greeted  bool           // an init came
	backlog  []wire.Message // the history that belongs to the next init
	asleep   bool           // the session is on its way up
	presence presence       // of its runner
	unseen   bool           // a prompt runs whose beginning we did not see
	twice    bool           // what ran was stopped, of which the end may be told again at once

	prompts  []*prompt // those whose turn is not over, in order
	lastSeen *prompt   // whose user message came last
	before   string    // the id of the newest prompt of ours before a restart
	theirs   bool      // what waits is somebody else's
	count    int       // prompts so far, for ids

	runs    []*run           // those that are not over, in order
	turns   map[string]*turn // the upstream's, by id, and the last that are over
	past    []string         // turns that are over, and their prompts, oldest first
	moves   int              // what has happened to them so far
	lastErr string           // what the last run failed with, until the next prompt is given to the agent

	asks  map[string]*ask // without an answer, by the upstream's id
	fresh effects         // what nobody has taken yet
}

// What is kept of a stranger's ids and lists.
const (
	longestID  = 512
	mostPast   = 256
	mostPrompt = 256
	mostWords  = 16 << 20 // of prompts
	mostAsks   = 256
	mostRuns   = 64
)

// NewDecoder returns a Decoder for one session.
func NewDecoder(o Options) *Decoder {
	tools := toolkind.OpenCode()
	if o.Tools != nil {
		tools = *o.Tools
	}
	return &Decoder{tools: tools, ownOnly: o.OwnOnly, user: o.User, guesses: !o.Told, turns: map[string]*turn{}, asks: map[string]*ask{}}
}

var _ agent.Decoder = (*Decoder)(nil)

// The streams of a recording, see agent.Message. The frames of a runner are skipped: no
// browser gets them.
const (
	fromRunner = "r2d"
	toRunner   = "d2r"
	overREST   = "http"
)

// Decode implements agent.Decoder.
func (d *Decoder) Decode(m agent.Message, t agent.Turns) ([]agent.Effect, error) {
	return nil, d.decode(m, t) // the session takes what is to be done from take
}

func (d *Decoder) decode(m agent.Message, t agent.Turns) error {
	switch {
	case m.Dir == agent.Err, m.Channel == fromRunner, m.Channel == toRunner:
		return nil
	case m.Channel == overREST:
		return d.rest(m.Data, t)
	}
	direction := wire.ToBrowser
	if m.Dir == agent.In {
		direction = wire.FromBrowser
	}
	f, err := wire.Decode(direction, m.Data)
	switch {
	case err != nil:
		return fmt.Errorf("agentops: a frame was skipped: %w", err)
	case m.Dir == agent.In:
		d.told(f, t)
	default:
		d.said(f, m.Data, t)
	}
	return nil
}

// told takes a frame that was sent to the session agent.
func (d *Decoder) told(f wire.Frame, t agent.Turns) {
	switch f := f.(type) {
	case wire.Prompt:
		d.sent(f, t)
	case wire.QueueReplace:
		d.sent(f.Prompt, t)
	case wire.Answer:
		d.answered(f)
	case wire.Abort:
		d.abort()
	}
}

// said takes a frame of the session agent.
func (d *Decoder) said(f wire.Frame, data json.RawMessage, t agent.Turns) {
	switch f := f.(type) {
	case wire.Unknown:
		d.fresh.strange(f.Name)
	case wire.Init:
		d.greeting(f, data, t)
	case wire.MessageAdded:
		d.message(f.Data, t)
	case wire.MessageUpdated:
		d.updated(f.Data, t)
	case wire.Chunk:
		d.chunk(f, t)
	case wire.AgentStatus:
		d.agentStatus(f, t)
	case wire.Status:
		d.status(f.Data, t)
		d.domain(f, data, t)
	case wire.Error:
		d.failed(f, t)
	case wire.QueueState, wire.QueueWithdrawn:
		d.queue(f)
		d.domain(f, data, t)
	case wire.UserJoined:
		if d.user == "" && d.greeted && d.guesses {
			d.user = f.UserID
		}
		d.domain(f, data, t)
	case wire.InteractivePrompt:
		d.ask(f, t)
	case wire.InteractivePromptResolved:
		d.settleAsk(f.PromptID, verdict{action: f.Resolution.ActionID, value: f.Resolution.Value, by: cmp.Or(f.Resolution.ResolvedBy, "user")})
	case wire.InteractivePromptExpired:
		d.settleAsk(f.PromptID, verdict{expired: true})
	default:
		d.domain(f, data, t)
	}
}
