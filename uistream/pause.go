package uistream

import (
	"encoding/json"

	"github.com/tributary-dev/tributary/trace"
)

// This file shows requests where the turn pauses.

// Requests are shown where the turn pauses, because the stock client sends an answer
// only under three conditions. The answered parts stand in the last step of the
// message. No other part of that step is unfinished. All requests of the step have
// their answer. A permission request is attached to the call itself if the call
// stands in the last step and no other call of it runs. Else the request gets a
// call and a step of its own. Questions have a step of their own.

// pauseChunks ends the response to a reader who leaves at a pause.
func pauseChunks(o Options) []Chunk { return []Chunk{NewTranslator(o).finish(finishTools, nil)} }

// asked is a permission request or a question that a person is asked.
type asked struct {
	call      *call  // of a permission request, once it is shown
	id        string // the call of the client's that a question is shown as, once it is
	step      int    // the step that it was shown in last
	synthetic bool   // a permission request with a call of its own
	done      bool
}

func (a *asked) shown() bool { return a.step > 0 }

// pause shows what is asked and ends the step.
func (t *Translator) pause(p trace.Pause) {
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
	if t.paused = !p.Held; t.paused {
		t.wait(p.Requests)
	}
}

// Readers leave at a pause. The agent's work during the wait is shown behind the
// answers, so that the request stays the last part of its message. An answer in
// words closes that message for good, so the work is shown in the next message.

// wait notes what has no answer yet.
func (t *Translator) wait(requests []string) {
	t.waits = map[string]bool{}
	for _, id := range requests {
		if a, q := t.approvals[id], t.questions[id]; a != nil && !a.done || q != nil && !q.done {
			t.waits[id] = true
		}
	}
}

// holds reports whether a record is kept for later. The answers that the pause waits for
// are not.
func (t *Translator) holds(r trace.Record) bool {
	if len(t.waits) == 0 {
		return false
	}
	switch p := r.Payload.(type) { //nolint:gochecksumtype // all others are held
	case trace.Prompt, trace.Reply, trace.Rewind, trace.Stop, trace.Pause, trace.Status:
		return false
	case trace.PermissionResponse:
		if t.waits[p.RequestID] {
			return false
		}
	case trace.Answer:
		if t.waits[p.QuestionID] {
			return false
		}
	case trace.Data:
		if p.Transient {
			return false
		}
	}
	t.held = append(t.held, r)
	return true
}

// answeredOne lets pass what was held once nothing waits any more.
func (t *Translator) answeredOne(id string) {
	if !t.waits[id] {
		return
	}
	if delete(t.waits, id); len(t.waits) == 0 {
		t.letPass()
	}
}

func (t *Translator) letPass() {
	held := t.held
	t.waits, t.held = nil, nil
	for i, r := range held {
		t.translate(r)
		if len(t.waits) > 0 { // it waits again
			t.held = append(t.held, held[i+1:]...)
			return
		}
	}
}

// toShow reports whether the client has to be shown what is asked: it was not
// yet, or not in what is now the last step.
func (t *Translator) toShow(a *asked) bool {
	return !a.done && (!a.shown() || a.step != t.steps)
}

// ownStep begins a step that holds only what is asked.
func (t *Translator) ownStep() {
	t.endWriting()
	t.closeStep()
	t.openStep()
}

// endWriting shows the calls whose input the agent still writes as they are. A step
// ends, and the clients would make two parts of a call that goes on in the next.
// The whole input is on record.
func (t *Translator) endWriting() {
	if t.writing == 0 {
		return
	}
	for _, c := range t.stepCalls {
		if c.state == callWriting && !c.hidden && !c.continued {
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
		if !ok || c.step != t.steps || c.state != callRunning || c.hidden || c.continued || calls[c] {
			return false
		}
		calls[c] = true
	}
	for _, c := range t.stepCalls {
		if (c.state == callWriting || c.state == callRunning) && !c.hidden && !c.continued && !calls[c] && !t.byClient(c) {
			return false
		}
	}
	return true
}
