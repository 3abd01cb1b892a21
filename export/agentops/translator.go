package agentops

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/tributary-dev/tributary/adapter/agentops/wire"
	"github.com/tributary-dev/tributary/trace"
)

// Options say for whom a session is shown.
type Options struct {
	Session   string
	Workspace string
	Title     string
	// AnswerLimit is how long a question or a request waits for its answer.
	AnswerLimit time.Duration
	// MaxMessage bounds the bytes of a message in message.updated; 4 MB if zero. A mark
	// stands for the inputs and outputs of tools that exceed the bound.
	MaxMessage int
}

// Translator makes frames of a session's records, in order. A Translator is not safe for
// concurrent use.
type Translator struct {
	Options
	turns []*turn  // the open ones, in the order in which they began
	known []string // the ids of the last messages, for a rewind
	away  bool     // the runner of the session has left
	quiet bool     // there is no browser yet
	out   []wire.Frame
}

// New returns a Translator that has seen no record.
func New(o Options) *Translator {
	if o.MaxMessage <= 0 {
		o.MaxMessage = 4 << 20
	}
	return &Translator{Options: o}
}

// Observe takes a record from before the browser came.
func (t *Translator) Observe(r trace.Record) {
	t.quiet = true
	t.Next(r)
	t.quiet = false
}

// Next returns the frames of the next record.
func (t *Translator) Next(r trace.Record) []wire.Frame {
	t.out = nil
	if d, is := r.Payload.(trace.Data); is {
		t.data(d)
	}
	if p, is := r.Payload.(trace.Rewind); is { // which may belong to no turn
		t.rewind(p)
	}
	if r.Turn == "" {
		return t.out
	}
	switch p := r.Payload.(type) {
	case trace.Prompt:
		t.prompt(r, p)
	case trace.Reply:
		t.reply(r, p)
	case trace.PermissionRequest:
		t.askPermission(r, p)
	case trace.Question:
		t.askQuestion(r, p)
	case trace.PermissionResponse:
		t.permission(r, p)
	case trace.Answer:
		t.answer(r, p)
	case trace.Stop:
		t.stop(r, p)
	case trace.MessageDelta, trace.Message, trace.ThoughtStart, trace.ToolCallStart, trace.ToolCall, trace.ToolResult, trace.Status, trace.FileChange, trace.Error:
		if u := t.find(r.Turn); u != nil && u.message != nil {
			t.running(u, r)
		}
	case trace.MessageStart, trace.ThoughtDelta, trace.Thought, trace.ToolCallDelta, trace.ToolResultProgress, trace.Pause, trace.Step, trace.Usage,
		trace.Plan, trace.Source, trace.File, trace.Unknown: // browsers have no frame for it
	case trace.Data, trace.Rewind: // done
	}
	return t.out
}

func (t *Translator) send(f wire.Frame) {
	if !t.quiet {
		t.out = append(t.out, f)
	}
}

func (t *Translator) find(id string) *turn {
	if i := slices.IndexFunc(t.turns, func(u *turn) bool { return u.id == id }); i >= 0 {
		return t.turns[i]
	}
	return nil
}

// turn finds a turn, or begins it.
func (t *Translator) turn(id string) *turn {
	if u := t.find(id); u != nil {
		return u
	}
	u := &turn{id: id, calls: map[string]trace.ToolCall{}}
	t.turns = append(t.turns, u)
	return u
}

// busy reports whether the agent is at work.
func (t *Translator) busy() bool {
	return slices.ContainsFunc(t.turns, func(u *turn) bool { return u.message != nil })
}

// rewind removes messages. Of messages that this Translator has not seen, it names the
// first only.
func (t *Translator) rewind(p trace.Rewind) {
	ids := []string{p.To}
	if i := slices.Index(t.known, p.To); i >= 0 {
		ids = slices.Clone(t.known[i:])
		t.known = t.known[:i]
	}
	t.send(wire.MessagesRemoved{MessageIDs: ids})
}

// mostKnown bounds the ids that are kept.
const mostKnown = 1000

func (t *Translator) know(id string) {
	if len(t.known) == mostKnown {
		t.known = slices.Delete(t.known, 0, mostKnown/2)
	}
	t.known = append(t.known, id)
}

// RunnerData names the data that says whether the session's runner is connected.
const RunnerData = "runner"

func (t *Translator) data(p trace.Data) {
	switch p.Name {
	case "title":
		var title string
		if json.Unmarshal(p.Value, &title) == nil && title != "" && title != t.Title {
			t.Title = title
			t.send(wire.Title{Title: title})
		}
	case RunnerData:
		var runner struct {
			Connected bool `json:"connected"`
		}
		if json.Unmarshal(p.Value, &runner) != nil || t.away == !runner.Connected {
			return
		}
		t.away = !runner.Connected
		d := wire.StatusData{RunnerConnected: &runner.Connected}
		if t.away {
			gone, waiting := true, len(t.waiting())
			d.RunnerDisconnected, d.QueuedPrompts = &gone, &waiting
		}
		t.send(wire.Status{Data: d})
	default:
		if f, ok := domainEvent(p); ok {
			t.send(f)
		}
	}
}

// channel is a turn's channel as Agent Ops names it, by two words, or none.
func channel(name string) (c wire.Channel, thread string) {
	typ, id, two := strings.Cut(name, ":")
	switch {
	case name == "":
		return c, ""
	case !two:
		typ, id = "web", name
	}
	if typ == wire.ThreadChannel {
		thread = id
	}
	return wire.Channel{ChannelType: typ, ChannelID: id}, thread
}
