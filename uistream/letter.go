package uistream

import (
	"strings"

	"github.com/tributary-dev/tributary/trace"
)

// Under the letter of the older documents one upstream turn is one text: it begins
// with the message, whose id it has, goes on under that id after a tool, and ends
// with the turn. A step is nothing that the client sees; one with the agent's own
// id names the message, so that waits for it. A second one in the message begins
// another text, under its own id.

// letter is what a Translator knows besides when it follows the letter.
type letter struct {
	reply  string  // the message, by our own name
	native string  // the upstream turn that speaks
	text   string  // the id of its text
	open   bool    // the text has begun and not ended
	line   []*part // parts of the text that have not ended, in the order in which they began
	early  []Chunk // data that came before the message began
}

// nativeStep takes the agent's own id of what begins.
func (t *Translator) nativeStep(id string) {
	l := &t.letter
	switch {
	case id == "" || id == l.native:
	case !t.opened:
		l.native = id
		t.openMessage(id)
	case l.native == "": // the message had to begin before its name was known
		l.native = id
	default:
		t.endText()
		l.native, l.text = id, id
		t.openText()
	}
}

// openText begins the text, or goes on with it where it was ended for an approval.
func (t *Translator) openText() {
	if !t.letter.open {
		t.letter.open = true
		t.emit(TextStart{ID: t.letter.text})
	}
}

func (t *Translator) endText() {
	t.nextInLine(true)
	if t.letter.open {
		t.letter.open = false
		t.emit(TextEnd{ID: t.letter.text})
	}
}

// line puts a part behind those that are open. They are sent one after another,
// because one text cannot hold both at once; and history, which knows only wholes,
// must give the same order.
func (t *Translator) line(p *part) {
	t.letter.line = append(t.letter.line, p)
	if t.letter.line[0] == p {
		t.openText()
	}
}

// tell adds to the text, if the part is the first in line.
func (t *Translator) tell(p *part, delta string) {
	if t.letter.line[0] != p {
		p.waits.WriteString(delta)
		return
	}
	t.openText()
	t.emit(TextDelta{ID: t.letter.text, Delta: delta})
}

// nextInLine tells what parts have waited to say that are first now; all of them, if
// none is waited for any more.
func (t *Translator) nextInLine(all bool) {
	l := &t.letter
	for len(l.line) > 0 && (all || !l.line[0].open) {
		l.line[0].open = false
		if l.line = l.line[1:]; len(l.line) == 0 {
			break
		}
		next := l.line[0]
		t.openText()
		if next.waits.Len() > 0 {
			t.emit(TextDelta{ID: l.text, Delta: next.waits.String()})
			next.waits = strings.Builder{}
		}
	}
}

// openTextID is the text that is open now. A client that gets the rest of a message
// from here on needs the start of that text.
func (t *Translator) openTextID() string {
	if t.letter.open {
		return t.letter.text
	}
	return ""
}

// beside emits data that stands beside what is said. Under the letter what comes
// before the message waits for it: its id is not known yet.
func (t *Translator) beside(d Data) {
	if t.options.Letter && !t.opened && !d.Transient {
		t.letter.early = append(t.letter.early, d)
		return
	}
	t.emit(d)
}

// begun follows the start of a message.
func (t *Translator) begun() {
	t.letter.text, t.letter.open = t.message, false
	t.openText()
	t.emit(t.letter.early...)
	t.letter.early = nil
}

// letterStop ends a turn as the letter has it: only a turn that ended well ends a
// step, and one whose end nobody knows ends nothing but the message.
func (t *Translator) letterStop(p trace.Stop) {
	t.closeParts()
	t.nextInLine(true)
	reason := finishReason(p.Reason)
	switch p.Outcome {
	case trace.OutcomeFailed:
		text := p.Error
		if text == "" {
			text = "Turn failed"
		}
		t.emit(Error{ErrorText: text})
		reason = finishError
	case trace.OutcomeCanceled:
		t.endText()
		reason = finishOther
	default:
		if reason == finishStop {
			t.endText()
			t.emit(FinishStep{})
		}
	}
	t.emit(t.finish(reason, nil))
}

// letterResult is the result of a call. The letter has no word for a call that was
// left unfinished: the turn that it belonged to has ended.
func (t *Translator) letterResult(c *call, p trace.ToolResult) {
	switch p.Status {
	case trace.ToolCompleted:
		t.emit(ToolOutputAvailable{ToolCallID: c.id, Output: Opaque(p.Output)})
	case trace.ToolCanceled:
	default:
		text := p.Error
		if text == "" {
			text = "Tool execution failed"
		}
		t.emit(Error{ErrorText: text})
	}
}
