package reader

import (
	"slices"
	"time"

	"github.com/tributary-dev/tributary/trace"
)

// This file puts parts into steps.

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// step takes the beginning or the end of a step of the agent.
func (t *turn) step(a *Actor, r trace.Record, p trace.Step) {
	if a == nil {
		return
	}
	if p.Phase == trace.PhaseStart {
		st := a.newStep(r)
		st.Derived, st.Name, st.NativeID = false, p.Name, p.NativeID
		return
	}
	if a.open != nil {
		a.open.Finish = p.Finish
	}
	a.closeStep()
}

func (a *Actor) newStep(r trace.Record) *Step {
	a.closeStep()
	st := &Step{ID: r.ID, Seq: r.Seq, Derived: true, Asked: r.Time, First: r.Time, Last: r.Time}
	a.Steps, a.open = append(a.Steps, st), st
	a.answered, a.counted = false, false
	return st
}

func (a *Actor) closeStep() {
	if a.open != nil && len(a.open.Parts) > 0 {
		a.ready = later(a.ready, a.open.Last)
	}
	a.open = nil
}

// add puts a part where it belongs. The agent's own steps are on record; those of a sub-agent end
// with their usage, and with the results of their calls.
func (t *turn) add(a *Actor, r trace.Record, p *Part) {
	if a.open == nil || a.Subagent() && (a.answered || a.counted) {
		a.newStep(r)
	}
	st := a.open
	p.Seq, p.Time = r.Seq, r.Time
	if len(st.Parts) == 0 {
		st.First, st.Last = r.Time, r.Time
		st.Asked = a.ready
		if st.Asked.After(st.First) {
			st.Asked = st.First
		}
	}
	st.Parts = append(st.Parts, p)
	st.Last = later(st.Last, r.Time)
}

// begin notes where a text or a reasoning begins.
func (t *turn) begin(a *Actor, r trace.Record, id string, thought bool) {
	if a == nil || t.parts[id] != nil {
		return
	}
	p := &Part{id: id, Thought: thought}
	t.parts[id] = p
	t.add(a, r, p)
}

// text takes a full text. One that a retry has replaced is none.
func (t *turn) text(a *Actor, r trace.Record, id, text string, thought, superseded bool) {
	t.begin(a, r, id, thought)
	p := t.parts[id]
	if p == nil {
		return // a user or the gateway wrote it
	}
	p.Text, p.done = text, !superseded
	if st := a.stepOf(p); st != nil {
		st.Last = later(st.Last, r.Time)
	}
}

// stepOf is the open step, if the part is in it: what comes later says nothing about its time.
func (a *Actor) stepOf(p *Part) *Step {
	if a == nil || a.open == nil || !slices.Contains(a.open.Parts, p) {
		return nil
	}
	return a.open
}

// call takes the beginning of a call, the call, or a change of it. What comes behind a result is
// another call, to which a careless program gave the same id.
func (t *turn) call(a *Actor, r trace.Record, p trace.ToolCall, full bool) {
	c := t.calls[p.ToolCallID]
	if c == nil || c.Result != nil {
		if a == nil {
			a = t.Main()
		}
		c = &Call{Record: r.ID, Seq: r.Seq, Actor: a, Start: r.Time, End: r.Time}
		t.calls[p.ToolCallID] = c
		t.Calls = append(t.Calls, c)
		part := &Part{id: "call " + p.ToolCallID, Call: c, done: true}
		t.parts[part.id] = part
		t.add(a, r, part)
	}
	if full && c.Input == nil {
		c.Start = r.Time // the agent has begun to write it before
	}
	c.ToolCall = p
	if st := c.Actor.stepOf(t.parts["call "+p.ToolCallID]); full && st != nil {
		st.Last = later(st.Last, r.Time)
	}
}

// result takes a result. One of a call that is not on record shows that there was a call.
func (t *turn) result(a *Actor, r trace.Record, p trace.ToolResult) {
	if t.calls[p.ToolCallID] == nil {
		t.call(a, r, trace.ToolCall{ToolCallID: p.ToolCallID, RawName: "tool", Name: "tool", ToolKind: trace.ToolOther}, false)
	}
	c := t.calls[p.ToolCallID]
	c.Result, c.End = &p, later(c.Start, r.Time)
	c.ResultRecord, c.ResultSeq = r.ID, r.Seq
	c.Actor.answered = true
	c.Actor.ready = later(c.Actor.ready, r.Time)
}
