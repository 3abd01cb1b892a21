package uistream

import (
	"encoding/json"

	"github.com/tributary-dev/tributary/trace"
)

// What is asked is shown where the turn parks, for the stock client sends an
// answer only if three things hold: what it answers stands in the last step of
// the message; nothing else of that step is unfinished; and all of it has its
// answer. A permission request is attached to the call itself where that stands
// in the last step and nothing beside it runs, else it gets a call and a step of
// its own. Questions have a step of their own.

// asked is a permission request or a question that a person is asked.
type asked struct {
	call *call  // of a permission request, once it is shown
	id   string // the call of the client's that a question is shown as, once it is
	step int    // the step that it was shown in last
	lone bool   // a permission request with a call of its own
	done bool
}

func (a *asked) shown() bool { return a.step > 0 }

// park shows what is asked and ends the step.
func (t *Translator) park(p trace.Park) {
	t.closeParts()
	var permissions []*approval
	var questions []*question
	for _, id := range p.Requests {
		if a, ok := t.approvals[id]; ok && t.toShow(&a.asked) {
			permissions = append(permissions, a)
		}
		if q, ok := t.questions[id]; ok && t.toShow(&q.asked) {
			questions = append(questions, q)
		}
	}
	t.askPermissions(permissions)
	t.askQuestions(questions)
	t.endWriting()
	t.closeStep()
	t.parked = !p.Held && !t.options.Letter
}

// toShow reports whether the client has to be shown what is asked: it was not
// yet, or not in what is now the last step.
func (t *Translator) toShow(a *asked) bool {
	return !a.done && (!a.shown() || a.step != t.steps && !t.options.Letter)
}

// ownStep begins a step that holds only what is asked.
func (t *Translator) ownStep() {
	t.endWriting()
	t.closeStep()
	t.openStep()
}

// endWriting shows the calls whose input is being written as they are: a step
// ends, and the clients would make two parts of a call that goes on in the next.
// The whole input is on record.
func (t *Translator) endWriting() {
	if t.writing == 0 {
		return
	}
	for _, c := range t.stepCalls {
		if c.state == callWriting && !c.hidden && !c.carried {
			t.complete(c, json.RawMessage("{}"))
		}
	}
}

// attaches reports whether these requests can be attached to their calls: the
// calls are all that is unfinished in the open step.
func (t *Translator) attaches(asked []*approval) bool {
	if !t.step {
		return false
	}
	calls := map[*call]bool{}
	for _, a := range asked {
		c, ok := t.calls[a.request.ToolCallID]
		if !ok || c.step != t.steps || c.state != callRunning || c.hidden || c.carried || calls[c] {
			return false
		}
		calls[c] = true
	}
	for _, c := range t.stepCalls {
		if (c.state == callWriting || c.state == callRunning) && !c.hidden && !c.carried && !calls[c] {
			return false
		}
	}
	return true
}
