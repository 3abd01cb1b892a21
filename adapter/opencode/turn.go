package opencode

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/trace"
)

// turn is what the Decoder knows of the turn that runs.
type turn struct {
	b        *trace.Builder
	user     string // the message of the prompt; "" until the server names it
	messages map[string]*message
	newest   *message // of the session itself
	calls    map[string]*toolCall
	asks     map[string]*ask
	held     []request         // permission requests whose call is not known yet
	started  map[string]bool   // calls that have a sub-agent
	changed  map[string]string // files, with their newest diff

	aborted bool   // a client has sent an abort
	idle    bool   // the server says that nothing runs
	failed  *fault // what the session failed with
}

func (d *Decoder) begin(b *trace.Builder) {
	if b == nil {
		return
	}
	d.turn = &turn{
		b: b, messages: map[string]*message{}, calls: map[string]*toolCall{}, asks: map[string]*ask{},
		started: map[string]bool{}, changed: map[string]string{},
	}
}

// running returns the turn if it runs, and forgets a turn that was ended from elsewhere.
func (d *Decoder) running() *turn {
	if d.turn != nil && d.turn.b.Over() {
		d.leave()
	}
	return d.turn
}

// prompt takes a prompt of ours.
func (d *Decoder) prompt(session string, body raw, t agent.Turns) error {
	var in struct {
		Parts []part `json:"parts"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return err
	}
	d.running()
	if d.turn != nil && session != d.session {
		return nil // another client's
	}
	d.session = session
	d.prompts++
	p := trace.Prompt{Message: trace.UserMessage{ID: fmt.Sprintf("prompt-%d", d.prompts), Parts: []trace.InputPart{}}}
	for _, part := range in.Parts {
		switch part.Type {
		case "text":
			p.Message.Parts = append(p.Message.Parts, trace.InputPart{Type: trace.InputText, Text: string(part.Text)})
		case "file":
			p.Message.Parts = append(p.Message.Parts, trace.InputPart{Type: trace.InputFile, MediaType: part.Mime, URL: part.URL, Filename: part.Filename})
		}
	}
	d.begin(t.Prompted(p))
	return nil
}

// status takes what the server says of a session as a whole.
func (d *Decoder) status(name string, p properties) {
	turn := d.running()
	if turn == nil {
		return
	}
	if _, child := d.children[p.SessionID]; child && p.Status.Type != "retry" {
		return
	}
	if name == "error" && p.Error != nil {
		turn.failed = p.Error
	}
	if name == "idle" {
		p.Status.Type = "idle"
	}
	switch p.Status.Type {
	case "idle":
		turn.idle = true
	case "busy":
		turn.idle = false
	case "retry":
		turn.idle = false
		d.voice(p.SessionID).Emit(trace.Error{Code: "retry", Message: fmt.Sprintf(
			"The model's provider failed: %s. OpenCode tries again until the turn is stopped (attempt %d).", strings.TrimRight(plain(p.Status.Message), "."), p.Status.Attempt)})
	}
}

// plain is the sentence in a message that a provider has sent as JSON.
func plain(message string) string {
	var in struct {
		Message string `json:"message"`
	}
	if decode(raw(message), &in) && in.Message != "" {
		return in.Message
	}
	return message
}

// voice returns the Builder of a session: the turn's own, or that of a sub-agent which the
// turn has started.
func (d *Decoder) voice(session string) *trace.Builder {
	if call := d.children[session]; d.turn.started[call] {
		return d.turn.b.Under(call)
	}
	return d.turn.b
}

// settle ends the turn once nothing runs and each message is complete. After an abort the
// server says idle twice, and parts come in between.
func (d *Decoder) settle() {
	turn := d.running()
	if turn == nil || !turn.idle || turn.newest == nil && turn.failed == nil && !turn.aborted {
		return
	}
	for _, m := range turn.messages {
		if !m.done && m.session == d.session {
			return
		}
	}
	stop := turn.verdict()
	d.leave()
	turn.b.End(stop)
}

// verdict tells how the turn ended.
func (t *turn) verdict() trace.Stop {
	failed := t.failed
	reason := "stop"
	if t.newest != nil {
		failed = cmp.Or(failed, t.newest.failed)
		reason = cmp.Or(t.newest.finish, reason)
	}
	switch {
	case t.aborted, failed != nil && failed.aborted():
		return trace.Stop{Reason: "aborted", Outcome: trace.OutcomeCanceled}
	case failed != nil:
		return trace.Stop{Reason: cmp.Or(failed.Name, "error"), Outcome: trace.OutcomeFailed, Error: failed.sentence()}
	}
	return trace.Stop{Reason: reason, Outcome: trace.OutcomeCompleted}
}

// leave forgets the turn. The server keeps requests that were open at an abort; they are
// withdrawn, and refused for good.
func (d *Decoder) leave() {
	for id := range d.turn.messages {
		d.seen[id] = true
	}
	d.seen[d.turn.user] = true
	open := make([]*ask, 0, len(d.turn.asks))
	for _, a := range d.turn.asks {
		open = append(open, a)
	}
	slices.SortFunc(open, func(a, b *ask) int { return strings.Compare(a.native, b.native) })
	for _, a := range open {
		d.effects = append(d.effects, agent.Withdraw{Native: a.native}, agent.Send{Data: a.refusal()})
	}
	for _, r := range d.turn.held {
		d.effects = append(d.effects, agent.Send{Data: permissionReply{Reply: "reject"}.call(r.ID)})
	}
	d.turn = nil
}

// emit writes to the turn, if one runs.
func (d *Decoder) emit(p trace.Payload) {
	if turn := d.running(); turn != nil {
		turn.b.Emit(p)
	}
}

// plan takes the agent's list of what is to do.
func (d *Decoder) plan(p properties) {
	if d.running() == nil {
		return
	}
	plan := trace.Plan{Entries: []trace.PlanEntry{}}
	for _, e := range p.Todos {
		status := trace.PlanPending
		switch e.Status {
		case "in_progress":
			status = trace.PlanInProgress
		case "completed", "cancelled":
			status = trace.PlanCompleted
		}
		plan.Entries = append(plan.Entries, trace.PlanEntry{Content: e.Content, Status: status})
	}
	d.voice(p.SessionID).Emit(plan)
}
