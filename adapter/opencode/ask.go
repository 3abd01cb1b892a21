package opencode

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/agent/remote"
	"github.com/tributary-dev/tributary/trace"
)

// ask is a permission request or a question without an answer.
type ask struct {
	request
	agentkit.Asked // the zero Asked until the user is asked
	call           *toolCall
}

// size is about how many bytes a request keeps that waits.
func (r request) size() int { return len(agentkit.Encode(r)) }

func (r request) question() bool { return len(r.Questions) > 0 }

// refusal is the request that refuses what was asked.
func (r request) refusal() raw {
	if r.question() {
		return remote.Call{Method: http.MethodPost, Path: "/question/" + r.ID + "/reject"}.JSON()
	}
	return r.answer(permissionReply{Reply: "reject"})
}

// permissionReply is the answer to a permission request. Without a message, a rejection
// ends the turn.
type permissionReply struct {
	Reply   string `json:"reply"`
	Message string `json:"message,omitempty"`
}

func (r request) answer(reply permissionReply) raw {
	return remote.Post("/permission/"+r.ID+"/reply", reply).JSON()
}

// pending takes the list of what waits on the server: what is new is asked, what is gone
// has been answered elsewhere.
func (d *Decoder) pending(all []request, questions bool) {
	turn := d.running()
	if turn == nil {
		return
	}
	turn.asks = slices.DeleteFunc(turn.asks, func(a *ask) bool {
		gone := a.question() == questions && !slices.ContainsFunc(all, func(r request) bool { return r.ID == a.ID })
		if gone {
			turn.b.Hold(-a.size())
			d.do(agent.Withdraw{Native: a.ID})
		}
		return gone
	})
	for _, r := range all {
		d.asked(r)
	}
}

// asked takes a permission request or a question. A request may come before the input of
// its call; it waits for the input, because the input is what the policy judges.
func (d *Decoder) asked(r request) {
	turn := d.turn
	if i := turn.find(r.ID); i >= 0 && agentkit.SameJSON(agentkit.Encode(turn.asks[i].request), agentkit.Encode(r)) {
		return
	} else if i >= 0 { // the answer to the request before would count for this one
		if before := d.take(r.ID, ""); before != nil {
			before.Cancel("")
		}
	}
	if r.SessionID != d.session && !turn.child(r.SessionID) {
		return
	}
	a := &ask{request: r, call: turn.calls[callKey(r.Tool.MessageID, r.Tool.CallID)]}
	turn.asks = append(turn.asks, a)
	turn.b.Hold(a.size())
	if a.call == nil || a.call.input != nil {
		d.put(a)
	}
}

func (t *turn) find(id string) int {
	return slices.IndexFunc(t.asks, func(a *ask) bool { return a.ID == id })
}

// put asks the user, once.
func (d *Decoder) put(a *ask) {
	switch {
	case a.Effect != nil:
	case a.question():
		a.Asked = agentkit.Ask(d.turn.voice(a.SessionID), a.ID, a.asked(), a.answers)
		d.do(a.Effect)
	default:
		d.permission(a)
	}
}

// take returns a request that has its answer, and forgets the request.
func (d *Decoder) take(id, by string) *ask {
	turn := d.running()
	if turn == nil {
		return nil
	}
	i := turn.find(id)
	if i < 0 {
		return nil
	}
	a := turn.asks[i]
	d.put(a)
	turn.asks = slices.Delete(turn.asks, i, i+1)
	turn.b.Hold(-a.size())
	if by != "user" {
		d.do(agent.Withdraw{Native: id})
	}
	return a
}

// permission puts a permission request to the user.
func (d *Decoder) permission(a *ask) {
	r, c := a.request, a.call
	name, input, title := r.Permission, r.Metadata, ""
	if c != nil && c.input == nil { // it was answered before the call ran
		c.input = asRun(raw("{}"), r.Metadata)
		c.b.ToolCall(d.tools.Call(c.id, c.name, c.input))
	}
	switch {
	case c == nil:
		c = &toolCall{id: cmp.Or(r.Tool.CallID, r.ID), b: d.turn.voice(r.SessionID)}
	case d.tools.OpenCodeAsks(name, c.name) && r.about(c.input):
		name, input = c.name, asRun(c.input, r.Metadata)
		c.diff = r.diff()
	default: // about something beside the call, such as a directory outside the workspace
		input = agentkit.Encode(map[string]any{"tool": c.name, "input": c.input, "patterns": r.Patterns})
		title = fmt.Sprintf("%s: %s", strings.ReplaceAll(name, "_", " "), strings.Join(r.Patterns, ", "))
	}
	asked := d.tools.Call(c.id, name, input)
	a.call, a.Asked = c, agentkit.Permit(c.b, r.ID, trace.PermissionRequest{
		RequestID: r.ID, ToolCallID: c.id, Title: cmp.Or(title, asked.Title, name), Options: []trace.PermissionOption{
			{ID: "once", Name: "Allow once", OptionKind: trace.AllowOnce},
			{ID: "always", Name: "Always allow", OptionKind: trace.AllowAlways},
			{ID: "reject", Name: "Deny", OptionKind: trace.RejectOnce},
		},
	}, asked, func(answer trace.PermissionResponse) raw { return r.answer(reply(answer)) })
	d.do(a.Effect)
}

// reply is an answer in the agent's words.
func reply(r trace.PermissionResponse) permissionReply {
	switch {
	case len(r.UpdatedInput) > 0:
		return permissionReply{Reply: "reject", Message: cmp.Or(r.Reason, "The user wants another input: "+string(r.UpdatedInput))}
	case r.Allowed():
		return permissionReply{Reply: "once"}
	case r.Interrupt:
		return permissionReply{Reply: "reject"}
	}
	return permissionReply{Reply: "reject", Message: agentkit.Refusal(r)}
}

// allowed takes the answer to a permission request, from a user or from another client.
func (d *Decoder) allowed(id string, r permissionReply, by string) {
	if a := d.take(id, by); a != nil {
		a.Decide(trace.PermissionResponse{Outcome: trace.Selected, ChosenOption: r.Reply, By: by, Reason: r.Message})
	}
}

// asked are the questions of a request.
func (r request) asked() []trace.Question {
	all := make([]trace.Question, len(r.Questions))
	for i, q := range r.Questions {
		all[i] = trace.Question{ToolCallID: r.Tool.CallID, Header: q.Header, Text: q.Question, Choices: q.Options, Multiple: q.Multiple}
	}
	return all
}

// answers replies to questions. Those that lack an answer are refused together.
func (r request) answers(answers []trace.Answer) raw {
	said := make([][]string, len(answers))
	for i, answer := range answers {
		if answer.Outcome != trace.Selected {
			return r.refusal()
		}
		said[i] = answer.Values
	}
	return remote.Post("/question/"+r.ID+"/reply", map[string]any{"answers": said}).JSON()
}

// answered takes the answers to questions; nil says that they were refused.
func (d *Decoder) answered(id string, answers [][]string, by string) {
	if a := d.take(id, by); a != nil {
		a.Answer(answers, by)
	}
}

// about reports whether a request about a file is about the file of the input. The pattern
// is relative to a directory that is not known here.
func (r request) about(input raw) bool {
	var in struct{ FilePath string }
	if r.Permission != "read" && r.Permission != "edit" || len(r.Patterns) != 1 || !decode(input, &in) || in.FilePath == "" {
		return true
	}
	return strings.HasSuffix("/"+in.FilePath, "/"+r.Patterns[0])
}

// diff is the change that a request is about.
func (r request) diff() string {
	var m metadata
	_ = decode(r.Metadata, &m)
	return m.Diff
}
