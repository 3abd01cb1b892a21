package openai

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/openai/openai-go/v3/packages/ssestream"

	"github.com/tributary-dev/tributary/agent/toolloop"
	"github.com/tributary-dev/tributary/internal/address"
	"github.com/tributary-dev/tributary/trace"
)

// model makes the model calls of one turn.
type model struct {
	*session
	earlier   trace.Usage // of the session's earlier turns
	turn      trace.Usage
	steps     int
	reasoning string // the field in which the endpoint sends reasoning
	dropped   int    // messages that were left out so far
}

var _ toolloop.Model = (*model)(nil)

// Step implements toolloop.Model. A call that failed before the model said anything is
// tried again.
func (m *model) Step(ctx context.Context, messages []toolloop.Message, tools []toolloop.Tool, b *trace.Builder) (toolloop.Message, toolloop.Finish, error) {
	if err := m.overBudget(); err != nil {
		return toolloop.Message{}, "", err
	}
	m.steps++
	messages = m.fit(messages, tools, b)
	call := m.chat
	if m.API == apiResponses {
		call = m.responses
	}
	for attempt := 1; ; attempt++ {
		a := &answer{b: b, step: m.steps}
		err := call(ctx, messages, tools, a)
		m.count(messages, tools, a)
		if err == nil {
			b.StepFinish(a.finish)
			return a.said, a.finished(), nil
		}
		wait, again := backOff(err, attempt)
		if !again || a.spoken || attempt > m.tries() || ctx.Err() != nil {
			return a.said, "", m.explain(err)
		}
		b.Emit(trace.Notice("retry", fmt.Sprintf("The model call failed (%s). Trying again in %s (%d of %d).", address.Redact(innermost(err).Error(), m.URL), wait.Round(100*time.Millisecond), attempt, m.tries())))
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return a.said, "", ctx.Err()
		}
	}
}

// listen gives the events of a stream to take. An endpoint that is silent for too long
// ends the stream.
func listen[E any](ctx context.Context, e endpoint, a *answer, open func(context.Context) *ssestream.Stream[E], take func(E, *answer) error) error {
	limit := cmp.Or(time.Duration(e.Patience), 5*time.Minute)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silence := time.AfterFunc(limit, func() { cancel(silentError{limit}) })
	defer silence.Stop()
	stream := open(ctx)
	defer stream.Close() //nolint:errcheck // its error is the stream's
	defer a.close()
	for stream.Next() {
		silence.Reset(limit)
		if err := take(stream.Current(), a); err != nil {
			return err
		}
	}
	err := stream.Err()
	if silent, ok := errors.AsType[silentError](context.Cause(ctx)); ok && err != nil {
		return silent
	}
	if reported, ok := errors.AsType[*ssestream.StreamError](err); ok {
		return newFailure(reported.Event.Data)
	}
	switch {
	case err == nil && a.finish == "":
		return errCutOff
	case a.finish != "" && ctx.Err() == nil: // the connection broke behind the whole answer
		return nil
	}
	return err
}

// parameters are the schema of a tool's input.
func parameters(t toolloop.Tool) map[string]any {
	p := map[string]any{"type": "object", "properties": map[string]any{}}
	_ = json.Unmarshal(t.Schema, &p) // a tool without a schema takes any object
	return p
}

// usage is what a model call used. Some endpoints report the cost themselves.
func usage(input, output, cached, reasoning int64, raw string) trace.Usage {
	u := trace.Usage{InputTokens: input, OutputTokens: output, CacheReadTokens: cached, ReasoningTokens: reasoning}.CacheBy(0)
	var reported struct {
		Cost *float64 `json:"cost"`
	}
	if json.Unmarshal([]byte(raw), &reported) == nil {
		u.CostUSD = reported.Cost
	}
	return u
}
