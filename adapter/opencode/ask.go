package opencode

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/trace"
)

// ask is a permission request or a question without an answer.
type ask struct {
	native  string
	b       *trace.Builder
	call    *toolCall
	options []trace.PermissionOption
	id      string   // ours of a permission request
	ids     []string // ours of questions
}

// refusal is the request that refuses what was asked.
func (a *ask) refusal() raw {
	if a.ids != nil {
		return agentkit.Post("/question/"+a.native+"/reject", nil).JSON()
	}
	return permissionReply{Reply: "reject"}.call(a.native)
}

// permissionReply is the answer to a permission request. Without a message, a rejection
// ends the turn.
type permissionReply struct {
	Reply   string `json:"reply"`
	Message string `json:"message,omitempty"`
}

func (r permissionReply) call(id string) raw {
	return agentkit.Post("/permission/"+id+"/reply", r).JSON()
}

// pending takes the list of what waits on the server: what is new is asked, what is gone
// has been answered elsewhere.
func (d *Decoder) pending(all []request, kind string) {
	turn := d.running()
	if turn == nil {
		return
	}
	for id, a := range turn.asks {
		if (a.ids != nil) == (kind == "question") && !slices.ContainsFunc(all, func(r request) bool { return r.ID == id }) {
			delete(turn.asks, id)
			d.effects = append(d.effects, agent.Withdraw{Native: id})
		}
	}
	for _, r := range all {
		d.asked(r)
	}
}

// asked takes a permission request or a question. A request may come before the input of
// its call; it waits for the input, because the input is what the policy judges.
func (d *Decoder) asked(r request) {
	turn := d.running()
	if _, child := d.children[r.SessionID]; turn == nil || r.SessionID != d.session && !child {
		return
	}
	c := turn.callOf(r.Tool.MessageID, r.Tool.CallID)
	switch {
	case turn.asks[r.ID] != nil:
	case slices.ContainsFunc(turn.held, func(h request) bool { return h.ID == r.ID }):
	case c != nil && c.input == nil:
		turn.held = append(turn.held, r)
	default:
		d.put(r, c)
	}
}

// release puts the requests that match to the user.
func (d *Decoder) release(match func(request) bool) {
	turn := d.turn
	turn.held = slices.DeleteFunc(turn.held, func(r request) bool {
		if match(r) {
			d.put(r, turn.callOf(r.Tool.MessageID, r.Tool.CallID))
			return true
		}
		return false
	})
}

func (d *Decoder) put(r request, c *toolCall) {
	if len(r.Questions) > 0 {
		d.question(r)
		return
	}
	d.permission(r, c)
}

// permission puts a permission request to the user.
func (d *Decoder) permission(r request, c *toolCall) {
	name := r.Permission
	input := r.Metadata
	if c != nil && c.input == nil { // it was answered before the call ran
		c.input = asRun(raw("{}"), r.Metadata)
		c.m.b.ToolCall(d.whole(c, c.name, c.input))
	}
	switch {
	case c == nil:
		c = &toolCall{id: cmp.Or(r.Tool.CallID, r.ID), m: &message{session: r.SessionID, b: d.voice(r.SessionID)}}
	case (name == c.name || name == "edit" && d.tools.Kind(c.name) == trace.ToolEdit) && r.about(c.input):
		name, input = c.name, asRun(c.input, r.Metadata)
		c.diff = r.diff()
	default: // about something beside the call, such as a directory outside the workspace
		input = agentkit.Encode(map[string]any{"tool": c.name, "input": c.input, "patterns": r.Patterns})
	}
	a := &ask{native: r.ID, b: c.m.b, call: c, options: []trace.PermissionOption{{ID: "once", Name: "Allow once", OptionKind: trace.AllowOnce}}}
	if len(r.Always) > 0 {
		a.options = append(a.options, trace.PermissionOption{ID: "always", Name: "Always allow " + strings.Join(r.Always, ", "), OptionKind: trace.AllowAlways})
	}
	a.options = append(a.options, trace.PermissionOption{ID: "reject", Name: "Deny", OptionKind: trace.RejectOnce})
	asked := d.whole(c, name, input)
	title := cmp.Or(asked.Title, name)
	if name == r.Permission && c.name != "" && name != c.name {
		title = fmt.Sprintf("%s: %s", strings.ReplaceAll(name, "_", " "), strings.Join(r.Patterns, ", "))
	}
	var answer trace.PermissionResponse
	var decided bool
	a.id, answer, decided = a.b.PermissionRequest(trace.PermissionRequest{RequestID: r.ID, ToolCallID: c.id, Title: title, Options: a.options}, asked)
	d.turn.asks[r.ID] = a
	effect := agent.Permit{Native: r.ID, RequestID: a.id, Reply: func(answer trace.PermissionResponse) raw { return reply(answer).call(r.ID) }}
	if decided {
		effect.Decided = &answer
	}
	d.effects = append(d.effects, effect)
}

// reply is an answer in the agent's words.
func reply(r trace.PermissionResponse) permissionReply {
	switch {
	case len(r.UpdatedInput) > 0:
		return permissionReply{Reply: "reject", Message: cmp.Or(r.Reason, "The user wants another input: "+string(r.UpdatedInput))}
	case r.Allowed() && r.OptionKind == trace.AllowAlways:
		return permissionReply{Reply: "always"}
	case r.Allowed():
		return permissionReply{Reply: "once"}
	case r.Interrupt:
		return permissionReply{Reply: "reject"}
	case r.Outcome == trace.Expired:
		return permissionReply{Reply: "reject", Message: cmp.Or(r.Reason, "Nobody answered the permission request in time.")}
	}
	return permissionReply{Reply: "reject", Message: cmp.Or(r.Reason, "The user denied permission.")}
}

// replied takes the answer to a permission request, whoever gave it.
func (d *Decoder) replied(id string, r permissionReply, by string) {
	turn := d.running()
	if turn == nil {
		return
	}
	d.release(func(r request) bool { return r.ID == id })
	a := turn.asks[id]
	if a == nil || a.ids != nil {
		return
	}
	delete(turn.asks, id)
	a.call.denied = a.call.denied || r.Reply == "reject"
	answer := trace.PermissionResponse{RequestID: a.id, Outcome: trace.Selected, ChosenOption: r.Reply, By: by, Reason: r.Message}
	for _, o := range a.options {
		if o.ID == r.Reply {
			answer.OptionKind = o.OptionKind
		}
	}
	a.b.PermissionResponse(answer)
	if by != "user" {
		d.effects = append(d.effects, agent.Withdraw{Native: id})
	}
}

// question puts questions to the user.
func (d *Decoder) question(r request) {
	a := &ask{native: r.ID, b: d.voice(r.SessionID)}
	all := make([]trace.Question, len(r.Questions))
	for i, q := range r.Questions {
		id := r.ID
		if i > 0 {
			id = fmt.Sprintf("%s#%d", r.ID, i+1)
		}
		all[i] = trace.Question{QuestionID: id, ToolCallID: r.Tool.CallID, Header: q.Header, Text: q.Question, Choices: q.Options, Multiple: q.Multiple}
	}
	a.ids = a.b.Questions(all...)
	if a.ids == nil {
		return // the turn is over
	}
	d.turn.asks[r.ID] = a
	d.effects = append(d.effects, agent.Ask{Native: r.ID, QuestionIDs: a.ids, Reply: func(answers []trace.Answer) raw {
		said := make([][]string, len(answers))
		for i, answer := range answers {
			if answer.Outcome != trace.Selected {
				return a.refusal()
			}
			said[i] = answer.Values
		}
		return agentkit.Post("/question/"+r.ID+"/reply", map[string]any{"answers": said}).JSON()
	}})
}

// questioned takes the answers to questions; nil says that they were refused.
func (d *Decoder) questioned(id string, answers [][]string, by string) {
	turn := d.running()
	if turn == nil {
		return
	}
	d.release(func(r request) bool { return r.ID == id })
	a := turn.asks[id]
	if a == nil || a.ids == nil {
		return
	}
	delete(turn.asks, id)
	for i, q := range a.ids {
		answer := trace.Answer{QuestionID: q, Outcome: trace.Canceled, By: by}
		if i < len(answers) {
			answer.Outcome, answer.Values = trace.Selected, answers[i]
		}
		a.b.Answer(answer)
	}
	if by != "user" {
		d.effects = append(d.effects, agent.Withdraw{Native: id})
	}
}

// about reports whether a request about a file is about the file of the input. The pattern
// is relative to a directory that is not known here.
func (r request) about(input raw) bool {
	var in struct {
		FilePath string `json:"filePath"`
	}
	if r.Permission != "read" && r.Permission != "edit" || len(r.Patterns) != 1 || !decode(input, &in) || in.FilePath == "" {
		return true
	}
	return strings.HasSuffix("/"+in.FilePath, "/"+r.Patterns[0])
}

// diff is the change that a request is about.
func (r request) diff() string {
	var m metadata
	if decode(r.Metadata, &m) {
		return m.Diff
	}
	return ""
}
