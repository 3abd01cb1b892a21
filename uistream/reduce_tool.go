package uistream

import (
	"encoding/json"
	"fmt"
	"slices"
)

func (r *Reducer) beginInput(c ToolInputStart) {
	if r.writing == nil {
		r.writing = map[string]bool{}
	}
	r.writing[c.ToolCallID] = true
	r.input(c.ToolCallID, c.ToolName, c.Title, inputStreaming, nil, c.Client)
}

func (r *Reducer) moreInput(c ToolInputDelta) error {
	if !r.writing[c.ToolCallID] {
		return fmt.Errorf("input delta for the call %q, which has not begun", c.ToolCallID)
	}
	return nil
}

func (r *Reducer) answerApproval(c ToolApprovalResponse) error {
	for i := range r.message.Parts {
		if p := &r.message.Parts[i]; p.Approval != nil && p.Approval.ID == c.ApprovalID {
			p.State = gotApproval
			p.Approval = &Approval{ID: c.ApprovalID, Answered: true, Approved: c.Approved, Reason: c.Reason}
			return nil
		}
	}
	return fmt.Errorf("answer to the approval %q, which nobody asked for", c.ApprovalID)
}

// input begins or completes a call: the one of that id and form in the current
// step, else a new part.
func (r *Reducer) input(id, name, title, state string, input json.RawMessage, client bool) {
	typ := partDynamic
	if client {
		typ = partTool + name
	}
	parts := r.message.Parts
	for i := len(parts) - 1; i >= 0 && parts[i].Type != partStep; i-- {
		if p := &parts[i]; p.ToolCallID == id && (p.Type == partDynamic) == !client {
			p.Type, p.ToolName, p.State, p.Input = typ, name, state, input
			p.Output, p.ErrorText, p.Preliminary = nil, "", false
			p.ProviderExecuted = !client
			if title != "" {
				p.Title = title
			}
			return
		}
	}
	r.push(Part{Type: typ, ToolCallID: id, ToolName: name, Title: title, State: state, Input: input, ProviderExecuted: !client})
}

// tool changes the call of that id: in the current step, else the last one.
func (r *Reducer) tool(id string, change func(*Part)) error {
	p := r.find(id)
	if p == nil {
		return fmt.Errorf("no call has the id %q", id)
	}
	change(p)
	return nil
}

// output is tool for a result, whose form has to be that of its call.
func (r *Reducer) output(id string, client bool, change func(*Part)) error {
	if p := r.find(id); p != nil && (p.Type == partDynamic) == client {
		return fmt.Errorf("the result of call %q and the call itself are not of the same form", id)
	}
	return r.tool(id, change)
}

func (r *Reducer) find(id string) *Part {
	parts := r.message.Parts
	first := 0
	for i := range slices.Backward(parts) {
		if parts[i].Type == partStep {
			first = i + 1
			break
		}
	}
	for i := first; i < len(parts); i++ {
		if parts[i].isTool() && parts[i].ToolCallID == id {
			return &parts[i]
		}
	}
	for i := range slices.Backward(parts[:first]) {
		if parts[i].isTool() && parts[i].ToolCallID == id {
			return &parts[i]
		}
	}
	return nil
}
