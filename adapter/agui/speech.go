package agui

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/trace"
)

// speech is what the messages of a turn have in common.
type speech struct {
	text, thought string          // the ids of the newest message and of the newest reasoning
	thoughts      int             // reasoning without an id, before 1.0
	chunk         chunk           // the message or call whose chunks come now
	open          map[string]bool // the messages that have begun, by kind and id
	hidden        map[string]bool // the messages that are not the agent's
	some          bool            // the run has said something
}

// chunk names what chunks belong to.
type chunk struct{ kind, id, sub string }

const (
	kindText    = "text"
	kindThought = "thought"
	kindCall    = "call"
)

// mark begins a message on record, with the endpoint's own id of it. A message after the
// result of a call begins another step.
func (t *turn) mark(kind, id, sub string) {
	t.speech.some = true
	if t.speech.open[kind+id] {
		return
	}
	t.speech.open[kind+id] = true
	if sub != "" {
		return
	}
	t.nextStep()
	t.b.Emit(memo{ID: id}.record())
}

func (t *turn) nextStep() {
	if t.news {
		t.b.StepStart(trace.Step{})
		t.news = false
	}
}

func (d *Decoder) textStart(t *turn, e event) error {
	t.speech.text = e.MessageID
	t.speech.hidden[e.MessageID] = e.Role != "" && e.Role != roleAssistant
	return nil
}

func (d *Decoder) text(t *turn, e event) error {
	id := cmp.Or(e.MessageID, t.speech.text)
	t.speech.text = id
	text := e.text()
	if t.speech.hidden[id] || text == "" {
		t.b.Touch()
		return nil
	}
	t.mark(kindText, id, e.Sub)
	t.view(e.Sub).MessageDelta(id, text)
	t.said.say(roleAssistant, id, e.Sub, text)
	return nil
}

func (d *Decoder) textEnd(t *turn, e event) error {
	id := cmp.Or(e.MessageID, t.speech.text)
	t.view(e.Sub).MessageEnd(id)
	delete(t.speech.open, kindText+id)
	return nil
}

func (d *Decoder) textChunk(t *turn, e event) error {
	if e.MessageID != "" && e.Role != "" {
		t.speech.hidden[e.MessageID] = e.Role != roleAssistant
	}
	return d.text(t, e)
}

func (d *Decoder) thoughtStart(t *turn, e event) error {
	if e.MessageID == "" {
		t.speech.thoughts++
		e.MessageID = "thinking-" + string(encode(t.speech.thoughts))
	}
	t.speech.thought = e.MessageID
	return nil
}

func (d *Decoder) thought(t *turn, e event) error {
	id := cmp.Or(e.MessageID, t.speech.thought)
	t.speech.thought = id
	text := e.text()
	if text == "" {
		return d.touch(t, e)
	}
	t.mark(kindThought, id, e.Sub)
	t.view(e.Sub).ThoughtDelta(id, text)
	t.said.say(roleReasoning, id, e.Sub, text)
	return nil
}

func (d *Decoder) thoughtEnd(t *turn, e event) error {
	id := cmp.Or(e.MessageID, t.speech.thought)
	t.view(e.Sub).ThoughtEnd(id, "")
	delete(t.speech.open, kindThought+id)
	return nil
}

// closeChunks ends a message or call of chunks once another one comes. Events beside the
// messages close nothing.
func (d *Decoder) closeChunks(t *turn, e event) {
	now, id := "", e.MessageID
	switch e.Type {
	case "TEXT_MESSAGE_CHUNK":
		now, id = kindText, cmp.Or(id, t.speech.text)
	case "REASONING_MESSAGE_CHUNK":
		now, id = kindThought, cmp.Or(id, t.speech.thought)
	case "TOOL_CALL_CHUNK":
		now, id = kindCall, cmp.Or(e.ToolCallID, t.latest)
	default:
		if !slices.ContainsFunc([]string{"TEXT_", "TOOL_CALL_", "REASONING_M", "RUN_"}, func(p string) bool { return strings.HasPrefix(e.Type, p) }) {
			return
		}
	}
	before := t.speech.chunk
	t.speech.chunk = chunk{now, id, e.Sub}
	if before.kind == now && before.id == id {
		return
	}
	switch before.kind {
	case kindText:
		t.view(before.sub).MessageEnd(before.id)
	case kindThought:
		t.view(before.sub).ThoughtEnd(before.id, "")
	case kindCall:
		if t.calls[before.id] != nil {
			d.whole(t, before.id)
		}
	}
	delete(t.speech.open, before.kind+before.id)
}

// sealed keeps a value for the next run.
func (d *Decoder) sealed(t *turn, e event) error {
	s := sealed{Entity: e.EntityID, Value: string(e.Encrypted), Kind: e.EncryptedType}
	t.said.seal(s)
	t.b.Emit(memo{Sealed: &s}.record())
	return nil
}

// messages takes a snapshot of the conversation. Endpoints split messages there in another
// way than in their stream, so the snapshot counts only for a run that streams nothing.
func (d *Decoder) messages(t *turn, e event) error {
	t.history = e.Messages
	return d.touch(t, e)
}

// showHistory shows the messages of a run that has streamed nothing: those behind the last
// message of a person.
func (d *Decoder) showHistory(t *turn) {
	all := t.history
	t.history = nil
	if t.speech.some {
		t.speech.some = false
		return
	}
	for i, m := range slices.Backward(all) {
		if m != nil && m.Role == roleUser {
			all = all[i+1:]
			break
		}
	}
	for _, m := range all {
		if m == nil || t.knows(m) {
			continue
		}
		e := event{MessageID: m.ID, Sub: m.Sub, Delta: m.Content, Content: m.Content, ToolCallID: m.ToolCallID, Parent: m.ID}
		switch m.Role {
		case roleReasoning:
			_ = d.thought(t, e)
			_ = d.thoughtEnd(t, e)
		case roleTool:
			_ = d.callResult(t, e)
		case roleAssistant:
			_ = d.text(t, e)
			_ = d.textEnd(t, e)
			for _, c := range m.Calls {
				e.ToolCallID, e.ToolName, e.Delta = c.ID, c.Function.Name, encode(c.Function.Arguments)
				_ = d.callArgs(t, e)
				d.whole(t, c.ID)
			}
		}
	}
	t.speech.some = false
}

// knows reports whether the turn has said a message in an earlier run.
func (t *turn) knows(m *message) bool {
	text := plain(m.Content)
	return slices.ContainsFunc(t.said.messages, func(o *message) bool {
		return o.Role == m.Role && m.Role != roleTool && (o.ID == m.ID || text != "" && o.text.String() == text)
	})
}
