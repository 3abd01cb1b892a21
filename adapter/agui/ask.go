package agui

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/agent/remote"
	"github.com/tributary-dev/tributary/internal/form"
	"github.com/tributary-dev/tributary/trace"
)

// ask is something that a run has asked for.
type ask struct {
	interrupt
	kind askKind
	may  allowing  // of an approval
	form form.Form // of everything else
	bare bool      // the form has one field, whose value is the answer
	ids  []string  // of the questions
}

// askKind says what an answer is.
type askKind string

const (
	approval askKind = "approval" // whether a call may run
	question askKind = ""         // what the user says
	toolUse  askKind = "tool"     // the result of a tool of the app
	old      askKind = "old"      // what the user says, to an endpoint before 1.0
)

// ask puts to the user all that a run has ended with.
func (d *Decoder) ask(t *turn, kind askKind, all []interrupt) {
	if len(all) == 0 {
		return
	}
	var approvals []trace.PermissionAsk
	var questions []trace.Question
	t.asks = nil
	for n, i := range all {
		i.ID = cmp.Or(i.ID, fmt.Sprintf("interrupt-%d", n+1))
		all[n] = i
		a := &ask{interrupt: i, kind: kind}
		t.asks = append(t.asks, a)
		if may, is := i.approves(); is && kind == question {
			a.kind, a.may = approval, may
			approvals = append(approvals, d.approval(t, a))
			continue
		}
		c := t.calls[i.ToolCallID]
		questions = append(questions, a.questions(c != nil && t.input.has(c.name))...)
	}
	t.b.Emit(memo{Open: all, Kind: kind, Run: t.input.RunID}.record())
	d.effects = append(d.effects, d.Permissions(t.b, approvals...)...)
	d.effects = append(d.effects, d.Questions(t.b, questions...)...)
}

func (d *Decoder) approval(t *turn, a *ask) trace.PermissionAsk {
	_, c := d.known(t, event{ToolCallID: a.ToolCallID})
	d.whole(t, a.ToolCallID)
	return trace.PermissionAsk{Request: trace.PermissionRequest{
		RequestID: a.ID, ToolCallID: a.ToolCallID, Title: cmp.Or(a.Message, d.tools.Classify(c.name, c.input()).Title, c.name),
		Options: []trace.PermissionOption{{ID: "approve", Name: "Approve", OptionKind: trace.AllowOnce}, {ID: "reject", Name: "Reject", OptionKind: trace.RejectOnce}},
	}}
}

// Next implements remote.Asker.
func (d *Decoder) Next(_ *trace.Builder, replies remote.Replies) *remote.Call {
	t := d.turn
	in := t.input
	in.Resume, in.Parent = nil, ""
	if in.Version != "" {
		in.Parent = in.RunID
	}
	var olds []raw
	for _, a := range t.asks {
		if a.kind == approval {
			in.Resume = append(in.Resume, t.approved(a, replies.Permissions[a.ID]))
			continue
		}
		switch r := a.reply(replies.Answers); a.kind {
		case old:
			olds = append(olds, r.Payload)
		case toolUse:
			t.appResult(a.ToolCallID, r)
		case approval, question:
			in.Resume = append(in.Resume, r)
		}
	}
	in.Messages = append(slices.Clone(in.Messages), t.said.encoded(in.Version == "")...)
	in.State = first(t.values[state()], in.State)
	in.command(olds)
	call := request(in)
	return &call
}

// appResult ends a call that the app has answered.
func (t *turn) appResult(id string, r resume) {
	c := t.calls[id]
	if c.done {
		return
	}
	c.done, t.news = true, c.sub == ""
	result := trace.ToolResult{ToolCallID: id, Status: trace.ToolCompleted, Output: output(plain(r.Payload))}
	if r.Status != resolved {
		result = trace.ToolResult{ToolCallID: id, Status: trace.ToolFailed, Error: "The app gave no result."}
	}
	c.b.ToolResult(result)
	t.said.result("", id, c.sub, encode(cmp.Or(plain(r.Payload), result.Error)), result.Error)
}

// interrupts are those of an endpoint before 1.0.
func (t *turn) interrupts() (all []interrupt) {
	for _, value := range t.legacy {
		var words struct{ Question, Message, Prompt, Text, Description string }
		read(raw(plain(value)), &words)
		all = append(all, interrupt{Message: cmp.Or(words.Question, words.Message, words.Prompt, words.Text, words.Description, plain(value))})
	}
	return all
}

// pending are the calls of tools of the app that a run waits for. An endpoint need not name
// them.
func (t *turn) pending(ids []string) (all []interrupt) {
	if len(ids) == 0 {
		ids = slices.DeleteFunc(slices.Clone(t.order), func(id string) bool { return !t.input.has(t.calls[id].name) })
	}
	for _, id := range ids {
		if c := t.calls[id]; c != nil && !c.done {
			text := fmt.Sprintf("The agent calls %s of the app with %s. What is the result?", c.name, c.input())
			all = append(all, interrupt{ID: id, ToolCallID: id, Message: text})
		}
	}
	return all
}

// output is a result: an object or a list if the text is one.
func output(text string) raw {
	if s := strings.TrimSpace(text); (strings.HasPrefix(s, "{") || strings.HasPrefix(s, "[")) && isJSON(s) {
		return raw(s)
	}
	return encode(text)
}

// command answers interrupts of endpoints before 1.0: by one value, or a list of several.
func (in *input) command(answers []raw) {
	if len(answers) == 0 {
		return
	}
	answer := any(answers)
	if len(answers) == 1 {
		answer = answers[0]
	}
	all := map[string]any{}
	maps.Copy(all, in.Forwarded)
	all["command"] = map[string]any{"resume": answer}
	in.Forwarded = all
}
