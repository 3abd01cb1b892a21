package atif

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tributary-dev/tributary/export/reader"
	"github.com/tributary-dev/tributary/trace"
)

// This file makes the steps of a turn.

type maker struct {
	*writer

	turn *reader.Turn
	seen map[*reader.Actor]bool
}

// trajectory has the steps of one actor, and the trajectories to which they refer.
func (m *maker) trajectory(a *reader.Actor, id string) (*trajectory, error) {
	m.seen[a] = true
	t := &trajectory{SchemaVersion: m.schema, TrajectoryID: id, SessionID: m.turn.Session}
	if a.Subagent() {
		t.Agent = m.agentOf(trace.AgentInfo{Name: cmp.Or(a.Name, "subagent"), Version: m.agent.Version, Provider: m.agent.Provider})
	} else {
		for _, p := range m.turn.Prompts {
			if !p.Removed {
				s, err := m.prompt(p)
				if err != nil {
					return nil, err
				}
				t.Steps = append(t.Steps, s)
			}
		}
	}
	for _, st := range a.Steps {
		if st.Removed {
			continue
		}
		s, err := m.agentStep(t, st)
		if err != nil {
			return nil, err
		}
		t.Steps = append(t.Steps, s)
	}
	var beside []*reader.Note
	for _, n := range m.turn.Notes {
		if _, sub := n.Actor.SubagentCall(); n.Removed || sub != a.Subagent() || sub && n.Actor != a.ID {
			continue
		}
		if s := spoken(n); s != nil {
			t.Steps = append(t.Steps, s)
		} else {
			beside = append(beside, n)
		}
	}
	slices.SortStableFunc(t.Steps, func(a, b *step) int { return cmp.Compare(a.seq, b.seq) })
	for _, n := range beside {
		if s, event := before(t.Steps, n.Seq), eventOf(n); s != nil && event != nil {
			s.Extra.v.Events = append(s.Extra.v.Events, event)
		}
	}
	for _, q := range m.turn.Questions {
		if s := before(t.Steps, q.Seq); q.Actor == a && s != nil {
			s.Extra.v.Questions = append(s.Extra.v.Questions, questionOf(q))
		}
	}
	for i, s := range t.Steps {
		s.StepID.v = i + 1 // of the agent itself again when it is written
	}
	return t, nil
}

// before is the last step that began before the number, or the first one.
func before(steps []*step, seq uint64) (at *step) {
	for _, s := range steps {
		if at == nil || s.seq <= seq {
			at = s
		}
	}
	return at
}

func at(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000Z") }

// prompt is a user's step. Pictures are kept in files if the caller keeps files.
func (m *maker) prompt(p *reader.Prompt) (*step, error) {
	s := &step{Timestamp: at(p.Time), Source: "user", seq: p.Seq}
	var contents []content
	var text []string
	media := false
	for _, part := range p.Message.Parts {
		if part.Type == trace.InputText {
			text = append(text, part.Text)
			contents = append(contents, content{Type: "text", Text: part.Text})
			continue
		}
		c, err := m.media(part)
		if err != nil {
			return nil, err
		}
		if c != nil {
			media = true
			contents = append(contents, *c)
			continue
		}
		file := texts("filename", part.Filename)
		file["media_type"] = part.MediaType
		if part.URL != "" && !strings.HasPrefix(part.URL, "data:") {
			file["url"] = part.URL
		}
		s.Extra.v.Files = append(s.Extra.v.Files, file)
	}
	s.Message = raw(strings.Join(text, "\n\n"))
	if media {
		s.Message = raw(contents)
	}
	s.Extra.v.By = p.By
	return s, nil
}

// media is the content for a picture, or in 1.8 a sound; nil for what ATIF has no content for.
func (m *maker) media(part trace.InputPart) (*content, error) {
	kind, format, _ := strings.Cut(part.MediaType, "/")
	picture := kind == "image" && slices.Contains([]string{"png", "jpeg", "gif", "webp"}, format)
	if !picture && (kind != "audio" || m.Version != "1.8") {
		return nil, nil
	}
	path := part.URL
	if !strings.HasPrefix(path, "https://") {
		head, data, found := strings.Cut(path, ",")
		if !found || m.Media == nil || !strings.HasPrefix(head, "data:") || !strings.HasSuffix(head, ";base64") {
			return nil, nil
		}
		raw, err := base64.StdEncoding.DecodeString(data)
		if err != nil {
			return nil, nil //nolint:nilerr // it is no picture
		}
		if path, err = m.Media(part.MediaType, raw); err != nil {
			return nil, fmt.Errorf("keep a picture of the trajectory: %w", err)
		}
	}
	return &content{Type: kind, Source: &source{part.MediaType, path}}, nil
}

// agentStep is a call of the model, with the results of its calls, whenever those came.
func (m *maker) agentStep(t *trajectory, st *reader.Step) (*step, error) {
	s := &step{Timestamp: at(st.First), Source: "agent", Model: st.Model, Metrics: metricsOf(st.Usage), seq: st.Seq}
	if !st.Derived {
		s.ModelCalls.v = 1
	}
	s.Extra.v = stepExtra{FinishReason: st.Finish, Name: st.Name}
	if st.Usage != nil && st.Usage.From != string(trace.UsageStep) {
		s.Extra.v.UsageScope = st.Usage.From
	}
	var text, thought []string
	for _, p := range st.Parts {
		switch {
		case p.Call != nil:
			if err := m.call(t, s, p.Call); err != nil {
				return nil, err
			}
		case p.Thought:
			thought = append(thought, p.Text)
		default:
			text = append(text, p.Text)
		}
	}
	s.Message, s.Reasoning = raw(strings.Join(text, "\n\n")), strings.Join(thought, "\n\n")
	return s, nil
}

// id names the trajectory of a sub-agent.
func (m *maker) id(a *reader.Actor) string {
	call, _ := a.ID.SubagentCall()
	return m.turn.Session + "/" + m.turn.ID + "/" + call
}

// call adds a call, its result, and the trajectory of the sub-agent that it started.
func (m *maker) call(t *trajectory, s *step, c *reader.Call) error {
	call := toolCall{ID: m.callID(c.ToolCallID), Name: cmp.Or(c.RawName, c.Name, "tool"), Arguments: arguments(c.Input)}
	other := func(text string) string {
		if text == call.Name {
			return ""
		}
		return text
	}
	call.Extra.v = callExtra{InputText: other(c.InputText), Kind: c.ToolKind, Name: other(c.Name), Status: c.Status(), Title: other(c.Title)}
	for _, q := range c.Requests {
		call.Extra.v.Permissions = append(call.Extra.v.Permissions, requestOf(q))
	}
	s.ToolCalls = append(s.ToolCalls, call)
	r := result{CallID: call.ID}
	if c.Result != nil {
		r.Content = raw(c.Text())
	}
	if c.Sub != nil && !m.seen[c.Sub] {
		sub, err := m.trajectory(c.Sub, m.id(c.Sub))
		if err != nil {
			return err
		}
		if len(sub.Steps) > 0 {
			t.Subagents = append(t.Subagents, sub)
			r.Subagents = references{{TrajectoryID: sub.TrajectoryID}}
		}
	}
	if r.Content != nil || r.Subagents != nil {
		s.Observation.Results = append(s.Observation.Results, r)
	}
	return nil
}

// callID makes the id of a call, which is unique in its turn, unique in the file.
func (m *maker) callID(id string) string {
	for n, own := 1, id; ; n++ {
		if !m.calls[own] {
			m.calls[own] = true
			return own
		}
		own = id + "@" + m.turn.ID
		if n > 1 {
			own += fmt.Sprintf("~%d", n)
		}
	}
}

// ended says on the turn's last step why a turn did not complete, and what graders found.
func (m *maker) ended(root *trajectory) {
	if len(root.Steps) == 0 {
		return
	}
	last := &root.Steps[len(root.Steps)-1].Extra.v
	if t := m.turn.Stop; t.Outcome != trace.OutcomeCompleted {
		last.Stop = &stop{t.Class, t.Error, t.Outcome, t.Reason}
	}
	for _, s := range m.turn.Scores {
		last.Scores = append(last.Scores, score{at(s.Time), s.By, s.Case, s.Evidence, s.Name, s.Reason, s.Score.Score, s.Verdict})
	}
}

// arguments is the input as an object, which ATIF wants.
func arguments(input json.RawMessage) json.RawMessage {
	input = bytes.TrimSpace(input)
	switch {
	case len(input) == 0 || bytes.Equal(input, []byte("null")) || !json.Valid(input):
		return json.RawMessage("{}")
	case input[0] == '{':
		return input
	}
	return slices.Concat(json.RawMessage(`{"value":`), input, json.RawMessage("}"))
}

func metricsOf(u *reader.Usage) *metrics {
	if u == nil {
		return nil
	}
	m := metrics{CostUSD: u.CostUSD}
	if u.InputTokens|u.OutputTokens != 0 {
		all := [3]count{count(u.InputTokens), count(u.OutputTokens), count(min(u.CacheReadTokens, u.InputTokens))}
		m.Prompt, m.Completion, m.Cached = &all[0], &all[1], &all[2]
	}
	for key, n := range map[string]int64{"cache_write_tokens": u.CacheWriteTokens, "reasoning_tokens": u.ReasoningTokens} {
		if n != 0 {
			if m.Extra.v == nil {
				m.Extra.v = map[string]int64{}
			}
			m.Extra.v[key] = n
		}
	}
	if m.Prompt == nil && m.CostUSD == nil && m.Extra.v == nil {
		return nil
	}
	return &m
}

// texts are the pairs whose text is not empty.
func texts(pairs ...string) map[string]any {
	m := map[string]any{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			m[pairs[i]] = pairs[i+1]
		}
	}
	return m
}

func requestOf(q *reader.Request) request {
	out := request{AskedAt: at(q.Start), DecidedBy: q.DecidedBy, Title: q.Title}
	if r := q.Response; r != nil {
		out.AnsweredAt, out.Outcome, out.OptionKind, out.UpdatedInput = at(q.End), r.Outcome, r.OptionKind, r.UpdatedInput
		out.By, out.Via, out.Reason, out.Rule = r.By, r.Via, r.Reason, r.Rule
	}
	return out
}

func questionOf(q *reader.Question) question {
	out := question{Header: q.Header, Text: q.Text, Choices: q.Choices}
	if a := q.Answer; a != nil {
		out.Outcome, out.Values, out.By, out.Reason = a.Outcome, a.Values, a.By, a.Reason
	}
	return out
}

// spoken is a step for a sentence that is neither the user's prompt nor the agent's answer.
func spoken(n *reader.Note) *step {
	s := &step{Timestamp: at(n.Time), Source: "system", seq: n.Seq}
	switch p := n.Payload.(type) { //nolint:gochecksumtype // all others are events
	case trace.Error:
		s.Message, s.Extra.v = raw(p.Message), stepExtra{Kind: "error", Code: p.Code}
		if p.Level == trace.LevelNotice {
			s.Extra.v.Kind = "notice"
		}
	case trace.Message:
		s.Message = raw(p.Text)
		if p.Role == trace.RoleUser {
			s.Source = "user"
		}
	default:
		return nil
	}
	return s
}

// eventOf is what happened beside, or nil for what is no use to a reader.
func eventOf(n *reader.Note) map[string]any {
	m := map[string]any{}
	switch p := n.Payload.(type) { //nolint:gochecksumtype // the others are steps
	case trace.Plan:
		m["entries"] = p.Entries
	case trace.FileChange:
		m = texts("path", p.Path, "change", string(p.Change), "tool_call_id", p.ToolCallID)
	case trace.Source:
		m = texts("url", p.URL, "title", p.Title, "filename", p.Filename, "media_type", p.MediaType)
	case trace.File:
		m = texts("media_type", p.MediaType, "filename", p.Filename)
	default:
		return nil
	}
	m["type"], m["at"] = n.Payload.Kind(), at(n.Time)
	return m
}
