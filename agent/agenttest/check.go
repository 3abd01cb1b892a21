package agenttest

import (
	"fmt"

	"github.com/tributary-dev/tributary/trace"
)

// CheckTurn reports the first event of a finished turn that breaks the grammar of
// package trace. A part opens before its deltas and ends with a full text that is
// their sum. A result follows its call. Every call, request and question has
// exactly one end. Ids are unique, parents exist, and one stop comes last.
func CheckTurn(events []trace.Event) error {
	g := grammar{
		ids: map[string]bool{}, parts: map[string]*part{}, calls: map[string]*call{}, asks: map[string]*ask{}, subs: map[string]bool{},
	}
	for i, e := range events {
		if e.Payload == nil {
			return fmt.Errorf("event %d (%s) has no payload", i, e.ID)
		}
		if err := g.check(e); err != nil {
			return fmt.Errorf("event %d (%s %s): %w", i, e.ID, e.Payload.Kind(), err)
		}
	}
	if !g.stopped {
		return fmt.Errorf("the turn has no stop after %d events", len(events))
	}
	return nil
}

// grammar is what a reader of a turn knows so far.
type grammar struct {
	ids     map[string]bool
	parts   map[string]*part
	calls   map[string]*call
	asks    map[string]*ask
	subs    map[string]bool // sub-agents that no call started
	begun   bool            // something besides the prompt was seen
	inStep  bool
	stopped bool
}

func (g *grammar) check(e trace.Event) error {
	switch {
	case g.stopped:
		return fmt.Errorf("it follows the stop")
	case e.ID == "":
		return fmt.Errorf("it has no id")
	case g.ids[e.ID]:
		return fmt.Errorf("its id was used before")
	case e.Parent != "" && !g.ids[e.Parent]:
		return fmt.Errorf("its parent %s was not seen", e.Parent)
	case e.Actor == "":
		return fmt.Errorf("it has no actor")
	}
	g.ids[e.ID] = true
	if d, ok := e.Payload.(trace.Data); ok {
		if s, is := d.Subagent(); is && e.Actor == trace.Subagent(s.ID) {
			g.subs[s.ID] = true
		}
	}
	if id, ok := e.Actor.SubagentCall(); ok && g.calls[id] == nil && !g.subs[id] {
		return fmt.Errorf("it is by the sub-agent of the unknown call %q", id)
	}
	err := g.payload(e)
	g.begun = true
	return err
}

func (g *grammar) payload(e trace.Event) error {
	switch p := e.Payload.(type) {
	case trace.Prompt:
		if g.begun {
			return fmt.Errorf("a prompt comes first")
		}
		return nil
	case trace.Reply:
		if g.inStep {
			return fmt.Errorf("a message begins inside a step")
		}
		return nil
	case trace.Step:
		return g.step(p)
	case trace.MessageStart, trace.MessageDelta, trace.Message, trace.ThoughtStart, trace.ThoughtDelta, trace.Thought:
		return g.text(e)
	case trace.ToolCallStart, trace.ToolCallDelta, trace.ToolCall, trace.ToolResultProgress, trace.ToolResult:
		return g.tool(e)
	case trace.PermissionRequest, trace.PermissionResponse, trace.Question, trace.Answer, trace.Pause:
		return g.ask(e)
	case trace.Source, trace.File:
		return g.visible(e)
	case trace.Data:
		if p.Name == "" {
			return fmt.Errorf("data has no name")
		}
		if p.Transient || p.Domain {
			return validJSON("value", p.Value)
		}
		return firstError(validJSON("value", p.Value), g.visible(e))
	case trace.Stop:
		return g.stop(p)
	case trace.Usage:
		return checkUsage(p)
	case trace.Plan, trace.FileChange, trace.Error, trace.Status, trace.Rewind, trace.Unknown:
		return nil
	}
	return fmt.Errorf("a payload of type %T is not known here", e.Payload)
}

// checkUsage holds the one meaning of token counts: cached tokens are a part of the input,
// and reasoning is a part of the output.
func checkUsage(u trace.Usage) error {
	switch {
	case min(u.InputTokens, u.OutputTokens, u.CacheReadTokens, u.CacheWriteTokens, u.ReasoningTokens) < 0:
		return fmt.Errorf("a count of tokens is negative: %+v", u)
	case u.CacheReadTokens+u.CacheWriteTokens > u.InputTokens:
		return fmt.Errorf("the cached tokens (%d read, %d written) are more than the input (%d) that includes them", u.CacheReadTokens, u.CacheWriteTokens, u.InputTokens)
	case u.ReasoningTokens > u.OutputTokens:
		return fmt.Errorf("the reasoning tokens (%d) are more than the output (%d) that includes them", u.ReasoningTokens, u.OutputTokens)
	}
	return nil
}

// visible says that what a client sees of the agent itself is inside a step.
func (g *grammar) visible(e trace.Event) error {
	if _, sub := e.Actor.SubagentCall(); !sub && !g.inStep {
		return fmt.Errorf("no step is open")
	}
	return nil
}

func (g *grammar) step(p trace.Step) error {
	if p.Phase == trace.PhaseStart {
		if g.inStep {
			return fmt.Errorf("a step is open already")
		}
		g.inStep = true
		return nil
	}
	if !g.inStep {
		return fmt.Errorf("no step is open")
	}
	g.inStep = false
	for id, part := range g.parts {
		if part.open && !part.sub {
			return fmt.Errorf("the step ends while part %q is open", id)
		}
	}
	return nil
}

func (g *grammar) stop(p trace.Stop) error {
	g.stopped = true
	if g.inStep {
		return fmt.Errorf("a step is open")
	}
	for id, part := range g.parts {
		if part.open {
			return fmt.Errorf("part %q is open", id)
		}
	}
	for id, c := range g.calls {
		if !c.done {
			return fmt.Errorf("call %q has no result", id)
		}
	}
	for id, a := range g.asks {
		if !a.done {
			return fmt.Errorf("%q has no answer", id)
		}
	}
	switch p.Outcome {
	case trace.OutcomeCompleted, trace.OutcomeFailed, trace.OutcomeCanceled:
	default:
		return fmt.Errorf("the outcome %q is not known", p.Outcome)
	}
	if p.Outcome == trace.OutcomeFailed && p.Error == "" {
		return fmt.Errorf("the turn failed and does not say why")
	}
	return nil
}
