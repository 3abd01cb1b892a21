package agui

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/trace"
)

// own is what the framework behind an endpoint says in an interrupt, beside the protocol.
type own struct {
	Question, Message, Prompt, Text, Description string

	// Tool and Args are of the call that waits.
	Tool string `json:"-"`
	Args raw    `json:"-"`

	// Actions and Reviews are of LangChain's approvals: one interrupt for several calls.
	Actions []struct {
		Name        string `json:"name"`
		Args        raw    `json:"args"`
		Description string `json:"description"`
	} `json:"action_requests"`
	Reviews []struct {
		Name    string   `json:"action_name"`
		Allowed []string `json:"allowed_decisions"`
	} `json:"review_configs"`
}

// own reads the value of LangGraph, the payload of Mastra, or the reason of Strands: an object,
// an object as a text, or words.
func (i interrupt) own() (o own) {
	var m struct {
		LangGraph struct{ Raw raw }
		Mastra    struct {
			ToolName             string
			Args, SuspendPayload raw
		}
		Reason raw
	}
	read(i.Metadata, &m)
	value, text := first(m.LangGraph.Raw, m.Mastra.SuspendPayload, m.Reason), ""
	if read(value, &text) {
		value = raw(text)
	}
	if !read(value, &o) {
		o = own{Message: text}
	}
	o.Tool, o.Args = m.Mastra.ToolName, m.Mastra.Args
	return o
}

func (o own) words() string {
	return cmp.Or(o.Question, o.Message, o.Prompt, o.Text, o.Description)
}

// allows reports whether the person who reviews an action may decide in that way.
func (o own) allows(action, decision string) bool {
	for _, r := range o.Reviews {
		if r.Name == action {
			return slices.Contains(r.Allowed, decision)
		}
	}
	return true
}

// review is the approval of one of the calls of an interrupt.
type review struct {
	id, call, name string
	edits          bool
}

// review asks about each call of an interrupt. An action does not name its call: the oldest
// open call with that name and input is meant.
func (d *Decoder) review(t *turn, a *ask, o own) (all []trace.PermissionCheck) {
	for n, action := range o.Actions {
		r := review{fmt.Sprintf("%s:%d", a.ID, n), "", action.Name, o.allows(action.Name, "edit")}
		i := slices.IndexFunc(t.order, func(id string) bool {
			c := t.calls[id]
			return !c.done && c.name == r.name && agentkit.SameJSON(c.input(), action.Args) && !slices.ContainsFunc(a.calls, func(o review) bool { return o.call == id })
		})
		if r.call = r.id; i >= 0 {
			r.call = t.order[i]
		} else {
			d.callArgs(t, event{ToolCallID: r.id, ToolCallName: r.name, Delta: action.Args})
		}
		a.calls = append(a.calls, r)
		all = append(all, d.approval(t, r.id, r.call, action.Description))
	}
	return all
}

// reviewed is the answer to an interrupt for several calls: a decision for each.
func (t *turn) reviewed(a *ask, all map[string]trace.PermissionResponse) resume {
	var decisions []any
	for _, c := range a.calls {
		r := all[c.id]
		if r.Outcome != trace.Selected {
			return a.cancelled()
		}
		switch yes, edited, reason := t.decided(c.call, r, c.edits); {
		case edited != nil:
			decisions = append(decisions, map[string]any{"type": "edit", "edited_action": map[string]any{"name": c.name, "args": edited}})
		case yes:
			decisions = append(decisions, map[string]any{"type": "approve"})
		case reason != "":
			decisions = append(decisions, map[string]any{"type": "reject", "message": reason})
		default:
			decisions = append(decisions, map[string]any{"type": "reject"})
		}
	}
	return resume{a.ID, resolved, encode(map[string]any{"decisions": decisions})}
}

// cancelled is the answer to an interrupt that nobody has answered. LangChain knows no
// answer but decisions.
func (i interrupt) cancelled() resume {
	o := i.own()
	if len(o.Actions) == 0 {
		return resume{ID: i.ID, Status: cancelled}
	}
	rejected := map[string]any{"type": "reject", "message": "The user did not answer."}
	return resume{i.ID, resolved, encode(map[string]any{"decisions": slices.Repeat([]any{rejected}, len(o.Actions))})}
}
