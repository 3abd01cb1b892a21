package agentops

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

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
	endAgain bool           // the end of what was stopped may be told a second time

	prompts []*prompt // those whose turn is not over, in order
	newest  *prompt   // the prompt whose message came last
	before  string    // the id of the newest prompt of ours before a restart
	theirs  bool      // what waits is somebody else's
	count   int       // prompts so far, for ids

	runs    []*run           // those that are not over, in order
	turns   map[string]*turn // the upstream's, by id, and the last that are over
	past    []string         // turns that are over, and their prompts, oldest first
	moves   int              // what has happened to them so far
	lastErr string           // what the last run failed with, until the next prompt is given to the agent

	asks    map[string]*ask // without an answer, by the upstream's id
	waiting []string        // the ids of requests from before a restart, on record without an answer
	effects []agent.Effect
}

// What is kept of a stranger's ids and lists.
const (
	longestID = 512
	mostPast  = 256
	mostAsks  = 256
	mostRuns  = 64
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
	err := d.decode(m, t)
	return d.take(), err
}

// take returns the effects since the last call.
func (d *Decoder) take() []agent.Effect {
	effects := d.effects
	d.effects = nil
	return effects
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
		return nil
	}
	return d.said(f, m.Data, t)
}

// told takes a frame that was sent to the session agent.
func (d *Decoder) told(f wire.Frame, t agent.Turns) {
	switch f := f.(type) {
	case wire.Prompt:
		d.sent(f, t)
	case wire.QueueReplace:
		d.sent(f.Prompt, t)
	case wire.Answer:
		d.settle(f.QuestionID, answer{value: f.Answer.String(), by: cmp.Or(d.user, "user"), expired: f.Answer.String() == wire.Expired})
	case wire.Abort:
		d.abort()
	}
}

// said takes a frame of the session agent.
func (d *Decoder) said(f wire.Frame, data json.RawMessage, t agent.Turns) error {
	switch f := f.(type) {
	case wire.Unknown:
		return fmt.Errorf("agentops: the frame %q was skipped: %w", f.Name, agent.ErrUnknownEvent)
	case wire.Init:
		d.greeting(f, t)
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
	case wire.QueueState:
		d.queueState(f.Data.Pending)
		d.domain(f, data, t)
	case wire.QueueWithdrawn:
		if p := d.queuedPrompt(f.Data); p != nil && p.phase <= given {
			d.withdraw(p)
		}
		d.domain(f, data, t)
	case wire.UserJoined:
		if d.user == "" && d.greeted && d.guesses {
			d.user = f.UserID
		}
		d.domain(f, data, t)
	case wire.InteractivePrompt:
		d.ask(f, t)
	case wire.InteractivePromptResolved:
		d.settle(f.PromptID, answer{action: f.Resolution.ActionID, value: f.Resolution.Value, by: cmp.Or(f.Resolution.ResolvedBy, "user")})
	case wire.InteractivePromptExpired:
		d.settle(f.PromptID, answer{expired: true})
	default:
		d.domain(f, data, t)
	}
	return nil
}

// AtEnd ends what only waits for a last word, and the wait for a second end.
func (d *Decoder) AtEnd(t agent.Turns) {
	d.endAgain = false
	for _, r := range slices.Clone(d.runs) {
		switch {
		case r.verdict != nil || r.course == stopping:
			d.cut(r)
		case r.doubt == maybeOver || r.doubt == alive:
			d.goesOnOr(r)
		case r.doubt == overUnseen:
			d.end(r, lost(streamInterrupted))
		default:
			d.releaseDeferred(r, true)
		}
	}
}

// unsettled reports whether AtEnd has something to end after a while.
func (d *Decoder) unsettled() bool {
	return d.endAgain || slices.ContainsFunc(d.runs, func(r *run) bool {
		return r.verdict != nil || r.course == stopping || r.doubt >= maybeOver || len(r.waits) > 0
	})
}

// channelOf names the channel of a frame, "type:id"; "" is the default one.
func channelOf(c wire.Channel, thread string) string {
	switch {
	case thread != "":
		return wire.ThreadChannel + ":" + thread
	case c.ChannelType == "" && c.ChannelID == "", c.ChannelType == "web" && c.ChannelID == "default":
		return ""
	}
	return cmp.Or(c.ChannelType, "web") + ":" + c.ChannelID
}
