package uistream

import (
	"encoding/json"
	"fmt"
)

func (r *Reducer) addTool(c Chunk) error {
	switch c := c.(type) {
	case ToolInputStart:
		if r.writing == nil {
			r.writing = map[string]bool{}
		}
		r.writing[c.ToolCallID] = true
		r.input(c.ToolCallID, c.ToolName, c.Title, inputStreaming, nil, c.Client)
	case ToolInputDelta:
		if !r.writing[c.ToolCallID] {
			return fmt.Errorf("input delta for the call %q, which has not begun", c.ToolCallID)
		}
	case ToolInputAvailable:
		r.input(c.ToolCallID, c.ToolName, c.Title, inputAvailable, c.Input, c.Client)
	case ToolOutputAvailable:
		return r.output(c.ToolCallID, c.Client, func(p *Part) {
			p.State, p.Output, p.Preliminary, p.ErrorText = outputAvailable, c.Output, c.Preliminary, ""
		})
	case ToolOutputError:
		return r.output(c.ToolCallID, c.Client, func(p *Part) {
			p.State, p.Output, p.Preliminary, p.ErrorText = outputError, nil, false, c.ErrorText
		})
	case ToolOutputDenied:
		return r.tool(c.ToolCallID, func(p *Part) { p.State = outputDenied })
	case ToolApprovalRequest:
		return r.tool(c.ToolCallID, func(p *Part) {
			p.State, p.Approval = askedApproval, &Approval{ID: c.ApprovalID}
		})
	case ToolApprovalResponse:
		for i := range r.message.Parts {
			if p := &r.message.Parts[i]; p.Approval != nil && p.Approval.ID == c.ApprovalID {
				p.State = gotApproval
				p.Approval = &Approval{ID: c.ApprovalID, Answered: true, Approved: c.Approved, Reason: c.Reason}
				return nil
			}
		}
		return fmt.Errorf("answer to the approval %q, which nobody asked for", c.ApprovalID)
	default:
		return fmt.Errorf("chunk of the type %q, which the reducer does not know", c.Type())
	}
	return nil
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
	for i := len(parts) - 1; i >= 0; i-- {
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
	for i := first - 1; i >= 0; i-- {
		if parts[i].isTool() && parts[i].ToolCallID == id {
			return &parts[i]
		}
	}
	return nil
}
