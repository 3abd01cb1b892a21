package agentkit

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/trace"
)

// Asked is a request of the agent that is on record and waits for its answer: a
// permission, or questions.
type Asked struct {
	// Effect makes the session wait for the answer.
	Effect  agent.Effect
	b       *trace.Builder
	request string   // the id of the permission request, or ""
	ids     []string // of the questions
}

// Permit asks for a permission. native is the agent's own id of the request; reply
// encodes the answer for the agent.
func Permit(b *trace.Builder, native string, r trace.PermissionRequest, call trace.ToolCall, reply func(trace.PermissionResponse) json.RawMessage) Asked {
	return PermitAs(b, native, trace.PermissionCheck{Request: r, Call: call}, reply)
}

// PermitAs is Permit for a request that may be quiet, as PermissionCheck says.
func PermitAs(b *trace.Builder, native string, a trace.PermissionCheck, reply func(trace.PermissionResponse) json.RawMessage) Asked {
	d := b.PermissionRequests(a)[0]
	e := agent.Permit{Native: native, RequestID: d.ID, Reply: func(r trace.PermissionResponse) json.RawMessage {
		return reply(once(a.Request.Options, r))
	}}
	if d.Decided {
		e.Decided = &d.Answer
	}
	return Asked{Effect: e, b: b, request: d.ID}
}

// once is an answer as the agent gets it. An "always" is a grant of the gateway's, which has
// bounds and can be revoked. So the agent gets the option that allows once, and asks again.
func once(options []trace.PermissionOption, r trace.PermissionResponse) trace.PermissionResponse {
	i := slices.IndexFunc(options, func(o trace.PermissionOption) bool { return o.OptionKind == trace.AllowOnce })
	if r.OptionKind == trace.AllowAlways && i >= 0 {
		r.ChosenOption, r.OptionKind = options[i].ID, trace.AllowOnce
	}
	return r
}

// Ask asks questions. Those without an id are named after the request.
func Ask(b *trace.Builder, native string, questions []trace.Question, reply func([]trace.Answer) json.RawMessage) Asked {
	for i := range questions {
		if q := &questions[i]; q.QuestionID == "" {
			q.QuestionID = native
			if i > 0 {
				q.QuestionID = fmt.Sprintf("%s#%d", native, i+1)
			}
		}
	}
	e := agent.Ask{Native: native, QuestionIDs: b.Questions(questions...), Reply: reply}
	for _, q := range questions {
		for _, c := range q.Choices {
			e.Choices = append(e.Choices, c.Label)
		}
	}
	return Asked{Effect: e, b: b, ids: e.QuestionIDs}
}

// Turn is the id of the turn that the request belongs to.
func (a Asked) Turn() string { return a.b.Turn() }

// Recorded reports whether a permission request is on record.
func (a Asked) Recorded() bool { return a.request != "" }

// Decide puts the answer to a permission request on record.
func (a Asked) Decide(r trace.PermissionResponse) {
	if !a.b.Over() {
		r.RequestID = a.request
		a.b.PermissionResponse(r)
	}
}

// Answer puts answers to questions on record: values for each question, in order. A
// question without values is canceled. By says who answered; if it is empty, the user
// has answered, and the gateway has canceled.
func (a Asked) Answer(values [][]string, by string) {
	if a.b.Over() {
		return
	}
	for i, id := range a.ids {
		answer := trace.Answer{QuestionID: id, Outcome: trace.Canceled, By: by}
		if i < len(values) && len(values[i]) > 0 {
			answer.Outcome, answer.Values, answer.By = trace.Selected, values[i], cmp.Or(by, "user")
		}
		a.b.Answer(answer)
	}
}

// Cancel puts on record that the agent has withdrawn its request.
func (a Asked) Cancel(reason string) {
	if a.request != "" {
		a.Decide(trace.PermissionResponse{Outcome: trace.Canceled, Reason: reason})
	}
	a.Answer(nil, "")
}
