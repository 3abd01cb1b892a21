package openai

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tributary-dev/tributary/agent/toolloop"
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

// outcome is how a model call ended, in the endpoint's words.
type outcome struct {
	usage  trace.Usage
	finish string
}

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
		s := &speech{b: b, step: m.steps}
		out, err := call(ctx, messages, tools, s)
		m.count(out.usage, messages, tools, s, b)
		if err == nil {
			return s.said, finishOf(out.finish, s.refused), nil
		}
		wait, again := backOff(err, attempt)
		if !again || s.spoken || attempt > m.tries() || ctx.Err() != nil {
			return s.said, "", m.explain(err)
		}
		b.Emit(trace.Notice("retry", fmt.Sprintf("The model call failed (%v). Trying again in %s (%d of %d).", innermost(err), wait.Round(100*time.Millisecond), attempt, m.tries())))
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return s.said, "", ctx.Err()
		}
	}
}

func finishOf(finish string, refused bool) toolloop.Finish {
	switch {
	case refused:
		return toolloop.Refused
	case finish == "length", finish == "max_output_tokens":
		return toolloop.Length
	case finish == "content_filter":
		return toolloop.Filtered
	default:
		return toolloop.Done
	}
}

// patience ends a model call whose endpoint is silent for too long. alive is to be called
// whenever something came.
func (m *model) patience(ctx context.Context) (_ context.Context, alive, done func()) {
	limit := cmp.Or(time.Duration(m.Patience), 5*time.Minute)
	ctx, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(limit, func() { cancel(&silentError{limit}) })
	return ctx, func() { timer.Reset(limit) }, func() {
		timer.Stop()
		cancel(nil)
	}
}

// cause is why a stream broke off: our own impatience, or err.
func cause(ctx context.Context, err error) error {
	if silent, ok := errors.AsType[*silentError](context.Cause(ctx)); ok {
		return silent
	}
	return err
}
