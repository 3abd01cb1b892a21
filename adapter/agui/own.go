package agui

import (
	"cmp"
	"slices"

	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/internal/langchain"
	"github.com/tributary-dev/tributary/trace"
)

// own is what the framework behind an endpoint says in an interrupt, beside the protocol.
type own struct {
	Question, Message, Prompt, Text, Description string

	// Tool and Args are of the call that waits.
	Tool string `json:"-"`
	Args raw    `json:"-"`

	// Review is LangChain's: one interrupt for several calls.
	Review langchain.Review `json:"-"`
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
	o.Tool, o.Args, o.Review = m.Mastra.ToolName, m.Mastra.Args, langchain.Read(i.ID, value)
	return o
}

func (o own) words() string {
	return cmp.Or(o.Question, o.Message, o.Prompt, o.Text, o.Description)
}

// review asks about each call of an interrupt. An action does not name its call: the oldest
// open call with that name and input is meant.
func (d *Decoder) review(t *turn, a *ask) (all []trace.PermissionCheck) {
	for _, action := range a.review.Actions {
		id := action.ID
		if i := slices.IndexFunc(t.order, func(id string) bool {
			c := t.calls[id]
			return !c.done && c.name == action.Name && agentkit.SameJSON(c.input(), action.Args) && !slices.Contains(a.calls, id)
		}); i >= 0 {
			id = t.order[i]
		} else {
			d.callArgs(t, event{ToolCallID: id, ToolCallName: action.Name, Delta: action.Args})
		}
		a.calls = append(a.calls, id)
		p := d.approval(t, action.ID, id, action.Title)
		p.Request.Options = action.Options()
		all = append(all, p)
	}
	return all
}

// reviewed is the answer to an interrupt for several calls.
func (t *turn) reviewed(a *ask, replies map[string]trace.PermissionResponse) resume {
	for n, action := range a.review.Actions {
		t.decided(a.calls[n], action.RefuseDisallowed(replies[action.ID]))
	}
	return resume{a.ID, resolved, encode(a.review.Decisions(replies))}
}

// cancelled is the answer to an interrupt that nobody has answered. LangChain knows no
// answer but decisions.
func (i interrupt) cancelled() resume {
	r := i.own().Review
	if len(r.Actions) == 0 {
		return resume{ID: i.ID, Status: cancelled}
	}
	return resume{i.ID, resolved, encode(r.Decisions(nil))}
}
