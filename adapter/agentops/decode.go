package agentops

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/tributary-dev/tributary/adapter/agentops/wire"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/policy/toolkind"
)

// Options of a Decoder.
type Options struct {
	// Tools says what the tools do; toolkind.OpenCode() if nil.
	Tools *toolkind.Table
	// User is our own id on the server. If User is "", the first user who joins after the
	// greeting counts as us.
	User string
	// OwnOnly leaves out the turns that others began.
	OwnOnly bool
	// NoGuess takes nobody for us: the session sets the user before each prompt.
	NoGuess bool
}

// Decoder reads the frames of one session.
type Decoder struct {
	tools   toolkind.Table
	ownOnly bool
	user    string // our own id, once it is known
	guesses bool   // it is taken from the first who joins

	greeted     bool           // a greeting came
	backlog     []wire.Message // the history that belongs to the next greeting
	asleep      bool           // the session is on its way up
	runnerState runnerState    // of its runner
	unseen      bool           // a turn runs whose beginning nobody here saw
	endAgain    bool           // the end of a stopped turn may be told a second time
	theirs      bool           // the prompt that waits is somebody else's
	model       string         // that is on record
	chosen      bool           // a prompt has named the model
	lastErr     string         // the error of the last turn, until the agent is given the next prompt

	turns    []*turn             // the open ones; those that run in the order of their beginnings
	newest   *turn               // that of the user's message that came last
	before   string              // the id of our newest prompt before a restart
	count    int                 // prompts so far, for ids
	moves    int                 // events of turns so far
	messages map[string]*message // of the agent, by id; nil for ids that are over
	past     []string            // the newest ids that are over, oldest first

	asks    map[string]*ask // without an answer, by the upstream's id
	waiting []string        // the ids of requests from before a restart, on record without an answer
	effects []agent.Effect
}

// The bounds of ids and lists.
const (
	longestID  = 512
	mostPast   = 256
	mostAsks   = 256
	mostRuns   = 64
	mostPrompt = 256
	mostWords  = 16 << 20 // of others' prompts
)

// NewDecoder returns a Decoder for one session.
func NewDecoder(o Options) *Decoder {
	tools := toolkind.OpenCode()
	if o.Tools != nil {
		tools = *o.Tools
	}
	return &Decoder{tools: tools, ownOnly: o.OwnOnly, user: o.User, guesses: !o.NoGuess, messages: map[string]*message{}, asks: map[string]*ask{}}
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
func (d *Decoder) Decode(m agent.Message, to agent.Turns) ([]agent.Effect, error) {
	err := d.decode(m, to)
	return d.take(), err
}

// take returns the effects since the last call.
func (d *Decoder) take() []agent.Effect {
	effects := d.effects
	d.effects = nil
	return effects
}

func (d *Decoder) decode(m agent.Message, to agent.Turns) error {
	switch {
	case m.Dir == agent.Err, m.Channel == fromRunner, m.Channel == toRunner:
		return nil
	case m.Channel == overREST:
		return d.recordedCall(m.Data, to)
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
		d.fromUs(f, to)
		return nil
	}
	return d.fromServer(f, m.Data, to)
}

// fromUs takes a frame that was sent to the session agent.
func (d *Decoder) fromUs(f wire.Frame, to agent.Turns) {
	switch f := f.(type) {
	case wire.Prompt:
		if f.Model != "" {
			d.chosen = true
			agentkit.NoteModel(&d.model, f.Model, to)
		}
		d.sent(f, to)
	case wire.QueueReplace:
		d.sent(f.Prompt, to)
	case wire.Answer:
		d.settle(f.QuestionID, answer{value: f.Answer.String(), by: cmp.Or(d.user, "user"), expired: f.Answer.String() == wire.Expired})
	case wire.Abort:
		d.abort()
	}
}

// fromServer takes a frame of the session agent.
func (d *Decoder) fromServer(f wire.Frame, data json.RawMessage, to agent.Turns) error {
	switch f := f.(type) {
	case wire.Unknown:
		return fmt.Errorf("agentops: the frame %q was skipped: %w", f.Name, agent.ErrUnknownEvent)
	case wire.Init:
		d.greeting(f, to)
	case wire.MessageAdded:
		d.added(f.Data, to)
	case wire.MessageUpdated:
		d.updated(f.Data, to)
	case wire.Chunk:
		d.chunk(f, to)
	case wire.AgentStatus:
		d.agentStatus(f, to)
	case wire.Status:
		d.status(f.Data, to)
		d.domain(f, data, to)
	case wire.Error:
		d.failed(f, to)
	case wire.QueueState:
		d.queueState(f.Data.Pending)
		d.domain(f, data, to)
	case wire.QueueWithdrawn:
		if t := d.queuedPrompt(f.Data); t != nil && t.phase <= given {
			d.withdraw(t)
		}
		d.domain(f, data, to)
	case wire.UserJoined:
		if d.user == "" && d.greeted && d.guesses {
			d.user = f.UserID
		}
		d.domain(f, data, to)
	case wire.Models:
		if !d.chosen {
			agentkit.NoteModel(&d.model, f.DefaultModel, to)
		}
	case wire.ModelSwitched:
		agentkit.NoteModel(&d.model, f.ToModel, to)
		d.domain(f, data, to)
	case wire.InteractivePrompt:
		d.ask(f, to)
	case wire.InteractivePromptResolved:
		d.settle(f.PromptID, answer{action: f.Resolution.ActionID, value: f.Resolution.Value, by: cmp.Or(f.Resolution.ResolvedBy, "user")})
	case wire.InteractivePromptExpired:
		d.settle(f.PromptID, answer{expired: true})
	default:
		d.domain(f, data, to)
	}
	return nil
}
