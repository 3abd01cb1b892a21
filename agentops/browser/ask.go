package browser

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tributary-dev/tributary/agentops"
	"github.com/tributary-dev/tributary/trace"
)

// ask is what a turn has asked, as it was told.
type ask struct {
	agentops.Ask
	options []string
}

func (t *Translator) askQuestion(r trace.Record, q trace.Question) {
	u := t.turn(r.Turn)
	a := t.newAsk(u, r, q.QuestionID, agentops.AskQuestion)
	a.Title = q.Text
	if q.Header != "" && q.Header != q.Text {
		a.Title = q.Header + ": " + q.Text
	}
	for i, c := range q.Choices {
		a.options = append(a.options, c.Label)
		a.Actions = append(a.Actions, agentops.AskAction{ID: fmt.Sprintf("option_%d", i), Label: c.Label})
	}
	t.ask(u, a)
}

// askPermission shows a request that somebody has to answer; what the policy decides
// nobody is asked.
func (t *Translator) askPermission(r trace.Record, p trace.PermissionRequest) {
	if p.DecidedBy != "" {
		return
	}
	u := t.turn(r.Turn)
	a := t.newAsk(u, r, p.RequestID, agentops.AskApproval)
	a.Title, a.Body = "Action requires approval", p.Title
	a.Actions = []agentops.AskAction{
		{ID: agentops.ActionApprove, Label: "Approve", Style: "primary"},
		{ID: agentops.ActionDeny, Label: "Deny", Style: "danger"},
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

func (t *Translator) newAsk(u *turn, r trace.Record, id, typ string) ask {
	a := ask{Ask: agentops.Ask{ID: id, SessionID: t.Session, Type: typ, Actions: []agentops.AskAction{}}}
	a.Context.Channel, a.Context.ThreadID = u.channel, u.thread
	if t.AskLimit > 0 {
		a.ExpiresAt = r.Time.Add(t.AskLimit).UnixMilli()
	}
	return a
}

func (t *Translator) ask(u *turn, a ask) {
	u.asks = append(u.asks, a)
	t.sendAsk(u, a, a.ExpiresAt)
}

// sendAsk asks, in the frames of the time.
func (t *Translator) sendAsk(u *turn, a ask, until int64) {
	switch {
	case !t.february():
		t.send(agentops.InteractivePrompt{Prompt: a.Ask, Channel: u.channel})
	case a.Type == agentops.AskQuestion:
		q := agentops.Question{QuestionID: a.ID, Text: a.Title, Options: a.options, Channel: u.channel}
		if until > 0 {
			q.ExpiresAt = time.UnixMilli(until).Unix()
		}
		t.send(q)
	default:
		t.send(agentops.ActionApprovalRequired{Action: a.action(), Params: a.Context.Params, ExpiresAt: until, SessionID: t.Session})
	}
}

// action is what March calls an approval's object.
func (a ask) action() agentops.Action {
	return agentops.Action{InvocationID: a.ID, ToolID: a.Context.ToolID, ActionID: a.Context.ActionID}
}

// asked takes what was asked off the list of what waits.
func (t *Translator) asked(turn, id string) (ask, bool) {
	u := t.find(turn)
	if u == nil {
		return ask{}, false
	}
	i := slices.IndexFunc(u.asks, func(a ask) bool { return a.ID == id })
	if i < 0 {
		return ask{}, false
	}
	a := u.asks[i]
	u.asks = slices.Delete(u.asks, i, i+1)
	return a, true
}

func (t *Translator) answer(r trace.Record, p trace.Answer) {
	a, ok := t.asked(r.Turn, p.QuestionID)
	if !ok {
		return
	}
	value := strings.Join(p.Values, ", ")
	switch {
	case p.Outcome != trace.Selected:
		t.expire(a)
	case t.february():
		t.send(agentops.Status{Data: agentops.StatusData{QuestionAnswered: a.ID, Answer: value}})
	default:
		t.send(agentops.InteractivePromptResolved{
			PromptID: a.ID, PromptType: a.Type, Resolution: agentops.Resolution{Value: value, ResolvedBy: p.By}, Context: a.Context,
		})
	}
}

func (t *Translator) permission(r trace.Record, p trace.PermissionResponse) {
	a, ok := t.asked(r.Turn, p.RequestID)
	if !ok {
		return
	}
	action := agentops.ActionDeny
	if p.Allowed() {
		action = agentops.ActionApprove
	}
	switch {
	case p.Outcome == trace.Expired, p.Outcome == trace.Canceled && p.By == "":
		t.expire(a)
	case t.february() && p.Allowed():
		t.send(agentops.ActionApproved{Action: a.action()})
	case t.february():
		t.send(agentops.ActionDenied{Action: a.action(), Reason: p.Reason})
	default:
		t.send(agentops.InteractivePromptResolved{
			PromptID: a.ID, PromptType: a.Type, Resolution: agentops.Resolution{ActionID: action, Value: p.Reason, ResolvedBy: p.By}, Context: a.Context,
		})
	}
}

// expire tells that nobody is asked any more.
func (t *Translator) expire(a ask) {
	switch {
	case !t.february():
		t.send(agentops.InteractivePromptExpired{PromptID: a.ID, PromptType: a.Type, Context: a.Context})
	case a.Type == agentops.AskQuestion:
		t.send(agentops.Status{Data: agentops.StatusData{QuestionExpired: a.ID}})
	default:
		t.send(agentops.ActionExpired{Action: a.action()})
	}
}
