package opencode

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/internal/httpjson"
	"github.com/tributary-dev/tributary/trace"
)

// turn is what the Decoder knows of the turn that runs.
type turn struct {
	b        *trace.Builder
	user     string // the message of the prompt; "" until the server names it
	messages map[string]*message
	newest   *message // of the session itself
	calls    map[string]*toolCall
	asks     []*ask
	children map[string]string // sub-agents' sessions, and the calls that started them
	changed  map[string]string // files, with their newest diff

	aborted bool   // a client has sent an abort
	idle    bool   // the server says that nothing runs
	failed  *fault // what the session failed with
}

func (d *Decoder) begin(b *trace.Builder) {
	if b != nil {
		d.turn = &turn{b: b, messages: map[string]*message{}, calls: map[string]*toolCall{}, children: map[string]string{}, changed: map[string]string{}}
	}
}

// running returns the turn if it runs, and forgets a turn that was ended from elsewhere.
func (d *Decoder) running() *turn {
	if d.turn != nil && d.turn.b.Over() {
		d.leave()
	}
	return d.turn
}

// child reports whether a session is a sub-agent's.
func (t *turn) child(session string) bool {
	if t == nil {
		return false
	}
	_, ok := t.children[session]
	return ok
}

// adopt notes the session of a sub-agent, and the call that started it.
func (t *turn) adopt(session, call string) {
	if !t.child(session) {
		agentkit.CountKept(t.b, session)
	}
	t.children[session] = call
}

// voice returns the Builder of a session: the turn's own, or that of a sub-agent which the
// turn has started.
func (t *turn) voice(session string) *trace.Builder {
	if call := t.children[session]; call != "" {
		return t.b.Under(call)
	}
	return t.b
}

// prompt takes a prompt that a client sends.
func (d *Decoder) prompt(session string, parts []part, t agent.Turns) {
	if d.running() != nil && session != d.session {
		return // another client's
	}
	d.session = session
	d.prompts++
	p := trace.Prompt{Message: trace.UserMessage{ID: fmt.Sprintf("prompt-%d", d.prompts), Parts: []trace.InputPart{}}}
	for _, part := range parts {
		switch part.Type {
		case "text":
			p.Message.Parts = append(p.Message.Parts, trace.InputPart{Type: trace.InputText, Text: string(part.Text)})
		case "file":
			p.Message.Parts = append(p.Message.Parts, trace.InputPart{Type: trace.InputFile, MediaType: part.Mime, URL: part.URL, Filename: part.Filename})
		}
	}
	d.begin(t.Prompted(p))
}

// status takes what the server says of a session as a whole.
func (d *Decoder) status(p properties) {
	turn, retry := d.turn, p.Status.Type == "retry"
	if retry {
		turn.voice(p.SessionID).Emit(trace.Notice("retry", fmt.Sprintf(
			"The model's provider failed: %s. OpenCode tries again until the turn is stopped (attempt %d).", strings.TrimRight(httpjson.Plain(p.Status.Message), "."), p.Status.Attempt)))
	}
	if retry || p.SessionID == d.session {
		turn.idle = p.Status.Type == "idle"
	}
}

// failed takes an error of the session.
func (d *Decoder) failed(p properties) {
	if p.Error != nil && p.SessionID == d.session {
		d.turn.failed = p.Error
	}
}

// settle ends the turn once nothing runs and each message is complete. After an abort the
// server says idle twice, and parts come in between.
func (d *Decoder) settle() {
	turn := d.running()
	if turn == nil || !turn.idle || turn.newest == nil && turn.failed == nil && !turn.aborted {
		return
	}
	for _, m := range turn.messages {
		if m.Time.Completed == 0 && m.SessionID == d.session {
			return
		}
	}
	stop := turn.outcome()
	d.flushEarly()
	d.leave()
	turn.b.End(stop)
}

// outcome tells how the turn ended.
func (t *turn) outcome() trace.Stop {
	failed := t.failed
	reason := "stop"
	if t.newest != nil {
		failed = cmp.Or(failed, t.newest.Error)
		reason = cmp.Or(t.newest.Finish, reason)
	}
	switch {
	case t.aborted, failed != nil && failed.Name == "MessageAbortedError":
		return trace.Stop{Reason: "aborted", Outcome: trace.OutcomeCanceled}
	case failed != nil:
		sentence := cmp.Or(httpjson.Plain(failed.Data.Message), failed.Name, "OpenCode gave no reason.")
		return trace.Stop{Reason: cmp.Or(failed.Name, "error"), Outcome: trace.OutcomeFailed, Class: failed.class(), Error: sentence}
	}
	return trace.Stop{Reason: reason, Outcome: trace.OutcomeCompleted}
}

// leave forgets the turn. The server keeps requests that were open at an abort; they are
// withdrawn, and refused for good.
func (d *Decoder) leave() {
	for id := range d.turn.messages {
		d.seen.Put(id, past)
	}
	d.seen.Put(d.turn.user, past)
	for _, a := range d.turn.asks {
		d.do(agent.Withdraw{Native: a.ID}, agent.Send{Data: a.refusal()})
	}
	d.turn, d.early, d.earlyLost = nil, nil, false
}

// plan takes the agent's list of what is to do.
func (d *Decoder) plan(p properties) {
	for i, e := range p.Todos {
		if e.Status == "cancelled" {
			p.Todos[i].Status = trace.PlanCompleted
		}
	}
	d.turn.voice(p.SessionID).Emit(trace.Plan{Entries: p.Todos})
}
