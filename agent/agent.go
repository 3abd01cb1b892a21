package agent

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"log/slog"
	"strings"

	"github.com/tributary-dev/tributary/policy/box"
	"github.com/tributary-dev/tributary/policy/workspace"
	"github.com/tributary-dev/tributary/trace"
)

// Runtime opens sessions with one kind of agent. All sessions share the Runtime, so
// it must be safe for concurrent use.
type Runtime interface {
	// Open makes the agent ready for prompts. It returns when the agent is, or
	// with an error of one sentence that says what to do. ctx bounds the opening
	// only: the Session lives until Close.
	Open(ctx context.Context, host Host, cfg Config) (Session, error)
}

// Prober is implemented by a Runtime that can tell whether it works here.
type Prober interface {
	// Probe returns the agent's version, or an error that says why it can't start.
	Probe(ctx context.Context) (version string, err error)
}

// Rewinder is implemented by a Runtime whose agent can go back. Its resume tokens
// name a moment. A Session that is opened with a token knows nothing of later
// messages. A Session that is opened with "" knows nothing at all.
type Rewinder interface {
	// Rewinds reports whether a token names a moment. One that names only the
	// conversation, as an older version may have given it, does not.
	Rewinds(token string) bool
}

// AnswerTaker is implemented by a Runtime whose agent takes more of a person's answer to a
// permission request than the option.
type AnswerTaker interface {
	// Takes tells whether the agent takes another input for the call that is allowed, and
	// whether it gets the reason of a refusal.
	Takes() (input, reason bool)
}

// Session is one conversation with an agent. Prompt is never called twice at a
// time; Close may be called at any time.
type Session interface {
	// Prompt runs one turn and returns when it is over. The agent's events go to b.
	// Cancelling ctx asks the agent to stop. Prompt then returns soon; if it does not,
	// the caller ends the process with Close.
	Prompt(ctx context.Context, p Prompt, b *trace.Builder) error
	// Close ends processes and goroutines and waits for them, for a bounded time.
	// Close is idempotent and makes a running Prompt return.
	Close() error
}

// Config is what a session is opened with.
type Config struct {
	// SessionID is the gateway's id of the session.
	SessionID string
	// Cwd is the directory that the agent works in. Never from the network.
	Cwd string
	// Resume is a token that an earlier Session of the same conversation gave to
	// Host.Resume, or "". The token is the newest one, except when a Rewinder must go
	// back. An agent that cannot find the place goes on as well as it can, and says so
	// in its next turn.
	Resume string
	// Model names the model and Mode the mode, in the agent's own words; "" is the
	// agent's default.
	Model, Mode string
	// OpenTurns are the turns of a [Reattacher] that an earlier process left open. Each of them
	// comes to Reattach. Other turns may begin before.
	OpenTurns []OpenTurn
	// StateDir is the gateway's directory for notes about running processes, or "". All
	// sessions share the directory; see Host.State for a directory of the session's own.
	StateDir string
	// Box closes files to every process that is started for the session. An adapter hands it on with
	// StateDir.
	Box box.Rule
	// Closed are the files and directories that no agent may read or write. The gateway
	// denies what an agent asks for. An adapter tells an agent that reads files without asking.
	Closed []string
	// Tap gets each message that passes between the session and the agent, in the order
	// in which the Decoder gets them: a recording of the session. Tap must not block. Nil
	// is no Tap.
	Tap func(Message)
	// Options are the settings of this agent that only its adapter understands, as
	// JSON, or nil. An adapter decodes them with [DecodeOptions], which refuses unknown
	// keys.
	Options json.RawMessage
	// Logger names the session and the agent in each line.
	Logger *slog.Logger
	// Meter counts events without a record: connections that could not be opened, and
	// messages of unknown types.
	Meter Meter
}

// Prompt is what a user asked.
type Prompt struct {
	Message trace.UserMessage
	By      string
	Channel string
	Caller  Caller
}

// Text returns the text of the prompt.
func (p Prompt) Text() string {
	var text strings.Builder
	for _, part := range p.Message.Parts {
		if part.Type != trace.InputText {
			continue
		}
		if text.Len() > 0 {
			text.WriteByte('\n')
		}
		text.WriteString(part.Text)
	}
	return text.String()
}

// Host is what the session gives to the agent. A Host is safe for concurrent use.
type Host interface {
	// Permit waits for the answer to a permission request that the decoder wrote.
	// The host has put the answer on record by then; the adapter does not. When
	// ctx ends, or the turn does, the outcome is canceled.
	Permit(ctx context.Context, requestID string) (trace.PermissionResponse, error)
	// Ask waits for the answer to a question that the decoder wrote.
	Ask(ctx context.Context, questionID string) (trace.Answer, error)
	// Files is the workspace. The session closes the workspace; the agent must not.
	Files() workspace.Dir
	// Begin opens a turn that no prompt from this gateway started: another user's on a
	// shared session, or a background task's. The turn ends when End is called on the
	// Builder, or with the Session. Begin returns nil when an agent begins too many turns.
	Begin(TurnInfo) *trace.Builder
	// Note records what happens outside any turn: title, modes, presence. A note of more than
	// 1 MB, and one of too many, is left out.
	Note(trace.Payload)
	// History yields the durable records of the session's earlier turns, oldest first,
	// without the turns that were rewound and without the running turn. Agents without
	// a memory of their own need it.
	History(ctx context.Context) iter.Seq2[trace.Record, error]
	// State returns a directory of this session's own, and makes it if need be. The
	// gateway removes the directory together with the session.
	State() (dir string, err error)
	// Resume stores how to find the agent's own session again. A Rewinder gives a new
	// token whenever the conversation has moved on: before Prompt returns, the newest
	// token covers the prompt and the answer.
	Resume(token string)
}

// TurnInfo says what began a turn.
type TurnInfo struct {
	// Prompt is what another user asked, or nil when the agent began by itself.
	Prompt *trace.Prompt
	// Reason says in a word why the agent began, such as background_task.
	Reason string
	// Concurrent says that the turn that runs goes on too.
	Concurrent bool
}

// Decoder is the pure half of an adapter: native messages in, records out. It
// holds the state of one session and is not safe for concurrent use.
type Decoder interface {
	// Decode takes one message, of either direction. A live session decodes what it
	// sends, too, so that a recording and a live session bring a Decoder into the
	// same state. The effects are what the session has to do now. An error means
	// that the message could not be understood and was skipped; the Decoder goes on.
	Decode(m Message, t Turns) ([]Effect, error)
}

// Message is one message of an agent's own protocol.
type Message struct {
	Dir Dir
	// Channel names the stream it came on, for agents that have several.
	Channel string
	Data    json.RawMessage
}

// Dir is the direction of a message, as seen from the agent.
type Dir string

// The directions.
const (
	Out Dir = "out" // the agent writes
	In  Dir = "in"  // the agent reads
	Err Dir = "err" // the agent's standard error: Data is a JSON string
)

// Turns gives a Decoder the turn to write to.
type Turns interface {
	// Prompted begins the turn of a prompt that was sent to the agent, and makes the
	// turn current. A live session returns the Builder of its oldest prompt that has
	// no turn yet; a recording opens a turn with p. Prompted returns nil when no turn
	// can begin.
	Prompted(p trace.Prompt) *trace.Builder
	// Begin opens a turn that no prompt from here began, and makes the turn current:
	// a background task of the agent, or another person's prompt on a shared session.
	Begin(TurnInfo) *trace.Builder
	// Current is the turn that runs, or nil.
	Current() *trace.Builder
	// Note records what happens outside any turn.
	Note(trace.Payload)
}

// CallerAware is implemented by a Session whose agent lives on a server that must know who
// gives an answer.
type CallerAware interface {
	// The session calls Introduce before it takes a person's answer, with the person's
	// token and trace context, any number of times and at any time. An error of one
	// sentence says why the answer cannot be passed on in their name. Then the answer is
	// not taken, and the request goes on waiting.
	Introduce(by string, c Caller) error
}

// ErrDetached is the cause of a turn's context that ends because the gateway stops while the
// turn goes on where its agent lives. Only turns of a Reattacher go on. The adapter must
// not stop their agent.
var ErrDetached = errors.New("the gateway is stopping: the turn goes on where its agent lives")

// Reattacher is implemented by a Runtime whose agents live elsewhere: their turns
// outlive the gateway. See [ErrLeft].
type Reattacher interface {
	// Reattach is Prompt for a turn that an earlier process of the gateway left open.
	// Reattach records the events since then, and returns when the turn is over. The
	// gateway calls Reattach for each turn of Config.Left, side by side.
	Reattach(ctx context.Context, s Session, left OpenTurn) error
}

// Waiter is a Reattacher whose runs may end with the gateway. Then only turns that wait for
// people outlive the gateway, and the others get the time to finish.
type Waiter interface {
	Reattacher
	// OnlyWaits reports whether a run ends with the gateway.
	OnlyWaits() bool
}
