package toolloop

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/policy/toolkind"
	"github.com/tributary-dev/tributary/trace"
)

// Model makes model calls.
type Model interface {
	// Step makes one model call. Step writes text, reasoning and usage to b, and the server's
	// word for why the model stopped (StepFinish). Step may write the calls while they grow. The loop writes each finished call. Call ids are
	// unique within the message.
	Step(ctx context.Context, messages []Message, tools []Tool, b *trace.Builder) (Message, Finish, error)
}

// Finish says why the model ended its message.
type Finish string

// The ends of a message.
const (
	Done     Finish = "end_turn"
	Length   Finish = "max_tokens"     // the limit of one answer was reached
	Refused  Finish = "refusal"        // the model declines
	Filtered Finish = "content_filter" // the server held the answer back
)

// Fault is an error of a Model that ends the turn with a reason of its own.
type Fault struct {
	Reason string
	// Class is the kind of failure, if it is known.
	Class trace.Class
	// Sentence says what failed and what to do.
	Sentence string
}

// Error implements error.
func (f *Fault) Error() string { return f.Sentence }

// MaxSteps is how many model calls a turn may make, unless Options say otherwise.
const MaxSteps = 100

// Options of a turn. The zero value is usable.
type Options struct {
	// Table says what the tools do.
	Table toolkind.Table
	// MaxSteps bounds the model calls of the turn; [MaxSteps] if zero.
	MaxSteps int
}

// loop is one turn.
type loop struct {
	Options
	host  agent.Host
	b     *trace.Builder
	model Model
	tools []Tool
}

// Run plays a turn: messages end with the prompt. Run tells b how the turn ended.
func Run(ctx context.Context, host agent.Host, b *trace.Builder, m Model, messages []Message, tools []Tool, o Options) {
	o.MaxSteps = cmp.Or(o.MaxSteps, MaxSteps)
	l := &loop{Options: o, host: host, b: b, model: m, tools: tools}
	ctx, interrupt := context.WithCancelCause(ctx)
	defer interrupt(nil)
	finish, err := l.run(ctx, interrupt, messages)
	fault, _ := errors.AsType[*Fault](err)
	switch {
	case errors.Is(context.Cause(ctx), agentkit.ErrInterrupted):
		b.End(trace.Stop{Reason: "interrupted", Outcome: trace.OutcomeCanceled})
	case ctx.Err() != nil:
		b.End(trace.Stop{Reason: "stopped", Outcome: trace.OutcomeCanceled})
	case fault != nil:
		b.End(trace.Stop{Reason: cmp.Or(fault.Reason, "error"), Outcome: trace.OutcomeFailed, Class: fault.Class, Error: err.Error()})
	case err != nil:
		b.End(trace.Stop{Reason: "error", Outcome: trace.OutcomeFailed, Error: err.Error()})
	default:
		b.End(trace.Stop{Reason: string(finish), Outcome: trace.OutcomeCompleted})
	}
}

// run makes model calls and runs their tools until the model calls no more tools.
func (l *loop) run(ctx context.Context, interrupt context.CancelCauseFunc, messages []Message) (Finish, error) {
	for range l.MaxSteps {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		l.b.StepStart(trace.Step{})
		said, finish, err := l.model.Step(ctx, messages, l.tools, l.b)
		if err != nil || ctx.Err() != nil {
			return "", err
		}
		if len(said.Calls) == 0 {
			l.b.StepEnd()
			return l.end(finish)
		}
		said.Role = trace.RoleAssistant
		l.calls(ctx, interrupt, said.Calls)
		messages = append(messages, said)
	}
	return "", &Fault{Reason: "max_steps", Class: trace.ClassLimit, Sentence: fmt.Sprintf("The turn reached its limit of %d model calls: ask the agent to go on, or raise max_steps.", l.MaxSteps)}
}

func (l *loop) end(finish Finish) (Finish, error) {
	switch finish {
	case Filtered:
		return "", &Fault{Reason: string(Filtered), Sentence: "The model's server held the answer back because of its content: ask in other words."}
	case Length:
		l.b.Emit(trace.Error{Code: string(Length), Message: "The answer reached the model's limit and is cut off: ask the agent to go on, or raise the limit."})
	case Refused, Done:
	}
	return cmp.Or(finish, Done), nil
}
