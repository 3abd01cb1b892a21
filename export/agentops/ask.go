package agentops

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/adapter/agentops/wire"
	"github.com/tributary-dev/tributary/trace"
)

func (t *Translator) askQuestion(r trace.Record, q trace.Question) {
	u := t.turn(r.Turn)
	a := t.newAsk(u, r, q.QuestionID, wire.AskQuestion)
	a.Title = q.Text
	if q.Header != "" && q.Header != q.Text {
		a.Title = q.Header + ": " + q.Text
	}
	for i, c := range q.Choices {
		a.Actions = append(a.Actions, wire.AskAction{ID: fmt.Sprintf("option_%d", i), Label: c.Label})
	}
	t.ask(u, a)
}

// askPermission shows a permission request, unless the policy has decided it.
func (t *Translator) askPermission(r trace.Record, p trace.PermissionRequest) {
	if p.DecidedBy != "" {
		return
	}
	u := t.turn(r.Turn)
	a := t.newAsk(u, r, p.RequestID, wire.AskApproval)
	a.Title, a.Body = "Action requires approval", p.Title
	a.Actions = []wire.AskAction{
		{ID: wire.ActionApprove, Label: "Approve", Style: "primary"},
		{ID: wire.ActionDeny, Label: "Deny", Style: "danger"},
	}
	a.Context.InvocationID, a.Context.Summary = p.RequestID, p.Title
	if c, ok := u.calls[p.ToolCallID]; ok {
		a.Context.ToolID, a.Context.ActionID, a.Context.Params = c.RawName, c.RawName, c.Input
		if len(c.Input) > t.MaxMessage {
			a.Context.Params = json.RawMessage(leftOut)
		}
	}
	t.ask(u, a)
}

func (t *Translator) newAsk(u *turn, r trace.Record, id, typ string) wire.Ask {
	a := wire.Ask{ID: id, SessionID: t.Session, Type: typ, Actions: []wire.AskAction{}}
	a.Context.Channel, a.Context.ThreadID = u.channel, u.thread
	if t.AnswerLimit > 0 {
		a.ExpiresAt = r.Time.Add(t.AnswerLimit).UnixMilli()
	}
	return a
}

func (t *Translator) ask(u *turn, a wire.Ask) {
	u.asks = append(u.asks, a)
	t.send(wire.InteractivePrompt{Prompt: a, Channel: u.channel})
}

func (t *Translator) answer(r trace.Record, p trace.Answer) {
	t.resolve(r.Turn, p.QuestionID, p.Outcome != trace.Selected, wire.Resolution{Value: strings.Join(p.Values, ", "), ResolvedBy: p.By})
}

func (t *Translator) permission(r trace.Record, p trace.PermissionResponse) {
	action := wire.ActionDeny
	if p.Allowed() {
		action = wire.ActionApprove
	}
	expired := p.Outcome == trace.Expired || p.Outcome == trace.Canceled && p.By == ""
	t.resolve(r.Turn, p.RequestID, expired, wire.Resolution{ActionID: action, Value: p.Reason, ResolvedBy: p.By})
}

// resolve ends an open request of a turn.
func (t *Translator) resolve(turn, id string, expired bool, by wire.Resolution) {
	u := t.find(turn)
	if u == nil {
		return
	}
	i := slices.IndexFunc(u.asks, func(a wire.Ask) bool { return a.ID == id })
	if i < 0 {
		return
	}
	a := u.asks[i]
	u.asks = slices.Delete(u.asks, i, i+1)
	if expired {
		t.expire(a)
		return
	}
	t.send(wire.InteractivePromptResolved{PromptID: a.ID, PromptType: a.Type, Resolution: by, Context: a.Context})
}

// expire says that a request waits no longer.
func (t *Translator) expire(a wire.Ask) {
	t.send(wire.InteractivePromptExpired{PromptID: a.ID, PromptType: a.Type, Context: a.Context})
}
