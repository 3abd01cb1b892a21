package otlp

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/export/reader"
	"github.com/tributary-dev/tributary/trace"
)

// This file maps each part of a turn to a span.

// root is the span of the turn.
func (m *maker) root() {
	t := m.t
	var a attrSet
	a.text(operation, "invoke_agent")
	a.text(provider, m.provider())
	a.text(agentName, m.agentName)
	a.text(agentVersion, t.Agent.Version)
	a.text(langfuseTraceName, m.agentName)
	var in []said
	var asked []string
	for _, p := range t.Prompts {
		if u := userMessage(p); u != nil {
			in = append(in, *u)
			asked = append(asked, promptText(p))
		}
	}
	a.messages(inputMessages, in)
	a.text(inputValue, strings.Join(asked, "\n\n"))
	a.text(langfuseInput, strings.Join(asked, "\n\n"))
	if out := t.Stop.FinalOutput; out != "" {
		a.messages(outputMessages, []said{{Role: "assistant", Parts: []part{{Type: "text", Content: out}}, FinishReason: m.ended()}})
		a.text(outputValue, out)
		a.text(langfuseOutput, out)
	}
	if len(t.Agent.Tools) > 0 {
		a.text(toolDefinitions, toolsOf(t.Agent))
	}
	a.text(ownStopReason, t.Stop.Reason)
	a.text(ownStopOutcome, string(t.Stop.Outcome))
	a.text(ownRewind, strings.Join(t.Rewinds, " "))
	s := Span{ID: m.rootID, Parent: m.parent, Name: "invoke_agent " + m.agentName, Kind: KindInternal, Events: m.events()}
	if t.Stop.Outcome == trace.OutcomeFailed {
		a.text(errorType, cmp.Or(string(t.Stop.Class), t.Stop.Reason, "failed"))
		s.Error, s.ErrorMessage = true, t.Stop.Error
	}
	m.span(s, t.Seq, m.start(), t.End, a)
}

func (m *maker) provider() string { return cmp.Or(m.t.Agent.Provider, m.t.Agent.Adapter, "unknown") }

// ended is the finish reason of the turn's last message, in the conventions' words.
func (m *maker) ended() string {
	if m.t.Stop.Outcome == trace.OutcomeFailed {
		return "error"
	}
	return "stop"
}

func toolsOf(a trace.AgentInfo) string {
	type definition struct {
		Type        string          `json:"type"`
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		Parameters  json.RawMessage `json:"parameters,omitempty"`
	}
	var all []definition
	for _, t := range a.Tools {
		all = append(all, definition{"function", cmp.Or(t.Name, "tool"), t.Description, valid(t.InputSchema)})
	}
	out, _ := json.Marshal(all) // all of it is JSON
	return string(out)
}

// actor writes the calls of a model, and for a sub-agent the span around them.
func (m *maker) actor(a *reader.Actor) {
	told := map[*reader.Call]bool{} // results that an earlier call of the model has read
	var before uint64
	for _, st := range a.Steps {
		m.chat(a, st, m.input(a, st, before, told))
		before = st.Seq
	}
	if !a.Subagent() {
		return
	}
	parent := m.rootID
	if c := a.Call; c != nil && c.Continues == "" && !m.hidden(c) && !m.leaves(c.Actor) {
		parent = m.id("call", c.ToolCallID)
	}
	name := cmp.Or(a.Name, "subagent")
	var attrs attrSet
	attrs.text(operation, "invoke_agent")
	attrs.text(provider, m.provider())
	attrs.text(agentName, name)
	attrs.text(ownActor, string(a.ID))
	for _, st := range slices.Backward(a.Steps) {
		if out := textOf(st); out != "" {
			attrs.messages(outputMessages, []said{{Role: "assistant", Parts: []part{{Type: "text", Content: out}}, FinishReason: "stop"}})
			attrs.text(outputValue, out)
			break
		}
	}
	m.span(Span{ID: m.under(a), Parent: parent, Name: "invoke_agent " + name, Kind: KindInternal}, a.Seq, a.Start, a.End, attrs)
}

func textOf(st *reader.Step) string {
	var all []string
	for _, p := range st.Parts {
		if p.Call == nil && !p.Thought && p.Text != "" {
			all = append(all, p.Text)
		}
	}
	return strings.Join(all, "\n\n")
}

// input is what the model reads in this call that it has not read before: prompts and results.
// Whole histories would grow with the square of the session.
func (m *maker) input(a *reader.Actor, st *reader.Step, before uint64, told map[*reader.Call]bool) (in []said) {
	if !a.Subagent() {
		for _, p := range m.t.Prompts {
			if u := userMessage(p); u != nil && p.Seq >= before && p.Seq < st.Seq {
				in = append(in, *u)
			}
		}
	}
	for _, c := range m.t.Calls {
		if c.Actor != a || c.Result == nil || told[c] || c.Seq > st.Seq || c.End.After(st.First) || m.hidden(c) {
			continue
		}
		told[c] = true
		text := resultText(*c.Result)
		in = append(in, said{Role: "tool", Parts: []part{{Type: "tool_call_response", ID: c.ToolCallID, Response: &text}}})
	}
	return in
}

// chat is one call of the model.
func (m *maker) chat(a *reader.Actor, st *reader.Step, in []said) {
	var attrs attrSet
	attrs.text(operation, "chat")
	attrs.text(provider, m.provider())
	attrs.text(requestModel, st.Model)
	attrs.text(responseModel, st.Model)
	m.usage(&attrs, st.Usage)
	out := outputOf(st, m.NoDenied)
	out.FinishReason = m.finish(st, out)
	attrs.add(finishReasons, []string{cmp.Or(strings.ToValidUTF8(st.Finish, "\uFFFD"), out.FinishReason)})
	if len(st.Parts) > 0 {
		attrs.text(langfuseFirstToken, st.First.UTC().Format("2006-01-02T15:04:05.000Z"))
		attrs.add(timeToFirstChunk, st.First.Sub(st.Asked).Seconds())
	}
	attrs.messages(inputMessages, in)
	attrs.text(ownInput, "delta")
	attrs.messages(outputMessages, []said{out})
	if st.Derived {
		attrs.text(ownStep, "derived")
	}
	attrs.text(ownStepName, st.Name)
	attrs.text(ownNativeID, st.NativeID)
	if st == m.lastStep {
		attrs.number(ownContextUsed, m.t.ContextUsed)
		attrs.number(ownContextSize, m.t.ContextSize)
	}
	name := strings.TrimSpace("chat " + st.Model)
	m.span(Span{ID: m.id("step", st.ID), Parent: m.under(a), Name: name, Kind: KindClient}, st.Seq, st.Asked, st.Last, attrs)
}

// finish is why the model stopped writing, in the conventions' words.
func (m *maker) finish(st *reader.Step, out said) string {
	for _, p := range out.Parts {
		if p.Type == "tool_call" {
			return "tool_call"
		}
	}
	switch {
	case st.Finish == "length" || st.Finish == "max_tokens":
		return "length"
	case st == m.lastStep:
		return m.ended()
	}
	return "stop"
}

func (m *maker) usage(attrs *attrSet, u *reader.Usage) {
	if u == nil {
		return
	}
	if u.InputTokens|u.OutputTokens != 0 {
		attrs.add(inputTokens, u.InputTokens)
		attrs.add(outputTokens, u.OutputTokens)
	}
	attrs.number(cacheReadTokens, u.CacheReadTokens)
	attrs.number(cacheCreationTokens, u.CacheWriteTokens)
	attrs.number(reasoningTokens, u.ReasoningTokens)
	if u.CostUSD != nil {
		cost, _ := json.Marshal(*u.CostUSD) // a number that came as JSON
		attrs.add(usageCost, *u.CostUSD)
		attrs.text(langfuseCost, `{"total":`+string(cost)+`}`)
		attrs.text(mlflowCost, `{"total_cost":`+string(cost)+`}`)
	}
	if u.From != string(trace.UsageStep) {
		attrs.text(ownUsageScope, u.From)
	}
}

// call is one call of a tool, beside the call of the model that asked for it.
func (m *maker) call(c *reader.Call) {
	name := cmp.Or(c.RawName, c.Name, "tool")
	var a attrSet
	a.text(operation, "execute_tool")
	a.text(toolName, name)
	a.text(toolCallID, c.ToolCallID)
	a.text(toolType, "function")
	a.text(toolArguments, string(c.Input))
	if c.Result != nil {
		a.text(toolResult, resultText(*c.Result))
	}
	a.text(ownToolKind, string(c.ToolKind))
	a.text(ownToolStatus, string(status(c)))
	a.text(ownToolTitle, c.Title)
	s := Span{ID: m.id("call", c.ToolCallID), Parent: m.under(c.Actor), Name: "execute_tool " + name, Kind: KindInternal}
	s.Error = true
	switch status(c) {
	case trace.ToolCompleted:
		s.Error = false
	case trace.ToolFailed:
		a.text(errorType, "tool_failed")
	case trace.ToolDenied:
		a.text(errorType, "permission_denied")
		a.text(langfuseLevel, "WARNING")
	case trace.ToolCanceled:
		a.text(errorType, "canceled")
		a.text(langfuseLevel, "WARNING")
	}
	if s.Error && c.Result != nil {
		s.ErrorMessage = c.Result.Error
	}
	m.span(s, c.Seq, c.Start, c.End, a)
}

// request is a permission. No key of it has the word tool, which readers take for a used tool.
func (m *maker) request(q *reader.Request) {
	var a attrSet
	a.text(langfuseType, "guardrail")
	a.text(openInferenceKind, "GUARDRAIL")
	a.text(permissionField+"title", q.Title)
	a.text(permissionField+"decided_by", cmp.Or(q.DecidedBy, "person"))
	outcome := "open"
	if r := q.Response; r != nil {
		outcome = string(r.Outcome)
		a.text(permissionField+"option_kind", string(r.OptionKind))
		a.text(permissionField+"by", r.By)
		a.text(permissionField+"via", string(r.Via))
		a.text(permissionField+"reason", r.Reason)
		a.text(permissionField+"rule", r.Rule)
		a.text(permissionField+"updated_input", string(r.UpdatedInput))
	}
	if c := q.Call; c != nil && c.Continues != "" { // its span is in another trace
		a.text(permissionField+"call", c.ToolCallID)
		a.text(permissionField+"continues", c.Continues)
	}
	a.text(permissionField+"outcome", outcome)
	s := Span{ID: m.id("request", q.RequestID), Parent: m.under(q.Actor), Name: "permission", Kind: KindInternal}
	if c := q.Call; c != nil && c.Continues == "" && !m.hidden(c) {
		s.Links = []Link{{m.trace, m.id("call", c.ToolCallID)}}
	}
	m.span(s, q.Seq, q.Start, q.End, a)
}

func (m *maker) question(q *reader.Question) {
	var a attrSet
	a.text(openInferenceKind, "CHAIN")
	a.text(questionField+"header", q.Header)
	a.text(questionField+"text", q.Text)
	a.text(inputValue, q.Text)
	outcome := "open"
	if r := q.Answer; r != nil {
		outcome = string(r.Outcome)
		a.text(questionField+"answer", strings.Join(r.Values, ", "))
		a.text(outputValue, strings.Join(r.Values, ", "))
		a.text(questionField+"by", r.By)
		a.text(questionField+"reason", r.Reason)
	}
	a.text(questionField+"outcome", outcome)
	m.span(Span{ID: m.id("question", q.QuestionID), Parent: m.under(q.Actor), Name: "question", Kind: KindInternal}, q.Seq, q.Start, q.End, a)
}

// evaluation is what a grader found. It is a span of its own, because scores come after the turn's
// span was sent, which stays as it is. A score that replaces another has another id.
func (m *maker) evaluation(g *reader.Score) {
	var a attrSet
	a.text(evaluationName, cmp.Or(g.Name, "evaluation"))
	a.text(evaluationLabel, g.Verdict)
	if g.Score.Score != nil {
		a.add(evaluationValue, *g.Score.Score)
	}
	a.text(evaluationExplanation, g.Reason)
	s := Span{ID: m.id("score", g.Record), Parent: m.rootID, Name: strings.TrimSpace("evaluation " + g.Name), Kind: KindInternal}
	s.Events = []Event{{nanos(g.Time), evaluationEvent, slices.Clone(a)}}
	a.text(langfuseType, "evaluator")
	a.text(openInferenceKind, "EVALUATOR")
	a.text(outputValue, g.Reason)
	a.text(ownEvaluationCase, g.Case)
	a.text(ownEvaluationBy, g.By)
	if len(g.Evidence) > 0 {
		a.add(ownEvaluationEvidence, g.Evidence)
	}
	m.span(s, g.Seq, g.Time, g.Time, a)
}

// events are what happened beside, and the calls of earlier turns that went on in this one.
func (m *maker) events() (all []Event) {
	for _, n := range m.t.Notes {
		var a attrSet
		name := "tributary." + string(n.Payload.Kind())
		switch p := n.Payload.(type) { //nolint:gochecksumtype // the reader makes notes of these kinds only
		case trace.Error:
			name = "exception"
			if p.Level == trace.LevelNotice {
				name = "notice"
			}
			a.text(exceptionType, p.Code)
			a.text(exceptionMessage, p.Message)
		case trace.FileChange:
			a.text("path", p.Path)
			a.text("change", string(p.Change))
		case trace.Source:
			a.text("url", cut(p.URL, mostData))
			a.text("title", p.Title)
		case trace.File:
			a.text("media_type", p.MediaType)
			a.text("filename", p.Filename)
		case trace.Data:
			a.text("name", p.Name)
		case trace.Plan:
			a.number("entries", int64(len(p.Entries)))
		default:
			continue
		}
		all = append(all, Event{nanos(n.Time), name, a})
	}
	for _, c := range m.t.Continued {
		var a attrSet
		a.text("call", c.ToolCallID)
		a.text("continues", c.Continues)
		a.text("status", string(status(c)))
		if c.Result != nil {
			a.text("result", resultText(*c.Result))
		}
		all = append(all, Event{nanos(c.End), "tributary.call_continued", a})
	}
	return all
}
