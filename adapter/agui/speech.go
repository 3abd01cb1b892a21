package agui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/trace"
)

// voice is one of the two sorts of text: the agent's words, and its reasoning.
type voice struct {
	role   string
	latest string          // the id of the newest message
	count  int             // of the messages without an id
	open   map[string]bool // the messages that have begun
	pieces map[string]int  // of each message of the run
	hidden map[string]bool // the messages that are not the agent's
}

func newVoice(role string) *voice {
	return &voice{role: role, open: map[string]bool{}, hidden: map[string]bool{}, pieces: map[string]int{}}
}

func (t *turn) voice(e event) *voice {
	if strings.HasPrefix(e.Type, "TEXT_") {
		return t.text
	}
	return t.thought
}

// begin begins a message. Reasoning had no ids before 1.0.
func (v *voice) begin(e event) {
	if e.MessageID == "" && v.role == roleReasoning {
		v.count++
		e.MessageID = fmt.Sprintf("thinking-%d", v.count)
	}
	v.latest = e.MessageID
	v.hidden[v.latest] = slices.Contains([]string{roleUser, roleTool, "system", "developer"}, e.Role)
}

func (d *Decoder) speechStart(t *turn, e event) { t.voice(e).begin(e) }

func (d *Decoder) speech(t *turn, e event) { t.say(t.voice(e), e, plain(e.Delta)) }

func (d *Decoder) speechEnd(t *turn, e event) { t.hush(t.voice(e), e) }

// speechChunk begins a message, goes on with it, and ends it once something else comes.
func (d *Decoder) speechChunk(t *turn, e event) {
	v := t.voice(e)
	if e.MessageID != "" && e.MessageID != v.latest {
		v.begin(e)
	}
	d.speech(t, e)
	e.MessageID = v.latest
	t.chunk = chunk{v.role + v.latest, func() { t.hush(v, e) }}
}

// say adds to a message. The record keeps the endpoint's own id of the message.
func (t *turn) say(v *voice, e event, text string) {
	id := cmp.Or(e.MessageID, v.latest)
	v.latest = id
	t.turnTo(v.role + id)
	if v.hidden[id] || text == "" || t.repeats(v, id, text) {
		t.b.Touch()
		return
	}
	t.speaks()
	if !v.open[id] && e.SubagentRunID == "" {
		t.nextStep()
		t.b.EmitOwn(memo{ID: id}.record())
	}
	v.open[id] = true
	v.pieces[id]++
	agentkit.VoiceOf(t.view(e.SubagentRunID), v == t.thought).Delta(id, text)
	t.said.say(v.role, id, e.SubagentRunID, text)
}

// repeats reports whether a piece of reasoning is a whole one that the run has streamed already:
// Google ADK says it again as another message, and Microsoft's framework at the end of its own.
func (t *turn) repeats(v *voice, id, text string) bool {
	for other, pieces := range v.pieces {
		m := t.said.find(v.role, other)
		if v.role == roleReasoning && m != nil && m.text.String() == text && (other != id && v.pieces[id] == 0 || other == id && pieces > 1) {
			return true
		}
	}
	return false
}

func (t *turn) hush(v *voice, e event) {
	id := cmp.Or(e.MessageID, v.latest)
	delete(v.open, id)
	agentkit.VoiceOf(t.view(e.SubagentRunID), v == t.thought).End(id, "")
}

// speaks notes that the run has said something. A run that goes on is not over, whatever
// the endpoint has said: TanStack AI ends a run for each answer of its model.
func (t *turn) speaks() {
	t.spoke = true
	if t.verdict != nil && t.verdict.Outcome == trace.OutcomeCompleted {
		t.verdict = nil
	}
}

// nextStep begins a step with the first thing behind the result of a call.
func (t *turn) nextStep() {
	if t.news && t.held == 0 { // clients correct a call in its own step alone
		t.b.StepStart(trace.Step{})
		t.news = false
	}
}

// chunk is the message or the call whose chunks come now.
type chunk struct {
	key string
	end func()
}

// turnTo ends a message or a call of chunks when another one comes.
func (t *turn) turnTo(key string) {
	if before := t.chunk; before.end != nil && before.key != key {
		t.chunk = chunk{}
		before.end()
	}
}

// sealed keeps a value for the next run.
func (d *Decoder) sealed(t *turn, e event) {
	s := sealed{Entity: e.EntityID, Value: string(e.EncryptedValue)}
	t.said.seal(s)
	t.b.EmitOwn(memo{Sealed: &s}.record())
}
