package uistream

import (
	"cmp"
	"unicode/utf8"

	"github.com/tributary-dev/tributary/internal/quote"
	"github.com/tributary-dev/tributary/trace"
)

// This file shows the work of sub-agents.

// subagentText is how much of what a sub-agent said its data part shows: every
// update repeats all of it.
const subagentText = 16 << 10

// subagent is what the client is shown of a sub-agent.
type subagent struct {
	id, callID, name, text, status string
	parent                         string // the sub-agent whose sub-agent it is
	event                          string // what began it, where no call did
}

// subagent takes a record of a sub-agent, unless it is to be shown like the
// agent's own. It looks at whole records only, so that a sub-agent costs little
// and looks the same in history.
func (t *Translator) subagent(callID string, r trace.Record) (taken bool) {
	inline := t.options.Subagents == SubagentsInline
	switch p := r.Payload.(type) {
	case trace.Usage, trace.Plan, trace.Status:
		return true // the agent's own numbers have their place, which these would take
	case trace.PermissionRequest, trace.PermissionResponse, trace.Question, trace.Answer,
		trace.Prompt, trace.Reply, trace.Step, trace.Pause, trace.Stop, trace.Rewind, trace.Unknown:
		return false
	case trace.MessageDelta, trace.ThoughtDelta:
		return true // its whole tells all
	case trace.MessageStart, trace.ThoughtStart:
		if inline {
			return true
		}
	case trace.Message, trace.Thought:
		if inline {
			return false
		}
	case trace.ToolCallStart:
		if inline {
			return false
		}
		t.hide(r.Turn, callID, p.ToolCallID)
		t.callStart(p)
	case trace.ToolCall:
		if inline {
			return false
		}
		t.hide(r.Turn, callID, p.ToolCallID)
		t.fullCall(p)
	case trace.ToolResult:
		if inline {
			return false
		}
		t.hide(r.Turn, callID, p.ToolCallID)
		t.callResult(p)
	case trace.ToolCallDelta, trace.ToolResultProgress:
		return !inline
	case trace.Data:
		if s, ok := p.Subagent(); ok {
			t.child(r, s)
			return true
		}
		return t.options.Subagents == SubagentsHidden
	case trace.Source, trace.File, trace.FileChange, trace.Error:
		return t.options.Subagents == SubagentsHidden
	}
	t.follow(callID, r)
	return true
}

// hide marks a call of a sub-agent that the client has not seen.
func (t *Translator) hide(turn, subagent, toolCallID string) {
	if _, ok := t.calls[toolCallID]; !ok {
		c := t.call(toolCallID)
		c.hidden, c.subagent = true, subagent
	}
	t.begin(turn)
}

// follow shows how far a sub-agent has come, if that is shown as a data part.
func (t *Translator) follow(callID string, r trace.Record) {
	if t.options.Subagents == SubagentsHidden {
		return
	}
	s, known := t.subs[callID]
	if !known {
		s = &subagent{id: callID, callID: callID, status: string(trace.SubagentRunning)}
		if c := t.calls[callID]; c != nil {
			s.name, s.parent = cmp.Or(c.title, c.name), c.subagent
		}
		put(&t.subs, callID, s)
	}
	m, said := r.Payload.(trace.Message)
	said = said && !m.Superseded && m.Text != "" && m.Role != trace.RoleUser
	if known && !said {
		return
	}
	if said {
		s.say(m.Text)
	}
	t.begin(r.Turn)
	t.showSubagent(s)
}

// child takes the state of a sub-agent that no call started.
func (t *Translator) child(r trace.Record, state trace.SubagentState) {
	if t.options.Subagents == SubagentsHidden || t.options.Subagents == SubagentsInline {
		return
	}
	s := t.subs[state.ID]
	if s == nil {
		s = &subagent{id: state.ID, event: r.ID, parent: t.beganBy(r.Parent)}
		put(&t.subs, state.ID, s)
	}
	s.name, s.status = state.Name, string(state.Status)
	t.begin(r.Turn)
	t.showSubagent(s)
}

// beganBy finds the sub-agent that an event began: by itself, or as a call.
func (t *Translator) beganBy(event string) string {
	if event == "" {
		return ""
	}
	for id, s := range t.subs {
		if s.event == event {
			return id
		}
	}
	for id, c := range t.calls {
		if c.event == event {
			return id
		}
	}
	return ""
}

// showSubagent shows how far a sub-agent is: as the preliminary output of its call, if
// that is wished and there is such a call, else as a data part.
func (t *Translator) showSubagent(s *subagent) {
	c := t.calls[s.callID]
	if t.options.Subagents != SubagentsPreliminary || !t.can.preliminary || c == nil || s.callID == "" {
		t.emit(s.data())
		return
	}
	if s.text != "" && s.status == string(trace.SubagentRunning) {
		t.preliminary(c, quote.JSON(s.text))
	}
}

func (s *subagent) say(text string) {
	if s.text != "" {
		s.text += "\n\n"
	}
	s.text += text
	if over := len(s.text) - subagentText; over > 0 {
		for over < len(s.text) && !utf8.RuneStart(s.text[over]) {
			over++
		}
		s.text = s.text[over:]
	}
}

func (s *subagent) data() Data {
	return Data{Name: "subagent", ID: s.id, Value: quote.JSON(struct {
		ToolCallID string `json:"tool_call_id,omitempty"`
		ParentID   string `json:"parent_id,omitempty"`
		Name       string `json:"name,omitempty"`
		Text       string `json:"text"`
		Status     string `json:"status"`
	}{s.callID, s.parent, s.name, s.text, s.status})}
}

// endSubagent says how a sub-agent ended: as the call that started it.
func (t *Translator) endSubagent(callID string, status trace.ToolStatus) {
	s, ok := t.subs[callID]
	if !ok || s.callID == "" || s.status != string(trace.SubagentRunning) {
		return
	}
	s.status = string(status)
	t.showSubagent(s)
}
