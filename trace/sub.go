package trace

import (
	"encoding/json"

	"github.com/tributary-dev/tributary/internal/quote"
)

// This file writes what sub-agents do that no call has started.

// subagentName is the name of the data that says what a sub-agent does that no call
// started.
const subagentName = "subagent"

// SubagentState is the value of the data named subagent: a sub-agent that has no call.
// Its id stands in the actor of all that the sub-agent does.
type SubagentState struct {
	ID     string         `json:"id"`
	Name   string         `json:"name,omitempty"`
	Status SubagentStatus `json:"status"`
}

// SubagentStatus says how far a sub-agent is.
type SubagentStatus string

// The states of a sub-agent.
const (
	SubagentRunning   SubagentStatus = "running"
	SubagentCompleted SubagentStatus = "completed"
	SubagentFailed    SubagentStatus = "failed"
	SubagentCanceled  SubagentStatus = "canceled"
)

// Subagent returns the state of a sub-agent, if the data is one.
func (d Data) Subagent() (s SubagentState, ok bool) {
	if d.Name != subagentName || d.Domain || d.Transient {
		return SubagentState{}, false
	}
	ok = json.Unmarshal(d.Value, &s) == nil && s.ID != "" && s.ID == d.ID
	return s, ok
}

// sub is a sub-agent that no call started.
type sub struct {
	state SubagentState
	event string // what began it
	by    author // who began it
}

// Sub returns a view of the same turn for a sub-agent that no tool call started, such
// as a child session. The first call begins the sub-agent; the id is the agent's own.
// A later call may give it a name. The sub-agent ends with SubEnd, or with the turn.
func (b *Builder) Sub(id, name string) *Builder {
	if id == "" {
		id = subagentName
	}
	b.do(func(t *turn) {
		s := t.subs[id]
		switch {
		case s == nil:
			s = &sub{by: b.author(t), state: SubagentState{Name: name, Status: SubagentRunning}}
			t.nameSub(s, id)
			s.event = t.putSub(s)
		case name != "" && name != s.state.Name:
			s.state.Name = name
			t.putSub(s)
		}
	})
	return &Builder{turn: b.turn, within: id}
}

func (t *turn) nameSub(s *sub, id string) {
	var renamed bool
	if s.state.ID, renamed = t.callNames.unique(id); renamed {
		t.counts.Renamed++
	}
	t.subs[id] = s
	t.hold(header + 2*len(id) + len(s.state.Name))
	t.subsInOrder = append(t.subsInOrder, s)
}

// SubEnd says how a sub-agent of Sub ended. The first end counts. Its open parts are
// closed; its calls may still get a result.
func (b *Builder) SubEnd(id string, status SubagentStatus) {
	b.do(func(t *turn) {
		s := t.subs[id]
		switch {
		case s == nil:
			t.counts.Orphans++
		case s.state.Status != SubagentRunning:
			t.counts.Repeated++
		default:
			t.endSub(s, known(status, SubagentCompleted, SubagentCompleted, SubagentFailed, SubagentCanceled))
		}
	})
}

func (t *turn) endSub(s *sub, status SubagentStatus) {
	t.closePartsOf(s)
	s.state.Status = status
	t.putSub(s)
}

// rememberSub takes the state of a sub-agent from the record.
func (t *turn) rememberSub(state SubagentState, event string) {
	s := t.subs[state.ID]
	if s == nil {
		s = &sub{event: event}
		t.nameSub(s, state.ID)
	}
	s.state = state
}

// endSubs ends all that a turn leaves running.
func (t *turn) endSubs(o Outcome) {
	status := map[Outcome]SubagentStatus{OutcomeCompleted: SubagentCompleted, OutcomeFailed: SubagentFailed, OutcomeCanceled: SubagentCanceled}[o]
	for _, s := range t.subsInOrder {
		if s.state.Status == SubagentRunning {
			t.endSub(s, status)
		}
	}
}

func (t *turn) putSub(s *sub) string {
	parent := s.event
	if parent == "" {
		parent = s.by.parent()
	}
	return t.put(parent, Subagent(s.state.ID), Data{Name: subagentName, ID: s.state.ID, Value: quote.JSON(s.state)})
}
