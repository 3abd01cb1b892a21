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
			s.more("events", event)
		}
	}
	for _, q := range m.turn.Questions {
		if s := before(t.Steps, q.Seq); q.Actor == a && s != nil {
			s.more("questions", questionOf(q))
		}
	}
	for i, s := range t.Steps {
		s.StepID = i + 1 // of the agent itself again when it is written
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
		file := map[string]any{"media_type": part.MediaType}
		if part.Filename != "" {
			file["filename"] = part.Filename
		}
		if part.URL != "" && !strings.HasPrefix(part.URL, "data:") {
			file["url"] = part.URL
		}
		s.more("files", file)
	}
	s.Message = strings.Join(text, "\n\n")
	if media {
		s.Message = contents
	}
	if p.By != "" {
		s.extra("by", p.By)
	}
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
		s.ModelCalls = 1
	}
	if st.Usage != nil && st.Usage.From != "" && st.Usage.From != string(trace.UsageStep) {
		s.extra("usage_scope", st.Usage.From)
	}
	if st.Finish != "" {
		s.extra("finish_reason", st.Finish)
	}
	if st.Name != "" {
		s.extra("name", st.Name)
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
	s.Message, s.Reasoning = strings.Join(text, "\n\n"), strings.Join(thought, "\n\n")
	return s, nil
}

// id names the trajectory of a sub-agent.
func (m *maker) id(a *reader.Actor) string {
	call, _ := a.ID.SubagentCall()
	return m.turn.Session + "/" + m.turn.ID + "/" + call
}

// call adds a call, its result, and the trajectory of the sub-agent that it started.
func (m *maker) call(t *trajectory, s *step, c *reader.Call) error {
	status := trace.ToolCanceled
	if c.Result != nil {
		status = c.Result.Status
	}
	if m.NoDenied && status == trace.ToolDenied {
		return nil
	}
	call := toolCall{ID: m.callID(c.ToolCallID), Name: cmp.Or(c.RawName, c.Name, "tool"), Arguments: arguments(c.Input)}
	call.Extra = map[string]any{"kind": c.ToolKind, "status": status}
	for key, value := range map[string]string{"name": c.Name, "title": c.Title, "input_text": c.InputText} {
		if value != "" && value != call.Name {
			call.Extra[key] = value
		}
	}
	var asked []any
	for _, q := range c.Requests {
		asked = append(asked, requestOf(q))
	}
	if asked != nil {
		call.Extra["permissions"] = asked
	}
	s.ToolCalls = append(s.ToolCalls, call)
	r := result{CallID: call.ID}
	if c.Result != nil {
		text := resultText(*c.Result)
		r.Content = &text
	}
	if c.Sub != nil && !m.NoSubagents && !m.seen[c.Sub] {
		sub, err := m.trajectory(c.Sub, m.id(c.Sub))
		if err != nil {
			return err
		}
		if len(sub.Steps) > 0 {
			t.Subagents = append(t.Subagents, sub)
			r.Subagents = []reference{{sub.TrajectoryID}}
		}
	}
	if r.Content != nil || r.Subagents != nil {
		if s.Observation == nil {
			s.Observation = &observation{}
		}
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

// stopped says on the turn's last step why a turn did not complete.
func (m *maker) stopped(root *trajectory) {
	stop := m.turn.Stop
	if n := len(root.Steps); n > 0 && stop.Outcome != trace.OutcomeCompleted {
		why := map[string]any{"outcome": stop.Outcome}
		for key, value := range map[string]string{"reason": stop.Reason, "class": string(stop.Class), "error": stop.Error} {
			if value != "" {
				why[key] = value
			}
		}
		root.Steps[n-1].extra("stop", why)
	}
}

// scored says on the turn's last step what graders found.
func (m *maker) scored(root *trajectory) {
	if n := len(root.Steps); n > 0 {
		for _, s := range m.turn.Scores {
			root.Steps[n-1].more("scores", scoreOf(s))
		}
	}
}

// sum adds the usage of the turn to that of the session, also of steps that are left out.
func (m *maker) sum() {
	for _, a := range m.turn.Actors {
		for _, st := range a.Steps {
			if f := metricsOf(st.Usage); f != nil {
				m.final.add(f)
			}
		}
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

// resultText is what a call returned, with the error behind.
func resultText(r trace.ToolResult) string {
	var text string
	if json.Unmarshal(r.Output, &text) != nil && len(r.Output) > 0 {
		text = string(r.Output)
	}
	if text == "null" {
		text = ""
	}
	if r.Error != "" && r.Error != text {
		text = strings.TrimPrefix(text+"\n"+r.Error, "\n")
	}
	return text
}
