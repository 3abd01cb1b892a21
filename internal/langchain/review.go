// Package langchain has the words in which graphs of LangChain ask people to review calls of
// tools, and take the decisions. There are three dialects: the middleware for a human in the loop
// in Python, the same in JavaScript, and LangGraph's older agent inbox (HumanInterrupt).
package langchain

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/trace"
)

// Review is what an interrupt asks.
type Review struct {
	Actions []Action

	edited string // the field of a decision with the changed action; "" in the inbox
}

// Action is a call that waits for a decision. ID is that of the request for its approval.
type Action struct {
	ID, Name, Title string
	Args            json.RawMessage

	allowed []string // approve, edit, reject, respond: the person's words are the call's result
}

// object is a JSON object, whose fields have one name in Python and another in JavaScript.
type object map[string]json.RawMessage

// get reads a field by the names that it may have. Values of other types are skipped.
func (o object) get(into any, names ...string) {
	for _, name := range names {
		if value := o[name]; string(value) != "null" {
			_ = json.Unmarshal(value, into)
		}
	}
}

// Read finds the actions of an interrupt: none if the interrupt is no review.
func Read(id string, value json.RawMessage) (r Review) {
	var all []object
	if _ = json.Unmarshal(value, &all); all == nil {
		all = make([]object, 1)
		_ = json.Unmarshal(value, &all[0])
	}
	for _, i := range all {
		var inbox object
		var requests []object
		edited := "edited_action"
		if i.get(&requests, "action_requests", "actionRequests"); i["actionRequests"] != nil {
			edited = "editedAction"
		}
		if i.get(&inbox, "action_request"); inbox["action"] != nil {
			edited, requests = "", []object{inbox}
		}
		for _, q := range requests {
			r.edited = edited
			r.Actions = append(r.Actions, i.action(fmt.Sprintf("%s:%d", id, len(r.Actions)), q))
		}
	}
	return r
}

// action is a call that an interrupt asks about. LangChain always says what is allowed. A graph
// that does not gets a yes or a no: it might run the first input of a call that a person has changed.
func (o object) action(id string, requested object) Action {
	a := Action{ID: id, Args: json.RawMessage("{}")}
	requested.get(&a.Name, "action", "name")
	requested.get(&a.Args, "arguments", "args") // arguments before LangChain 1.0
	o.get(&a.Title, "description")
	requested.get(&a.Title, "description")
	var configs []object
	o.get(&configs, "review_configs", "reviewConfigs")
	for _, c := range configs {
		var name string
		if c.get(&name, "action_name", "actionName"); name == a.Name {
			c.get(&a.allowed, "allowed_decisions", "allowedDecisions")
		}
	}
	var config map[string]bool // of the inbox
	o.get(&config, "config")
	for decision, field := range map[string]string{"approve": "allow_accept", "edit": "allow_edit", "reject": "allow_ignore", "respond": "allow_respond"} {
		if config[field] {
			a.allowed = append(a.allowed, decision)
		}
	}
	if len(a.allowed) == 0 {
		a.allowed = []string{"approve", "reject"}
	}
	return a
}

func (a Action) may(decision string) bool { return slices.Contains(a.allowed, decision) }

// Options are what a person chooses from: LangChain fails the run at any other decision.
func (a Action) Options() (all []trace.PermissionOption) {
	switch {
	case a.may("approve"):
		all = append(all, trace.PermissionOption{ID: "approve", Name: "Approve", OptionKind: trace.AllowOnce})
	case a.may("edit"):
		all = append(all, trace.PermissionOption{ID: "approve", Name: "Approve with another input", OptionKind: trace.AllowOnce})
	}
	if a.may("reject") || a.may("respond") {
		all = append(all, trace.PermissionOption{ID: "reject", Name: "Reject", OptionKind: trace.RejectOnce})
	}
	return all
}

// RefuseDisallowed is the answer, or a refusal for a yes that LangChain does not allow.
func (a Action) RefuseDisallowed(r trace.PermissionResponse) trace.PermissionResponse {
	if !a.may("edit") {
		r = agentkit.Unchanged(r)
	}
	if r.Allowed() && len(r.UpdatedInput) == 0 && !a.may("approve") {
		r.OptionKind, r.Reason = trace.RejectOnce, "The call may not run with this input."
	}
	return r
}

// Decisions is what the graph takes for the answers to the requests.
func (r Review) Decisions(answers map[string]trace.PermissionResponse) any {
	all := make([]map[string]any, len(r.Actions))
	for n, a := range r.Actions {
		all[n] = r.decision(a, a.RefuseDisallowed(answers[a.ID]))
	}
	if r.edited == "" {
		return all
	}
	return map[string]any{"decisions": all}
}

func (r Review) decision(a Action, answer trace.PermissionResponse) map[string]any {
	yes, edits, inbox := answer.Allowed(), len(answer.UpdatedInput) > 0, r.edited == ""
	words := cmp.Or(answer.Reason, "The user rejected the call.")
	if answer.Outcome != trace.Selected {
		words = cmp.Or(answer.Reason, "The user did not answer.")
	}
	switch {
	case inbox && yes && edits:
		return map[string]any{"type": "edit", "args": map[string]any{"action": a.Name, "args": answer.UpdatedInput}}
	case inbox && yes:
		return map[string]any{"type": "accept", "args": nil}
	case inbox && a.may("respond") && (answer.Reason != "" || !a.may("reject")):
		return map[string]any{"type": "response", "args": words}
	case inbox:
		return map[string]any{"type": "ignore", "args": nil}
	case yes && edits:
		return map[string]any{"type": "edit", r.edited: map[string]any{"name": a.Name, "args": answer.UpdatedInput}}
	case yes:
		return map[string]any{"type": "approve"}
	case a.may("respond") && !a.may("reject"):
		return map[string]any{"type": "respond", "message": words}
	}
	return map[string]any{"type": "reject", "message": words}
}
