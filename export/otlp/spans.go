package otlp

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/tributary-dev/tributary/export/reader"
	"github.com/tributary-dev/tributary/trace"
)

// This file maps each part of a turn to a span. Attributes that begin with gen_ai are of the semantic
// conventions for generative AI, version 0.1.0, which are in development. Phoenix, MLflow and Langfuse
// read input, output, openinference, mlflow and langfuse beside.

// root is the span of the turn. It begins with the request, if that is on record.
func (m *maker) root() {
	t, start := m.t, m.t.Start
	if w := t.Timing; w != nil && !w.Received.IsZero() && w.Received.Before(start) {
		start = w.Received
	}
	var in []said
	var asked []string
	for _, p := range t.Prompts {
		if u, text := userMessage(p); u.Parts != nil {
			in, asked = append(in, u), append(asked, text)
		}
	}
	prompt, out := strings.Join(asked, "\n\n"), t.Stop.FinalOutput
	var a attrs
	a.texts("gen_ai.operation.name", "invoke_agent", "gen_ai.provider.name", m.provider, "gen_ai.agent.name", m.agent, "gen_ai.agent.version", t.Agent.Version, "langfuse.trace.name", m.agent)
	a.messages("gen_ai.input.messages", in...)
	a.texts("input.value", prompt, "langfuse.observation.input", prompt)
	if out != "" {
		a.messages("gen_ai.output.messages", answered(out, m.ended()))
		a.texts("output.value", out, "langfuse.observation.output", out)
	}
	a.texts("gen_ai.tool.definitions", toolsOf(t.Agent), "tributary.stop.reason", t.Stop.Reason, "tributary.stop.outcome", string(t.Stop.Outcome), "tributary.rewind.to", strings.Join(t.Rewinds, " "))
	var status *tracepb.Status
	if t.Stop.Outcome == trace.OutcomeFailed {
		a.texts("error.type", cmp.Or(string(t.Stop.Class), t.Stop.Reason, "failed"))
		status = failed(t.Stop.Error)
	}
	s := m.span(m.rootID, m.parent, "invoke_agent "+m.agent, t.Seq, start, t.End, a)
	s.Status, s.Events = status, m.events()
}

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
	if all == nil {
		return ""
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
	if c := a.Call; c != nil && c.Continues == "" {
		parent = m.id("call", c.ToolCallID)
	}
	name := cmp.Or(a.Name, "subagent")
	var attrs attrs
	attrs.texts("gen_ai.operation.name", "invoke_agent", "gen_ai.provider.name", m.provider, "gen_ai.agent.name", name, "tributary.actor", string(a.ID))
	for _, st := range slices.Backward(a.Steps) {
		if out := textOf(st); out != "" {
			attrs.messages("gen_ai.output.messages", answered(out, "stop"))
			attrs.texts("output.value", out)
			break
		}
	}
	m.span(m.under(a), parent, "invoke_agent "+name, a.Seq, a.Start, a.End, attrs)
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
			if u, _ := userMessage(p); u.Parts != nil && p.Seq >= before && p.Seq < st.Seq {
				in = append(in, u)
			}
		}
	}
	for _, c := range m.t.Calls {
		if c.Actor != a || c.Result == nil || told[c] || c.Seq > st.Seq || c.End.After(st.First) {
			continue
		}
		told[c] = true
		text := c.Text()
		in = append(in, said{Role: "tool", Parts: []part{{Type: "tool_call_response", ID: c.ToolCallID, Response: &text}}})
	}
	return in
}

// chat is one call of the model.
func (m *maker) chat(a *reader.Actor, st *reader.Step, in []said) {
	var attrs attrs
	attrs.texts("gen_ai.operation.name", "chat", "gen_ai.provider.name", m.provider, "gen_ai.request.model", st.Model, "gen_ai.response.model", st.Model)
	if st.Usage != nil {
		attrs.usage(st.Usage)
	}
	out := outputOf(st)
	out.FinishReason = m.finish(st, out)
	attrs.add("gen_ai.response.finish_reasons", list(cmp.Or(st.Finish, out.FinishReason)))
	if len(st.Parts) > 0 {
		attrs.texts("langfuse.observation.completion_start_time", st.First.UTC().Format("2006-01-02T15:04:05.000Z"))
		attrs.add("gen_ai.response.time_to_first_chunk", float(st.First.Sub(st.Asked).Seconds()))
	}
	attrs.messages("gen_ai.input.messages", in...)
	attrs.texts("tributary.input", "delta")
	attrs.messages("gen_ai.output.messages", out)
	if st.Derived {
		attrs.texts("tributary.step", "derived")
	}
	attrs.texts("tributary.step.name", st.Name, "tributary.step.native_id", st.NativeID)
	if st == m.lastStep {
		attrs.number("tributary.context.used", m.t.ContextUsed)
		attrs.number("tributary.context.size", m.t.ContextSize)
	}
	s := m.span(m.id("step", st.ID), m.under(a), strings.TrimSpace("chat "+st.Model), st.Seq, st.Asked, st.Last, attrs)
	s.Kind = tracepb.Span_SPAN_KIND_CLIENT
}

// finish is why the model stopped writing, in the conventions' words.
func (m *maker) finish(st *reader.Step, out said) string {
	switch {
	case slices.ContainsFunc(out.Parts, func(p part) bool { return p.Type == "tool_call" }):
		return "tool_call"
	case st.Finish == "length" || st.Finish == "max_tokens":
		return "length"
	case st == m.lastStep:
		return m.ended()
	}
	return "stop"
}

func (l *attrs) usage(u *reader.Usage) {
	if u.InputTokens|u.OutputTokens != 0 {
		l.add("gen_ai.usage.input_tokens", integer(u.InputTokens))
		l.add("gen_ai.usage.output_tokens", integer(u.OutputTokens))
	}
	l.number("gen_ai.usage.cache_read.input_tokens", u.CacheReadTokens)
	l.number("gen_ai.usage.cache_creation.input_tokens", u.CacheWriteTokens)
	l.number("gen_ai.usage.reasoning.output_tokens", u.ReasoningTokens)
	if u.CostUSD != nil {
		cost, _ := json.Marshal(*u.CostUSD) // a number that came as JSON
		l.add("gen_ai.usage.cost", float(*u.CostUSD))
		l.texts("langfuse.observation.cost_details", `{"total":`+string(cost)+`}`, "mlflow.llm.cost", `{"total_cost":`+string(cost)+`}`)
	}
	if u.From != string(trace.UsageStep) {
		l.texts("tributary.usage.scope", u.From)
	}
}

// call is one call of a tool, beside the call of the model that asked for it.
func (m *maker) call(c *reader.Call) {
	name := cmp.Or(c.RawName, c.Name, "tool")
	var a attrs
	a.texts("gen_ai.operation.name", "execute_tool", "gen_ai.tool.name", name, "gen_ai.tool.call.id", c.ToolCallID, "gen_ai.tool.type", "function",
		"gen_ai.tool.call.arguments", string(c.Input), "gen_ai.tool.call.result", c.Text(),
		"tributary.tool.kind", string(c.ToolKind), "tributary.tool.status", string(c.Status()), "tributary.tool.title", c.Title)
	switch c.Status() {
	case trace.ToolCompleted:
	case trace.ToolFailed:
		a.texts("error.type", "tool_failed")
	case trace.ToolDenied:
		a.texts("error.type", "permission_denied", "langfuse.observation.level", "WARNING")
	case trace.ToolCanceled:
		a.texts("error.type", "canceled", "langfuse.observation.level", "WARNING")
	}
	s := m.span(m.id("call", c.ToolCallID), m.under(c.Actor), "execute_tool "+name, c.Seq, c.Start, c.End, a)
	if c.Status() != trace.ToolCompleted {
		s.Status = failed("")
		if c.Result != nil {
			s.Status = failed(c.Result.Error)
		}
	}
}

// request is a permission. No key of it has the word tool, which readers take for a used tool.
func (m *maker) request(q *reader.Request) {
	const field = "tributary.permission."
	var a attrs
	a.texts("langfuse.observation.type", "guardrail", "openinference.span.kind", "GUARDRAIL", field+"title", q.Title, field+"decided_by", cmp.Or(q.DecidedBy, "person"))
	outcome := "open"
	if r := q.Response; r != nil {
		outcome = string(r.Outcome)
		a.texts(field+"option_kind", string(r.OptionKind), field+"by", r.By, field+"via", string(r.Via), field+"reason", r.Reason, field+"rule", r.Rule, field+"updated_input", string(r.UpdatedInput))
	}
	var links []*tracepb.Span_Link
	if c := q.Call; c != nil && c.Continues != "" { // its span is in another trace
		a.texts(field+"call", c.ToolCallID, field+"continues", c.Continues)
	} else if c != nil {
		links = []*tracepb.Span_Link{{TraceId: m.trace, SpanId: m.id("call", c.ToolCallID)}}
	}
	a.texts(field+"outcome", outcome)
	m.span(m.id("request", q.RequestID), m.under(q.Actor), "permission", q.Seq, q.Start, q.End, a).Links = links
}

func (m *maker) question(q *reader.Question) {
	const field = "tributary.question."
	var a attrs
	a.texts("openinference.span.kind", "CHAIN", field+"header", q.Header, field+"text", q.Text, "input.value", q.Text)
	outcome := "open"
	if r := q.Answer; r != nil {
		outcome = string(r.Outcome)
		answer := strings.Join(r.Values, ", ")
		a.texts(field+"answer", answer, "output.value", answer, field+"by", r.By, field+"reason", r.Reason)
	}
	a.texts(field+"outcome", outcome)
	m.span(m.id("question", q.QuestionID), m.under(q.Actor), "question", q.Seq, q.Start, q.End, a)
}

// evaluation is what a grader found. It is a span of its own, because scores come after the turn's
// span was sent, which stays as it is. A score that replaces another has another id.
func (m *maker) evaluation(g *reader.Score) {
	var a attrs
	a.texts("gen_ai.evaluation.name", cmp.Or(g.Name, "evaluation"), "gen_ai.evaluation.score.label", g.Verdict)
	if g.Score.Score != nil {
		a.add("gen_ai.evaluation.score.value", float(*g.Score.Score))
	}
	a.texts("gen_ai.evaluation.explanation", g.Reason)
	event := &tracepb.Span_Event{TimeUnixNano: nanos(g.Time), Name: "gen_ai.evaluation.result", Attributes: slices.Clone(a)}
	a.texts("langfuse.observation.type", "evaluator", "openinference.span.kind", "EVALUATOR", "output.value", g.Reason, "tributary.evaluation.case", g.Case, "tributary.evaluation.by", g.By)
	if len(g.Evidence) > 0 {
		a.add("tributary.evaluation.evidence", list(g.Evidence...))
	}
	s := m.span(m.id("score", g.Record), m.rootID, strings.TrimSpace("evaluation "+g.Name), g.Seq, g.Time, g.Time, a)
	s.Events = []*tracepb.Span_Event{event}
}

// events are what happened beside, and the calls of earlier turns that went on in this one.
func (m *maker) events() (all []*tracepb.Span_Event) {
	for _, n := range m.t.Notes {
		var a attrs
		name := "tributary." + string(n.Payload.Kind())
		switch p := n.Payload.(type) { //nolint:gochecksumtype // the reader makes notes of these kinds only
		case trace.Error:
			name = "exception"
			if p.Level == trace.LevelNotice {
				name = "notice"
			}
			a.texts("exception.type", p.Code, "exception.message", p.Message)
		case trace.FileChange:
			a.texts("path", p.Path, "change", string(p.Change))
		case trace.Source:
			a.texts("url", cut(p.URL, mostData), "title", p.Title)
		case trace.File:
			a.texts("media_type", p.MediaType, "filename", p.Filename)
		case trace.Data:
			a.texts("name", p.Name)
		case trace.Plan:
			a.number("entries", int64(len(p.Entries)))
		default:
			continue
		}
		all = append(all, &tracepb.Span_Event{TimeUnixNano: nanos(n.Time), Name: name, Attributes: a})
	}
	for _, c := range m.t.Continued {
		var a attrs
		a.texts("call", c.ToolCallID, "continues", c.Continues, "status", string(c.Status()), "result", c.Text())
		all = append(all, &tracepb.Span_Event{TimeUnixNano: nanos(c.End), Name: "tributary.call_continued", Attributes: a})
	}
	return all
}

// gateway writes what the gateway did before the agent wrote: one span after the other, in the turn's
// span. What is not on record has no span.
func (m *maker) gateway() {
	w := m.t.Timing
	if w == nil {
		return
	}
	taken, first := m.t.Start, m.t.End
	if len(m.t.Prompts) > 0 {
		taken = m.t.Prompts[0].Time
	}
	if steps := m.t.Main().Steps; len(steps) > 0 {
		first = steps[0].First
	}
	for _, p := range []struct {
		name     string
		from, to time.Time
	}{
		{"read request", w.Received, w.Read},
		{"admit prompt", w.Read, taken},
		{"wait in queue", taken, m.t.Began},
		{"start agent", m.t.Began, w.Ready},
		{"wait for agent", w.Ready, first},
	} {
		if !p.from.IsZero() && !p.to.Before(p.from) {
			var a attrs
			a.texts("openinference.span.kind", "CHAIN", "langfuse.observation.type", "span")
			m.span(m.id("gateway", p.name), m.rootID, "gateway: "+p.name, m.t.Seq, p.from, p.to, a)
		}
	}
}
