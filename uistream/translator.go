package uistream

import (
	"cmp"
	"time"

	"github.com/tributary-dev/tributary/trace"
)

// This file has the Translator, which turns the records of a turn into chunks.

// translation turns the records of one turn into chunks: a Translator, or a dialect around
// one.
type translation interface {
	Translate(r trace.Record) []Chunk
	// MessageID, Paused and Over are those of the Translator.
	MessageID() string
	Paused() bool
	Over() bool
	// openText is the id of a text that outlives a pause and is open now, or "".
	openText() string
	// keptPart is a part of history with the answer to its request.
	keptPart(p Part) Part
	// upstreamID is an upstream's own id of the message, for what goes back there, or "".
	upstreamID() string
}

func newTranslation(o Options) translation {
	if o.RFC {
		return newRFC(o)
	}
	return NewTranslator(o)
}

// Translator turns the records of one turn into chunks. A Translator is pure: the
// same records give the same chunks, and those of a prefix are a prefix. It
// corrects records outside the grammar of a turn as far as possible; they never
// give chunks that would end the client's turn. A Translator is not safe for
// concurrent use.
type Translator struct {
	// What a delta needs stands together.
	over    bool // the turn has stopped
	paused  bool
	opened  bool // the start of the message was sent
	step    bool // a step is open for the client
	out     []Chunk
	now     time.Time       // of the record
	event   string          // its id
	open    []*part         // parts that were opened since all were closed, in order
	further map[string]Keys // of an upstream of this protocol: keys for the chunks that come
	waits   map[string]bool // what a pause waits for at which readers left
	message string          // the assistant message that is being written

	options Options
	can     capabilities
	unknown int

	steps      int  // how many there were
	asked      bool // the last step holds an answer of the client's that is settled
	parts      map[string]*part
	calls      map[string]*call
	order      []*call // all, but those that were settled long ago
	stepCalls  []*call // those that the step shows
	writing    int     // calls whose input is being written
	approvals  map[string]*approval
	questions  map[string]*question
	questioned []*question // all, but those that were done long ago
	subs       map[string]*subagent
	held       []trace.Record // what came while a pause waited
	sources    int

	participants []string // of the message, for its metadata

	// Of an upstream of this protocol:
	asks      map[string]string // its own id of the approval of a call
	automated map[string]string // calls by the approvals that it itself answers
	unusable  map[string]string // calls whose input it could not use, and why
	native    string            // its own id of the message
}

// NewTranslator returns a Translator for one turn.
func NewTranslator(o Options) *Translator { return &Translator{options: o, can: o.capabilities()} }

// put sets a value in a map that is made with its first value: most turns need few of the maps, and a thousand clients may
// follow a turn.
func put[K comparable, V any](m *map[K]V, key K, value V) {
	if *m == nil {
		*m = map[K]V{}
	}
	(*m)[key] = value
}

// MessageID is the assistant message that the last chunks belong to.
func (t *Translator) MessageID() string { return t.message }

// Paused reports whether the last record was a pause at which readers leave: a
// subscriber gets the finish of the message and the end of the stream. A reader of the
// whole message goes on instead.
func (t *Translator) Paused() bool { return t.paused }

// Over reports whether the turn has stopped.
func (t *Translator) Over() bool { return t.over }

func (t *Translator) openText() string { return "" }

func (t *Translator) upstreamID() string {
	if t.options.Native {
		return t.native
	}
	return ""
}

// Unknown counts the records of kinds that this version does not know.
func (t *Translator) Unknown() int { return t.unknown }

// Translate takes the next record of the turn.
func (t *Translator) Translate(r trace.Record) []Chunk {
	if t.over || r.Payload == nil {
		return nil
	}
	t.out, t.paused = nil, false
	if t.holds(r) {
		return nil
	}
	t.translate(r)
	return t.out
}

func (t *Translator) translate(r trace.Record) {
	t.now, t.event = r.Time, r.ID
	if sub, ok := r.Actor.SubagentCall(); ok && t.subagent(sub, r) {
		return
	}
	if t.begins(r.Payload) {
		t.begin(r.Turn)
	}
	switch p := r.Payload.(type) {
	case trace.Prompt:
	case trace.Rewind:
		t.rewind()
	case trace.Reply:
		t.reply(p)
	case trace.Step:
		if p.Phase == trace.PhaseStart {
			t.stepStart(p)
		} else {
			t.stepEnd()
		}
	case trace.Status:
		t.status(p)
	case trace.Data:
		if p.Name == beyond {
			t.passOn(r.Turn, p.Value)
		} else if t.shows(p) {
			t.data(p)
		}
	case trace.Pause:
		t.pause(p)
	case trace.Stop:
		t.letPass()
		t.stop(p)
	case trace.Unknown:
		t.unknown++
	case trace.MessageStart:
		t.partStart(p.Part, false, p.Role)
	case trace.MessageDelta:
		t.partDelta(p.Part, p.Delta, false)
	case trace.Message:
		t.fullPart(p.Part, p.Text, false, p.Role)
	case trace.ThoughtStart:
		t.partStart(p.Part, true, trace.RoleAssistant)
	case trace.ThoughtDelta:
		t.partDelta(p.Part, p.Delta, true)
	case trace.Thought:
		t.fullPart(p.Part, p.Text, true, trace.RoleAssistant)
	case trace.ToolCallStart:
		t.callStart(p)
	case trace.ToolCallDelta:
		t.callDelta(p)
	case trace.ToolCall:
		t.fullCall(p)
	case trace.ToolResultProgress:
		t.preliminary(t.call(p.ToolCallID), SafeJSON(p.Output))
	case trace.ToolResult:
		t.callResult(p)
	case trace.PermissionRequest:
		t.permission(p)
	case trace.PermissionResponse:
		t.permitted(p)
	case trace.Question:
		t.question(p)
	case trace.Answer:
		t.answer(p)
	case trace.Usage:
		t.usage(p)
	case trace.Plan:
		t.plan(p)
	case trace.FileChange:
		t.fileChange(p)
	case trace.Source:
		t.source(p)
	case trace.File:
		t.file(p)
	case trace.Error:
		t.notice(p)
	}
}

// begins reports whether a record begins the message, if no reply has.
func (t *Translator) begins(p trace.Payload) bool {
	switch p := p.(type) { //nolint:gochecksumtype // all others do
	case trace.Prompt, trace.Reply, trace.Rewind, trace.Status, trace.Unknown:
		return false
	case trace.Data:
		return p.Name != beyond && !p.Transient && t.shows(p)
	}
	return true
}

// shows reports whether data is not of the agent's world, or chosen.
func (t *Translator) shows(p trace.Data) bool { return !p.Domain || t.options.Domain.wants(p.Name) }

func (t *Translator) emit(all ...Chunk) {
	for _, c := range all {
		if len(t.further) > 0 {
			c = t.extend(c)
		}
		t.out = append(t.out, c)
	}
}

// begin opens the message if no reply has; a turn of our own always has one.
func (t *Translator) begin(turn string) {
	if t.opened {
		return
	}
	t.openMessage(cmp.Or(turn, "message"))
}

func (t *Translator) openMessage(id string) {
	t.message, t.opened, t.native = id, true, ""
	t.emit(Start{MessageID: id})
}
