package reader

import (
	"encoding/json"
	"iter"
	"slices"

	"github.com/tributary-dev/tributary/trace"
)

// This file reads records into turns.

// Turns yields each turn of the session when it has stopped. A turn that has not stopped is left
// out, and so is what happens outside turns: [Outline] has both. The outline is nil for a reader that has the records
// once only. Then nothing counts as removed, a call that goes on later has the result of its own
// turn, and no turn has scores. The turns are the caller's.
func Turns(records iter.Seq2[trace.Record, error], o *Outline) iter.Seq2[*Turn, error] {
	s := &session{outline: o}
	return s.read(records)
}

// Reader reads a session turn by turn, while the session grows. It keeps no records: of what it has
// read it knows how far that was, the agent, and the session's totals. A copy is another Reader.
type Reader struct{ session session }

// Seen is the number of the last record that was read.
func (r *Reader) Seen() uint64 { return r.session.seen }

// Turns yields each turn that stops behind the record Seen. The records may begin anywhere up to
// the one after Seen; a turn is whole if they begin with its first one or before.
func (r *Reader) Turns(records iter.Seq2[trace.Record, error]) iter.Seq2[*Turn, error] {
	r.session.known = r.session.seen
	return r.session.read(records)
}

// session is what a reader keeps between turns.
type session struct {
	outline *Outline

	// Records up to known were read before, and those up to seen are read now.
	known, seen uint64

	turns  map[string]*turn // those that have not stopped
	begun  map[callKey]bool // calls that go on in later turns
	agent  trace.AgentInfo
	model  string // the current one of the agent's list of models
	totals totals
}

func (s *session) read(records iter.Seq2[trace.Record, error]) iter.Seq2[*Turn, error] {
	return func(yield func(*Turn, error) bool) {
		s.turns, s.begun = map[string]*turn{}, map[callKey]bool{}
		defer func() { s.turns = nil }()
		for r, err := range records {
			if err != nil {
				yield(nil, err)
				return
			}
			if t := s.take(r); t != nil && !yield(t, nil) {
				return
			}
		}
	}
}

// turn is an open turn.
type turn struct {
	Turn

	actors    map[trace.Actor]*Actor
	calls     map[string]*Call
	requests  map[string]*Request
	questions map[string]*Question
	parts     map[string]*Part
	names     map[string]string // of sub-agents that no call started
	usages    []used
	resumed   bool
}

// take takes one record, and returns the turn that it ends.
func (s *session) take(r trace.Record) *Turn {
	again := r.Seq <= s.known && s.known != 0 // only turns that go on need it
	s.seen = max(s.seen, r.Seq)
	if d, is := r.Payload.(trace.Data); is && !again {
		s.data(d)
	}
	if r.Turn == "" || trace.Ephemeral(r.Payload) {
		return nil
	}
	r.Payload = trace.Normalized(r.Payload)
	t := s.turns[r.Turn]
	if t == nil {
		t = newTurn(r)
		t.Removed = s.outline.removes(r.Seq)
		s.turns[r.Turn] = t
	}
	t.End = later(t.End, r.Time)
	stop, over := r.Payload.(trace.Stop)
	if !over {
		s.record(t, r)
		return nil
	}
	delete(s.turns, r.Turn)
	if again {
		return nil
	}
	t.Stop, t.StopRecord = stop, r.ID
	s.finish(t)
	return &t.Turn
}

func newTurn(r trace.Record) *turn {
	t := &turn{
		Turn:   Turn{Session: r.Session, ID: r.Turn, Seq: r.Seq, Start: r.Time, End: r.Time},
		actors: map[trace.Actor]*Actor{}, calls: map[string]*Call{}, requests: map[string]*Request{},
		questions: map[string]*Question{}, parts: map[string]*Part{}, names: map[string]string{},
	}
	main := &Actor{ID: trace.Agent, Seq: r.Seq, Start: r.Time, End: r.Time, ready: r.Time}
	t.actors[trace.Agent], t.Actors = main, []*Actor{main}
	return t
}

// data learns what data says of the agent.
func (s *session) data(d trace.Data) {
	if info, is := d.Agent(); is {
		s.agent = s.agent.With(info)
	}
	var models struct {
		Current string `json:"current"`
	}
	if d.Name == "models" && d.Domain && json.Unmarshal(d.Value, &models) == nil {
		s.model = models.Current
	}
}

// record takes a record of an open turn.
func (s *session) record(t *turn, r trace.Record) {
	a := t.actor(r)
	switch p := r.Payload.(type) {
	case trace.Prompt:
		t.prompt(r, p, s.outline.removes(r.Seq))
	case trace.Reply:
		t.resumed = t.resumed || p.Resume != ""
		if t.Began.IsZero() {
			t.Began = r.Time
		}
	case trace.Step:
		t.step(a, r, p)
	case trace.MessageStart:
		if p.Role == trace.RoleAssistant || p.Role == "" {
			t.begin(a, r, p.Part, false)
		}
	case trace.ThoughtStart:
		t.begin(a, r, p.Part, true)
	case trace.Message:
		if p.Role != trace.RoleAssistant && p.Role != "" {
			t.note(r)
			return
		}
		t.text(a, r, p.Part, p.Text, false, p.Superseded)
	case trace.Thought:
		t.text(a, r, p.Part, p.Text, true, p.Superseded)
	case trace.ToolCallStart:
		t.call(a, r, trace.ToolCall{ToolCallID: p.ToolCallID, RawName: p.RawName, Name: p.Name, ToolKind: p.ToolKind, Title: p.Title}, false)
	case trace.ToolCall:
		t.call(a, r, p, true)
	case trace.ToolResult:
		t.result(a, r, p)
	case trace.PermissionRequest, trace.PermissionResponse, trace.Question, trace.Answer:
		t.asked(a, r)
	case trace.Usage:
		t.usage(a, r, p)
	case trace.Rewind:
		t.Rewinds = append(t.Rewinds, p.To)
	case trace.Data:
		if sub, is := p.Subagent(); is {
			t.names[sub.ID] = sub.Name
		} else if timing, is := p.Timing(); is {
			t.Timing = &timing
		} else if !p.Domain {
			t.note(r)
		}
	case trace.FileChange:
		if c := t.calls[p.ToolCallID]; c != nil && c.ChangeSeq == 0 {
			c.ChangeRecord, c.ChangeSeq = r.ID, r.Seq
		}
		t.note(r)
	case trace.Error, trace.Plan, trace.Source, trace.File:
		t.note(r)
	case trace.MessageDelta, trace.ThoughtDelta, trace.ToolCallDelta, trace.ToolResultProgress, trace.Status,
		trace.Pause, trace.Stop, trace.Unknown:
	}
}

// actor is who wrote the record, if the agent or a sub-agent did; else nil.
func (t *turn) actor(r trace.Record) *Actor {
	id, sub := r.Actor.SubagentCall()
	if !sub && r.Actor != trace.Agent {
		return nil
	}
	a := t.actors[r.Actor]
	if a == nil {
		a = &Actor{ID: r.Actor, Seq: r.Seq, Start: r.Time, End: r.Time, ready: r.Time, Call: t.calls[id]}
		if a.Call != nil {
			a.Call.Sub = a
		}
		t.actors[r.Actor] = a
		t.Actors = append(t.Actors, a)
	}
	a.End = later(a.End, r.Time)
	return a
}

func (t *turn) prompt(r trace.Record, p trace.Prompt, removed bool) {
	m := t.Main()
	m.ready = later(m.ready, r.Time)
	for _, before := range t.Prompts {
		if before.Message.ID == p.Message.ID {
			before.Prompt = p // in the place and at the time of the first
			return
		}
	}
	t.Prompts = append(t.Prompts, &Prompt{Prompt: p, Seq: r.Seq, Time: r.Time, Removed: removed})
}

func (t *turn) note(r trace.Record) {
	t.Notes = append(t.Notes, &Note{Record: r.ID, Seq: r.Seq, Time: r.Time, Actor: r.Actor, Payload: r.Payload})
}

// asked takes a request or a question, or the answer to one.
func (t *turn) asked(a *Actor, r trace.Record) {
	if a == nil {
		a = t.Main()
	}
	switch p := r.Payload.(type) { //nolint:gochecksumtype // the caller names the kinds
	case trace.PermissionRequest:
		q := &Request{PermissionRequest: p, Record: r.ID, Seq: r.Seq, Start: r.Time, End: r.Time, Actor: a, Call: t.calls[p.ToolCallID]}
		if q.Call != nil {
			q.Actor = q.Call.Actor
			q.Call.Requests = append(q.Call.Requests, q)
		}
		t.requests[p.RequestID] = q
		t.Requests = append(t.Requests, q)
	case trace.PermissionResponse:
		if q := t.requests[p.RequestID]; q != nil {
			q.Response, q.End = &p, later(q.Start, r.Time)
			q.ResponseRecord, q.ResponseSeq = r.ID, r.Seq
			q.Actor.ready = later(q.Actor.ready, r.Time)
		}
	case trace.Question:
		q := &Question{Question: p, Record: r.ID, Seq: r.Seq, Start: r.Time, End: r.Time, Actor: a}
		t.questions[p.QuestionID] = q
		t.Questions = append(t.Questions, q)
	case trace.Answer:
		if q := t.questions[p.QuestionID]; q != nil {
			q.Answer, q.End = &p, later(q.Start, r.Time)
			q.Actor.ready = later(q.Actor.ready, r.Time)
		}
	default:
	}
}

// finish closes what is open, leaves out what came to nothing, and places the usage.
func (s *session) finish(t *turn) {
	t.Agent = s.agent
	if s.outline != nil {
		t.Scores = s.outline.scores[t.ID]
	}
	for _, a := range t.Actors {
		if id, sub := a.ID.SubagentCall(); sub {
			a.Name = nameOf(a.Call, t.names[id])
		}
	}
	for _, q := range t.Requests {
		if q.Response == nil {
			q.End = later(q.Start, t.End)
		}
	}
	for _, q := range t.Questions {
		if q.Answer == nil {
			q.End = later(q.Start, t.End)
		}
	}
	for _, c := range t.Calls {
		if c.Result == nil {
			c.End = later(c.Start, t.End)
		}
	}
	for _, n := range t.Notes {
		n.Removed = s.outline.removes(n.Seq)
	}
	t.Calls = slices.DeleteFunc(t.Calls, func(c *Call) bool {
		begins := s.begins(t, c)
		if !begins {
			t.Continued = append(t.Continued, c)
		}
		return !begins
	})
	for _, a := range t.Actors {
		for _, st := range a.Steps {
			st.Parts = slices.DeleteFunc(st.Parts, func(p *Part) bool { return !p.done || p.Call != nil && p.Call.Continues != "" })
			st.Removed = s.outline.removes(st.Seq)
		}
		a.Steps = slices.DeleteFunc(a.Steps, func(st *Step) bool { return len(st.Parts) == 0 && st.Usage == nil })
	}
	s.place(t) // on what is left
}

// nameOf is what a sub-agent is called.
func nameOf(c *Call, given string) string {
	if given != "" || c == nil {
		return given
	}
	var input struct {
		SubagentType string `json:"subagent_type"`
		AgentType    string `json:"agent_type"`
		Agent        string `json:"agent"`
	}
	if json.Unmarshal(c.Input, &input) != nil {
		return ""
	}
	for _, name := range []string{input.SubagentType, input.AgentType, input.Agent} {
		if name != "" {
			return name
		}
	}
	return ""
}
