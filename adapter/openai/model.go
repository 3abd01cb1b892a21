package openai

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/tributary-dev/tributary/agent/toolloop"
	"github.com/tributary-dev/tributary/trace"
)

// model makes the model calls of one turn.
type model struct {
	*session
	earlier trace.Usage // of the session's earlier turns
	turn    trace.Usage
	steps   int
	dropped int // messages that were left out so far
	repairs
}

var _ toolloop.Model = (*model)(nil)

// Step implements toolloop.Model. A call that failed before the model said anything is
// tried again: later if the failure may pass, and at once if the conversation could be repaired.
func (m *model) Step(ctx context.Context, messages []toolloop.Message, tools []toolloop.Tool, b *trace.Builder) (toolloop.Message, toolloop.Finish, error) {
	if err := m.overBudget(); err != nil {
		return toolloop.Message{}, "", err
	}
	m.steps++
	m.compactInTime(ctx, messages, tools, b)
	for attempt := 1; ; attempt++ {
		a := m.answer(b)
		sent := m.fit(m.repaired(messages), tools, b)
		err := m.call(ctx, sent, tools, a)
		m.count(sent, tools, a, b)
		if err == nil {
			m.repairedWell(b)
			b.StepFinish(a.finish)
			return a.said, a.finished(), nil
		}
		if a.spoken || ctx.Err() != nil {
			return a.said, "", m.explain(err)
		}
		if m.repair(ctx, err, messages, b) {
			continue
		}
		wait, again := backOff(err, attempt)
		if !again || attempt > m.tries() {
			return a.said, "", m.giveUp(err, b)
		}
		b.Emit(trace.Notice("retry", fmt.Sprintf("The model call failed (%s). Trying again in %s (%d of %d).", m.redacted(err), wait.Round(100*time.Millisecond), attempt, m.tries())))
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return a.said, "", ctx.Err()
		}
	}
}

// call makes a model call by the interface of the endpoint.
func (m *model) call(ctx context.Context, messages []toolloop.Message, tools []toolloop.Tool, a *answer) error {
	if m.API == apiResponses {
		return m.responses(ctx, messages, tools, a)
	}
	return m.chat(ctx, messages, tools, a)
}

func (m *model) answer(to *trace.Builder) *answer {
	a := &answer{to: to, step: m.steps}
	if m.ThinkTags {
		a.thinkTags = &thinkTags{}
	}
	return a
}

// parameters are the schema of a tool's input.
func parameters(t toolloop.Tool) map[string]any {
	p := map[string]any{"type": "object", "properties": map[string]any{}}
	_ = json.Unmarshal(t.Schema, &p) // a tool without a schema takes any object
	return p
}

// usage is what a model call used. Some endpoints report the cost themselves.
func usage(input, output, cached, reasoning count, cost *float64) trace.Usage {
	u := trace.Usage{InputTokens: int64(input), OutputTokens: int64(output), CacheReadTokens: int64(cached), ReasoningTokens: int64(reasoning)}.CacheBy(0)
	u.CostUSD = cost
	return u
}
