package atif

import (
	"maps"

	"github.com/tributary-dev/tributary/export/reader"
	"github.com/tributary-dev/tributary/trace"
)

// This file has what ATIF knows only as an extra: permissions, questions, notices and events.

func metricsOf(u *reader.Usage) *metrics {
	if u == nil {
		return nil
	}
	m := metrics{CostUSD: u.CostUSD}
	if u.InputTokens|u.OutputTokens != 0 {
		cached := min(u.CacheReadTokens, u.InputTokens)
		m.Prompt, m.Completion, m.Cached = &u.InputTokens, &u.OutputTokens, &cached
	}
	for key, n := range map[string]int64{"cache_write_tokens": u.CacheWriteTokens, "reasoning_tokens": u.ReasoningTokens} {
		if n != 0 {
			if m.Extra == nil {
				m.Extra = map[string]any{}
			}
			m.Extra[key] = n
		}
	}
	if m.Prompt == nil && m.CostUSD == nil && m.Extra == nil {
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

func requestOf(q *reader.Request) map[string]any {
	m := texts("title", q.Title, "decided_by", q.DecidedBy)
	m["asked_at"] = at(q.Start)
	if r := q.Response; r != nil {
		m["answered_at"], m["outcome"] = at(q.End), r.Outcome
		maps.Copy(m, texts("option_kind", string(r.OptionKind), "by", r.By, "via", string(r.Via), "reason", r.Reason, "rule", r.Rule))
		if len(r.UpdatedInput) > 0 {
			m["updated_input"] = r.UpdatedInput
		}
	}
	return m
}

func questionOf(q *reader.Question) map[string]any {
	m := texts("header", q.Header, "text", q.Text)
	if len(q.Choices) > 0 {
		m["choices"] = q.Choices
	}
	if a := q.Answer; a != nil {
		m["outcome"] = a.Outcome
		if len(a.Values) > 0 {
			m["values"] = a.Values
		}
		maps.Copy(m, texts("by", a.By, "reason", a.Reason))
	}
	return m
}

func scoreOf(s *reader.Score) map[string]any {
	m := texts("name", s.Name, "case", s.Case, "verdict", s.Verdict, "reason", s.Reason, "by", s.By)
	if s.Score.Score != nil {
		m["score"] = *s.Score.Score
	}
	if len(s.Evidence) > 0 {
		m["evidence"] = s.Evidence
	}
	m["at"] = at(s.Time)
	return m
}

// spoken is a step for a sentence that is neither the user's prompt nor the agent's answer.
func spoken(n *reader.Note) *step {
	s := &step{Timestamp: at(n.Time), Source: "system", seq: n.Seq}
	switch p := n.Payload.(type) { //nolint:gochecksumtype // all others are events
	case trace.Error:
		s.Message = p.Message
		kind := "error"
		if p.Level == trace.LevelNotice {
			kind = "notice"
		}
		s.Extra = texts("kind", kind, "code", p.Code)
	case trace.Message:
		s.Message = p.Text
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
