package langgraph

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/agent/remote"
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
	id      string
	form    askForm
	items   []item
	answers []raw
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
	call    *toolCall
	name    string
	args    raw
	title   string
	allowed []string // approve, edit, reject; nil is all of them
}

// note is an answer on its way to the Decoder.
type note struct {
	Interrupt string `json:"interrupt"`
	Item      int    `json:"item"`
	Answer    raw    `json:"answer"`
	Refused   bool   `json:"refused,omitempty"`
	By        string `json:"by,omitempty"`
}

// actionForm is the value of an interrupt that asks for approval.
type actionForm struct {
	Requests   []action `json:"action_requests"`
	RequestsJS []action `json:"actionRequests"`
	Configs    []struct {
		Name    string   `json:"action_name"`
		NameJS  string   `json:"actionName"`
		Allowed []string `json:"allowed_decisions"`
		Allow   []string `json:"allowedDecisions"`
	} `json:"review_configs"`
	Request action `json:"action_request"` // of the inbox
	Config  *struct {
		Accept  bool `json:"allow_accept"`
		Edit    bool `json:"allow_edit"`
		Ignore  bool `json:"allow_ignore"`
		Respond bool `json:"allow_respond"`
	} `json:"config"`
	Description string `json:"description"`
}

type action struct {
	Name        string `json:"name"`
	Action      string `json:"action"`
	Args        raw    `json:"args"`
	Arguments   raw    `json:"arguments"`
	Description string `json:"description"`
}

func (a action) item(allowed []string) item {
	args := a.Args
	if len(args) == 0 {
		args = a.Arguments
	}
	if len(args) == 0 {
		args = raw("{}")
	}
	return item{name: cmp.Or(a.Name, a.Action), args: args, title: a.Description, allowed: allowed}
}

// ask finds out what an interrupt asks.
func (i interrupt) ask() *ask {
	a := &ask{id: i.ID, form: freeForm, items: []item{{}}}
	var list []actionForm
	var f actionForm
	if !strings.HasPrefix(strings.TrimSpace(string(i.Value)), "[") {
		read(i.Value, &f)
		list = []actionForm{f}
	} else if json.Unmarshal(i.Value, &list) != nil {
		list = nil
	}
	var items []item
	for _, f := range list {
		switch requests := append(f.Requests, f.RequestsJS...); {
		case len(requests) > 0:
			a.form = decisions
			for _, r := range requests {
				items = append(items, r.item(f.allowed(cmp.Or(r.Name, r.Action))))
			}
		case f.Request.Action != "":
			a.form = inbox
			one := f.Request.item(f.allowed(""))
			one.title = cmp.Or(f.Description, one.title)
			items = append(items, one)
		}
	}
	if a.form != freeForm {
		a.items = items
	}
	a.answers = make([]raw, len(a.items))
	return a
}

func (f actionForm) allowed(name string) []string {
	for _, c := range f.Configs {
		if cmp.Or(c.Name, c.NameJS) == name {
			return append(c.Allowed, c.Allow...)
		}
	}
	if f.Config == nil {
		return nil
	}
	all := []string{}
	for word, is := range map[string]bool{"approve": f.Config.Accept, "edit": f.Config.Edit, "reject": f.Config.Ignore || f.Config.Respond} {
		if is {
			all = append(all, word)
		}
	}
	return all
}

// interrupted takes what the graph waits for. The same interrupts may be announced twice.
func (d *Decoder) interrupted(all []interrupt) {
	t := d.turn
	t.close(func(*speech) bool { return true })
	if all != nil && len(all) == 0 {
		d.put(&ask{id: static, form: pause, items: []item{{}}, answers: []raw{nil}}, nil)
	}
	for n, i := range all {
		i.ID = cmp.Or(i.ID, fmt.Sprintf("interrupt-%d", n+1))
		d.put(i.ask(), i.Value)
	}
}

// put asks a person.
func (d *Decoder) put(a *ask, value raw) {
	t := d.turn
	if slices.ContainsFunc(t.asks, func(o *ask) bool { return o.id == a.id }) {
		return
	}
	t.asks = append(t.asks, a)
	if a.form != pause {
		t.b.Emit(trace.Data{Name: "interrupt", ID: a.id, Value: agentkit.Encode(interrupt{a.id, value})})
	}
	if d.goOn == nil && d.live {
		return // a backend that takes no answers
	}
	if a.form == freeForm || a.form == pause {
		d.question(a, value)
		return
	}
	d.approvals(a)
}

// approvals asks for the approvals of an interrupt, all at once. Those that an earlier
// process has asked for are awaited.
func (d *Decoder) approvals(a *ask) {
	t, taken := d.turn, map[*toolCall]bool{}
	decided := make([]trace.PermissionDecision, len(a.items))
	var asks []trace.PermissionAsk
	for n := range a.items {
		it := &a.items[n]
		if decided[n].ID = d.waits(a, n); decided[n].ID != "" {
			continue
		}
		id := d.item(a, n)
		if c := t.pending(it.name, it.args, func(c *toolCall) bool { return !taken[c] }); c != nil {
			id = c.id
		}
		it.call = t.call(id, it.name, flat)
		taken[it.call] = true
		t.input(it.call, it.args)
		asked := t.tools.Call(it.call.id, it.name, it.args)
		asks = append(asks, trace.PermissionAsk{Call: asked, Request: trace.PermissionRequest{
			RequestID: d.item(a, n), ToolCallID: it.call.id, Title: cmp.Or(it.title, asked.Title, it.name), Options: it.options(),
		}})
	}
	made := t.b.PermissionRequests(asks...)
	for n, it := range a.items {
		if decided[n].ID == "" {
			decided[n], made = made[0], made[1:]
		}
		effect := agent.Permit{Native: d.item(a, n), RequestID: decided[n].ID, Reply: func(r trace.PermissionResponse) raw {
			return remote.Note(note{Interrupt: a.id, Item: n, Answer: a.decision(it, r), Refused: !r.Allowed(), By: r.By})
		}}
		if decided[n].Decided {
			effect.Decided = &decided[n].Answer
		}
		d.do(effect)
	}
}

// item is the agent's own id of one thing that is asked.
func (d *Decoder) item(a *ask, n int) string { return fmt.Sprintf("%s:%d", a.id, n) }

func (i item) allows(word string) bool {
	return len(i.allowed) == 0 || slices.Contains(i.allowed, word) || !slices.Contains(i.allowed, "approve") && !slices.Contains(i.allowed, "reject")
}

func (i item) options() []trace.PermissionOption {
	var all []trace.PermissionOption
	if i.allows("approve") {
		all = append(all, trace.PermissionOption{ID: "approve", Name: "Approve", OptionKind: trace.AllowOnce})
	}
	if i.allows("reject") {
		all = append(all, trace.PermissionOption{ID: "reject", Name: "Reject", OptionKind: trace.RejectOnce})
	}
	return all
}

// decision is an answer in the words of the graph's library.
func (a *ask) decision(it item, r trace.PermissionResponse) raw {
	args := r.UpdatedInput
	if a.form == inbox {
		switch {
		case !r.Allowed() && r.Reason != "":
			return agentkit.Encode(map[string]any{"type": "response", "args": r.Reason})
		case !r.Allowed():
			return agentkit.Encode(map[string]any{"type": "ignore", "args": nil})
		case len(args) > 0:
			return agentkit.Encode(map[string]any{"type": "edit", "args": map[string]any{"action": it.name, "args": args}})
		}
		return agentkit.Encode(map[string]any{"type": "accept", "args": nil})
	}
	switch {
	case !r.Allowed():
		return agentkit.Encode(map[string]any{"type": "reject", "message": cmp.Or(r.Reason, "The user rejected the call.")})
	case len(args) > 0:
		return agentkit.Encode(map[string]any{"type": "edit", "edited_action": map[string]any{"name": it.name, "args": args}})
	}
	return agentkit.Encode(map[string]any{"type": "approve"})
}
