package trace_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tributary-dev/tributary/trace"
)

// tape is a log for one turn.
type tape struct{ events []trace.Event }

func (l *tape) append(_ context.Context, events []trace.Event) error {
	l.events = append(l.events, events...)
	return nil
}

// newTurn returns a Builder and what it writes; read it after Finish.
func newTurn(options ...func(*trace.Config)) (*trace.Builder, *tape) {
	l := &tape{}
	cfg := trace.Config{Turn: "t", Append: l.append}
	for _, o := range options {
		o(&cfg)
	}
	return trace.NewBuilder(context.Background(), cfg), l
}

// grammar reads a turn as doc.go says that it is written.
type grammar struct {
	err     error
	at      trace.Event
	events  map[string]trace.Event
	parts   map[string]*partState
	calls   map[string]*callState
	asks    map[string]*askState
	inStep  bool
	step    string
	stopped bool
	last    time.Time
}

type partState struct {
	actor      trace.Actor
	thought    bool
	text       strings.Builder
	closed     bool
	superseded bool
}

type callState struct {
	started, whole, done bool
	newest               trace.ToolCall
	event                string
}

type askState struct {
	question bool
	toolCall string
	event    string
	shown    bool
	done     bool
}

// check reports the first thing in a finished turn that the grammar forbids.
func check(events []trace.Event) error {
	g := &grammar{events: map[string]trace.Event{}, parts: map[string]*partState{}, calls: map[string]*callState{}, asks: map[string]*askState{}}
	for _, e := range events {
		g.at = e
		g.event(e)
		if g.err != nil {
			return g.err
		}
	}
	if !g.stopped {
		return errors.New("no stop")
	}
	return nil
}

func (g *grammar) want(ok bool, format string, args ...any) {
	if !ok && g.err == nil {
		g.err = fmt.Errorf("%s (%s %+v by %s): %s", g.at.ID, g.at.Payload.Kind(), g.at.Payload, g.at.Actor, fmt.Sprintf(format, args...))
	}
}

func (g *grammar) event(e trace.Event) {
	_, twice := g.events[e.ID]
	g.want(!twice, "id used twice")
	g.want(!g.stopped, "comes after the stop")
	parent, known := g.events[e.Parent]
	g.want(e.Parent == "" || known, "parent %q does not exist", e.Parent)
	g.want(e.Time.Location() == time.UTC && !e.Time.Before(g.last), "time %s after %s", e.Time, g.last)
	g.last = e.Time
	if id, sub := e.Actor.SubagentCall(); sub && e.Parent != "" {
		switch p := parent.Payload.(type) {
		case trace.ToolCallStart, trace.ToolCall, trace.PermissionRequest, trace.Question:
		case trace.Data:
			s, is := p.Subagent()
			g.want(is, "parent of sub-agent %s is the data %s %s", id, p.Name, s.ID)
		default:
			g.want(false, "parent of sub-agent %s is %s %+v", id, p.Kind(), p)
		}
	}
	g.payload(e, e.Payload)
	g.events[e.ID] = e
}

func (g *grammar) payload(e trace.Event, p trace.Payload) {
	_, sub := e.Actor.SubagentCall()
	switch p := p.(type) {
	case trace.Prompt, trace.Rewind, trace.Usage, trace.Plan, trace.Error, trace.Status, trace.Unknown, trace.FileChange:
	case trace.Reply:
		g.nothingOpen()
	case trace.Pause:
		g.want(g.openParts(true) == 0, "a part is open")
		g.pause(p.Requests)
	case trace.MessageStart:
		g.open(e, p.Part, false)
	case trace.ThoughtStart:
		g.open(e, p.Part, true)
	case trace.MessageDelta:
		g.delta(e, p.Part, p.Delta, false)
	case trace.ThoughtDelta:
		g.delta(e, p.Part, p.Delta, true)
	case trace.Message:
		g.close(e, p.Part, p.Text, false, p.Superseded)
	case trace.Thought:
		g.close(e, p.Part, p.Text, true, p.Superseded)
	case trace.Step:
		g.want(!sub && g.inStep == (p.Phase == trace.PhaseEnd), "steps do not alternate")
		if p.Phase == trace.PhaseEnd {
			g.want(p.Name == g.step, "step %q ends as %q", g.step, p.Name)
			g.want(g.openParts(false) == 0, "a part is open")
		}
		g.inStep, g.step = p.Phase == trace.PhaseStart, p.Name
	case trace.Data:
		g.want(sub || p.Transient || p.Domain || g.inStep, "outside a step")
	case trace.Source, trace.File:
		g.want(sub || g.inStep, "outside a step")
	case trace.ToolCallStart, trace.ToolCallDelta, trace.ToolCall, trace.ToolResultProgress, trace.ToolResult:
		g.tool(e, sub)
	case trace.PermissionRequest:
		g.want(sub || g.inStep, "outside a step")
		g.ask(e, p.RequestID, p.ToolCallID, false)
		g.want(p.Options != nil, "no list of options")
	case trace.Question:
		g.want(sub || g.inStep, "outside a step")
		g.ask(e, p.QuestionID, p.ToolCallID, true)
	case trace.PermissionResponse:
		g.answer(e, p.RequestID, false)
	case trace.Answer:
		g.answer(e, p.QuestionID, true)
	case trace.Stop:
		g.nothingOpen()
		for id, c := range g.calls {
			g.want(c.done, "call %s has no result", id)
		}
		for id, q := range g.asks {
			g.want(q.done, "ask %s has no answer", id)
		}
		g.stopped = true
	}
}

// pause holds that one kind is asked at a time, and nothing before what was asked
// first has its answer.
func (g *grammar) pause(requests []string) {
	g.want(len(requests) > 0, "pauses on nothing")
	for id, q := range g.asks {
		g.want(!q.shown || q.done || slices.Contains(requests, id), "%s is still being asked", id)
	}
	for _, id := range requests {
		q := g.asks[id]
		if g.want(q != nil && !q.done && q.question == g.asks[requests[0]].question, "pauses on %s", id); g.err != nil {
			return
		}
		q.shown = true
	}
}

func (g *grammar) openParts(subagents bool) (n int) {
	for _, p := range g.parts {
		if _, sub := p.actor.SubagentCall(); !p.closed && (subagents || !sub) {
			n++
		}
	}
	return n
}

func (g *grammar) nothingOpen() {
	g.want(!g.inStep, "the step is open")
	g.want(g.openParts(true) == 0, "a part is open")
}

func (g *grammar) open(e trace.Event, id string, thought bool) {
	_, sub := e.Actor.SubagentCall()
	g.want(sub || g.inStep, "outside a step")
	g.want(g.parts[id] == nil, "part begins twice")
	g.parts[id] = &partState{actor: e.Actor, thought: thought}
}

func (g *grammar) delta(e trace.Event, id, text string, thought bool) {
	p := g.parts[id]
	if g.want(p != nil && !p.closed && p.thought == thought && p.actor == e.Actor, "part is not open"); g.err != nil {
		return
	}
	g.want(text != "" && utf8.ValidString(text), "delta is empty or not UTF-8: %q", text)
	p.text.WriteString(text)
}

func (g *grammar) close(e trace.Event, id, text string, thought, superseded bool) {
	p := g.parts[id]
	if g.want(p != nil && p.thought == thought && p.actor == e.Actor, "part is unknown"); g.err != nil {
		return
	}
	g.want(!p.closed || superseded && !p.superseded, "part ends twice")
	g.want(p.text.String() == text, "deltas sum to %q", p.text.String())
	p.closed, p.superseded = true, superseded
}

func (g *grammar) tool(e trace.Event, sub bool) {
	call := func(id string) *callState {
		g.want(id != "", "call without id")
		if g.calls[id] == nil {
			g.calls[id] = &callState{}
		}
		return g.calls[id]
	}
	switch p := e.Payload.(type) {
	case trace.ToolCallStart:
		c := call(p.ToolCallID)
		g.want(!c.started && !c.whole && (sub || g.inStep), "call begins twice, or outside a step")
		g.want(p.RawName != "" && p.Name != "", "call has no name")
		c.started, c.event = true, e.ID
	case trace.ToolCallDelta:
		c := call(p.ToolCallID)
		g.want(c.started && !c.whole && p.Delta != "", "call is not being written")
	case trace.ToolCall:
		c := call(p.ToolCallID)
		g.want(c.whole || c.started || sub || g.inStep, "call is outside a step")
		g.want(!c.whole || !c.done && !reflect.DeepEqual(c.newest, p), "call is whole twice, and nothing has changed")
		c.newest = p
		g.want(p.RawName != "" && p.Name != "" && len(p.Input) > 0, "call is not complete")
		c.whole, c.event = true, e.ID
	case trace.ToolResultProgress:
		c := call(p.ToolCallID)
		g.want(c.whole && !c.done && e.Parent == c.event, "call does not run")
	case trace.ToolResult:
		c := call(p.ToolCallID)
		g.want(c.whole && !c.done && e.Parent == c.event, "call does not run")
		g.want(p.Status == trace.ToolCompleted || p.Error != "", "no reason")
		c.done = true
		for id, q := range g.asks {
			g.want(q.toolCall != p.ToolCallID || q.done, "ask %s is open", id)
		}
	}
}

func (g *grammar) ask(e trace.Event, id, toolCall string, question bool) {
	g.want(id != "" && g.asks[id] == nil, "asked twice")
	if toolCall != "" {
		c := g.calls[toolCall]
		g.want(c != nil && c.whole && !c.done && c.event == e.Parent, "call %q does not run, or is not the parent", toolCall)
	}
	g.asks[id] = &askState{question: question, toolCall: toolCall, event: e.ID}
}

func (g *grammar) answer(e trace.Event, id string, question bool) {
	q := g.asks[id]
	if g.want(q != nil && q.question == question && !q.done && e.Parent == q.event, "nothing to answer"); g.err == nil {
		q.done = true
	}
}
