package uistream

import (
	"cmp"
	"encoding/json"
	"fmt"
)

// This file folds the chunks of calls.

// callForm is a call of a tool that the app knows by name, or of another. The client
// takes these for two, even under one id.
type callForm struct {
	id     string
	static bool
}

// answerApproval answers the first call that the approval is asked for, unless that
// has been asked for another one since.
func (r *Reducer) answerApproval(c ToolApprovalResponse) (at int, err error) {
	at = none
	for _, asked := range r.approvals[c.ApprovalID] {
		if r.message.Parts[asked].Approval.ID == c.ApprovalID && (at == none || asked < at) {
			at = asked
		}
	}
	if at == none {
		return none, fmt.Errorf("answer to the approval %q, which no agent asked for", c.ApprovalID)
	}
	p := &r.message.Parts[at]
	p.State = gotApproval
	p.Approval = &Approval{ID: c.ApprovalID, Answered: true, Approved: c.Approved, Reason: c.Reason, Keys: p.Approval.Keys}
	return at, nil
}

// input begins or completes a call: the one of that id and form in the current
// step, else a new part.
func (r *Reducer) input(id, name, title, state string, input json.RawMessage, f Form) (at int) {
	typ, form := partDynamic, callForm{id, f.Static}
	if f.Static {
		typ = partTool + name
	}
	at, ok := r.calls[form]
	if !ok || at < r.step {
		put(&r.calls, form, len(r.message.Parts))
		return r.push(Part{Type: typ, ToolCallID: id, ToolName: name, Title: title, State: state, Input: input, ProviderExecuted: !f.Unmarked})
	}
	p := &r.message.Parts[at]
	p.Type, p.ToolName, p.State, p.Input = typ, name, state, input
	p.Output, p.ErrorText, p.Preliminary = nil, "", false
	p.ProviderExecuted = !f.Unmarked
	p.Title = cmp.Or(title, p.Title)
	return at
}

// tool changes the call of that id.
func (r *Reducer) tool(id string, change func(*Part)) (at int, err error) {
	at, ok := r.find(id)
	if !ok {
		return none, fmt.Errorf("no call has the id %q", id)
	}
	change(&r.message.Parts[at])
	return at, nil
}

// output is tool for a result, whose form has to be that of its call.
func (r *Reducer) output(id string, f Form, change func(*Part)) (at int, err error) {
	if at, ok := r.find(id); ok && (r.message.Parts[at].Type == partDynamic) == f.Static {
		return none, fmt.Errorf("the result of call %q and the call itself are not of the same form", id)
	}
	return r.tool(id, change)
}

// find returns the call of that id: the first in the current step, where there may
// be one of each form, else the last one.
func (r *Reducer) find(id string) (at int, ok bool) {
	own, isOwn := r.calls[callForm{id, false}]
	clients, isClients := r.calls[callForm{id, true}]
	switch {
	case !isOwn:
		return clients, isClients
	case !isClients:
		return own, isOwn
	case min(own, clients) >= r.step:
		return min(own, clients), true
	}
	return max(own, clients), true
}
