package langgraph

import (
	"cmp"
	"slices"

	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/trace"
)

// interrupt is what the graph waits for.
type interrupt struct {
	ID    string `json:"id"`
	Value raw    `json:"value"`
}

// static is the id of a pause before or after a node. Such a pause has no value and no answer.
const static = "static"

// ask is an interrupt that a person answers: one answer for each of its items.
type ask struct {
	id    string
	form  askForm
	items []*item
}

// askForm says what the graph expects as the answer.
type askForm int

const (
	freeForm  askForm = iota // the answer as it is
	decisions                // {"decisions": […]}, of LangChain's middleware
	inbox                    // […], of LangGraph's agent inbox
	pause                    // nothing: the run goes on
)

// item is one thing that a person decides.
type item struct {
	asked   string // the id of the request on record
	call    *toolCall
	name    string
	args    raw
	title   string
	allowed []string // approve, edit, reject; nil is all of them
	answer  raw
}

// itemOf reads an action that needs approval. LangChain writes the words in two styles, and
// the inbox has words of its own.
func itemOf(action, around object, title string) *item {
	it := &item{name: action.text("name", "action"), args: action.first("args", "arguments"), title: cmp.Or(title, action.text("description"))}
	if it.args == nil {
		it.args = raw("{}")
	}
	for _, c := range list[object](around["review_configs"]) {
		if c.text("action_name", "actionName") == it.name {
			it.allowed = list[string](c.first("allowed_decisions", "allowedDecisions"))
		}
	}
	config := around.in("config") // of the inbox
	for _, may := range [][2]string{{"allow_accept", "approve"}, {"allow_edit", "edit"}, {"allow_ignore", "reject"}, {"allow_respond", "reject"}} {
		if string(config[may[0]]) == "true" {
			it.allowed = append(it.allowed, may[1])
		}
	}
	return it
}

// ask finds out what an interrupt asks.
func (i interrupt) ask() *ask {
	a := &ask{id: i.ID}
	for _, one := range listed(i.Value) {
		o := objectOf(one)
		for _, action := range list[object](o.first("action_requests", "actionRequests")) {
			a.form, a.items = decisions, append(a.items, itemOf(action, o, ""))
		}
		if action := o.in("action_request"); action.text("action") != "" {
			a.form, a.items = inbox, append(a.items, itemOf(action, o, o.text("description")))
		}
	}
	if a.form == freeForm {
		a.items = []*item{{}}
	}
	return a
}

func (i *item) allows(word string) bool {
	return slices.Contains(i.allowed, word) || !slices.Contains(i.allowed, "approve") && !slices.Contains(i.allowed, "reject")
}

func (i *item) options() (all []trace.PermissionOption) {
	for _, o := range []trace.PermissionOption{{ID: "approve", Name: "Approve", OptionKind: trace.AllowOnce}, {ID: "reject", Name: "Reject", OptionKind: trace.RejectOnce}} {
		if i.allows(o.ID) {
			all = append(all, o)
		}
	}
	return all
}

// decision is an answer in the words of the graph's library.
func (a *ask) decision(it *item, r trace.PermissionResponse) raw {
	kind, field, value := "approve", "", any(nil)
	switch no, edits := !r.Allowed(), len(r.UpdatedInput) > 0; {
	case a.form == inbox && no && r.Reason != "":
		kind, field, value = "response", "args", r.Reason
	case a.form == inbox && no:
		kind, field = "ignore", "args"
	case a.form == inbox && edits:
		kind, field, value = "edit", "args", map[string]any{"action": it.name, "args": r.UpdatedInput}
	case a.form == inbox:
		kind, field = "accept", "args"
	case no:
		kind, field, value = "reject", "message", cmp.Or(r.Reason, "The user rejected the call.")
	case edits:
		kind, field, value = "edit", "edited_action", map[string]any{"name": it.name, "args": r.UpdatedInput}
	}
	said := map[string]any{"type": kind}
	if field != "" {
		said[field] = value
	}
	return agentkit.Encode(said)
}

// value is the answer to an interrupt; nil while an item has none.
func (a *ask) value() raw {
	var all []raw
	for _, it := range a.items {
		if it.answer == nil {
			return nil
		}
		all = append(all, it.answer)
	}
	switch a.form {
	case decisions:
		return agentkit.Encode(map[string]any{"decisions": all})
	case inbox:
		return agentkit.Encode(all)
	case freeForm, pause:
	}
	return all[0]
}
