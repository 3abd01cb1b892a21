package agui

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/agent/remote"
	"github.com/tributary-dev/tributary/internal/form"
	"github.com/tributary-dev/tributary/internal/langchain"
	"github.com/tributary-dev/tributary/trace"
)

// ask is something that a run has asked for.
type ask struct {
	interrupt
	kind   askKind
	old    bool             // the endpoint is one before 1.0
	may    allowing         // of an approval
	review langchain.Review // of a reviewal
	calls  []string         // that are reviewed
	form   form.Form        // of everything else
	bare   bool             // the form has one field, whose value is the answer
	app    bool             // a tool of the app gives the answer
	ids    []string         // of the questions
}

// askKind says what an answer is.
type askKind string

const (
	approval askKind = "approval" // whether a call may run
	reviewal askKind = "reviewal" // whether calls may run, in the words of LangChain
	question askKind = ""         // what the user says
	toolUse  askKind = "tool"     // the result of a tool of the app
	old      askKind = "old"      // a question or a reviewal of an endpoint before 1.0
)

// ask puts to the user all that a run has ended with.
func (d *Decoder) ask(t *turn, kind askKind, all []interrupt) {
	if len(all) == 0 {
		return
	}
	var approvals []trace.PermissionCheck
	var questions []trace.Question
	t.asks = nil
	for n, i := range all {
		i.ID = cmp.Or(i.ID, fmt.Sprintf("interrupt-%d", n+1))
		all[n] = i
		a := &ask{interrupt: i, kind: kind, old: kind == old}
		t.asks = append(t.asks, a)
		own := a.own()
		if len(own.Review.Actions) > 0 {
			a.kind, a.review = reviewal, own.Review
			approvals = append(approvals, d.review(t, a)...)
			continue
		}
		a.Message = cmp.Or(a.Message, own.words())
		if own.Tool != "" && t.calls[i.ToolCallID] == nil { // Mastra does not announce a call that waits
			d.callArgs(t, event{ToolCallID: i.ToolCallID, ToolCallName: own.Tool, Delta: own.Args})
		}
		if may, is := i.approves(); is && kind == question {
			a.kind, a.may = approval, may
			approvals = append(approvals, d.approval(t, a.ID, a.ToolCallID, a.Message))
			continue
		}
		c := t.calls[i.ToolCallID]
		questions = append(questions, a.questions(c != nil && t.input.has(c.name))...)
	}
	t.b.EmitOwn(memo{Open: all, Kind: kind, Run: t.input.RunID}.record())
	d.effects = append(d.effects, d.Permissions(t.b, approvals...)...)
	d.effects = append(d.effects, d.Questions(t.b, questions...)...)
}

// approval asks whether a call may run.
func (d *Decoder) approval(t *turn, id, call, title string) trace.PermissionCheck {
	_, c := d.known(t, event{ToolCallID: call})
	d.whole(t, call)
	return trace.PermissionCheck{Request: trace.PermissionRequest{
		RequestID: id, ToolCallID: call, Title: cmp.Or(title, d.tools.Classify(c.name, c.input()).Title, c.name),
		Options: []trace.PermissionOption{{ID: "approve", Name: "Approve", OptionKind: trace.AllowOnce}, {ID: "reject", Name: "Reject", OptionKind: trace.RejectOnce}},
	}}
}

// Next implements remote.Asker. The record says that the interrupts are answered, before they
// are. A turn that has its end on record sends nothing: the next run cancels the interrupts.
func (d *Decoder) Next(_ *trace.Builder, replies remote.Replies) *remote.Call {
	t := d.turn
	late := t.b.Counts().Late
	if t.b.EmitOwn(memo{Answered: true}.record()); t.b.Counts().Late > late {
		return nil
	}
	in := t.input
	in.Resume, in.Parent = nil, ""
	if in.Version != "" {
		in.Parent = in.RunID
	}
	var olds []raw
	for _, a := range t.asks {
		var r resume
		switch a.kind {
		case approval:
			r = t.approved(a, replies.Permissions[a.ID])
		case reviewal:
			r = t.reviewed(a, replies.Permissions)
		case question, old:
			r = a.reply(replies.Answers)
		case toolUse:
			t.appResult(a.ToolCallID, a.reply(replies.Answers))
			continue
		}
		if a.old {
			olds = append(olds, r.Payload)
		} else {
			in.Resume = append(in.Resume, r)
		}
	}
	in.Messages = append(slices.Clone(in.Messages), t.said.encoded(in.Version == "")...)
	in.State = first(t.values[state()], in.State)
	in.command(olds)
	call := request(in)
	if len(t.asks) == 0 {
		call.By = t.by
	}
	return &call
}

// appResult ends a call that the app has answered.
func (t *turn) appResult(id string, r resume) {
	c := t.calls[id]
	if c.done {
		return
	}
	c.done, t.news = true, c.sub == ""
	result := trace.ToolResult{ToolCallID: id, Status: trace.ToolCompleted, Output: r.Payload}
	if r.Status != resolved {
		result = trace.ToolResult{ToolCallID: id, Status: trace.ToolFailed, Error: "The app gave no result."}
	}
	c.b.ToolResult(result)
	t.said.result("", id, c.sub, encode(contentOf(result)), result.Error)
}

// contentOf is a result as the content of a message, which is a text.
func contentOf(r trace.ToolResult) string {
	if r.Status == trace.ToolCompleted && string(r.Output) == "null" {
		return "null"
	}
	return cmp.Or(plain(r.Output), r.Error)
}

// interrupts are those of an endpoint before 1.0.
func (t *turn) interrupts() (all []interrupt) {
	for _, value := range t.legacy {
		all = append(all, interrupt{Reason: plain(value), Metadata: encode(map[string]any{"langgraph": map[string]any{"raw": value}})})
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
