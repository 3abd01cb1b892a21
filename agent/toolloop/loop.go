package toolloop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/toolkind"
	"github.com/tributary-dev/tributary/trace"
)

// Tool is something that the model can call.
type Tool struct {
	Name        string
	Description string
	// Schema is the JSON Schema of the input, an object.
	Schema json.RawMessage
	// Run does the work. Run writes text to out to show it while the call runs. An error
	// fails the call, and the model is told. Run returns soon after ctx ends.
	Run func(ctx context.Context, input json.RawMessage, out io.Writer) (json.RawMessage, error)
}

// Model makes model calls.
type Model interface {
	// Step makes one model call. Step writes text, reasoning and usage to b, and may
	// write the calls while they grow. The loop writes each finished call. Call ids are
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

var errInterrupted = errors.New("the person who denied a call ended the turn")

// Run plays a turn: messages end with the prompt. Run tells b how the turn ended.
func Run(ctx context.Context, host agent.Host, b *trace.Builder, m Model, messages []Message, tools []Tool, o Options) {
	if o.MaxSteps == 0 {
		o.MaxSteps = MaxSteps
	}
	l := &loop{Options: o, host: host, b: b, model: m, tools: tools}
	ctx, interrupt := context.WithCancelCause(ctx)
	defer interrupt(nil)
	b.End(l.run(ctx, interrupt, messages))
}

func (l *loop) run(ctx context.Context, interrupt context.CancelCauseFunc, messages []Message) trace.Stop {
	for range l.MaxSteps {
		if ctx.Err() != nil {
			return stopped(ctx)
		}
		l.b.StepStart(trace.Step{})
		said, finish, err := l.model.Step(ctx, messages, l.tools, l.b)
		switch {
		case ctx.Err() != nil:
			return stopped(ctx)
		case err != nil:
			return failed(err)
		case len(said.Calls) == 0:
			l.b.StepEnd()
			return l.end(finish)
		}
		said.Role = trace.RoleAssistant
		l.calls(ctx, interrupt, said.Calls)
		messages = append(messages, said)
	}
	if ctx.Err() != nil {
		return stopped(ctx)
	}
	return failed(&Fault{Reason: "max_steps", Sentence: fmt.Sprintf("The turn reached its limit of %d model calls: ask the agent to go on, or raise max_steps.", l.MaxSteps)})
}

func (l *loop) end(finish Finish) trace.Stop {
	switch finish {
	case Filtered:
		return failed(&Fault{Reason: string(Filtered), Sentence: "The model's server held the answer back because of its content: ask in other words."})
	case Length:
		l.b.Emit(trace.Error{Code: string(Length), Message: "The answer reached the model's limit and is cut off: ask the agent to go on, or raise the limit."})
	case Refused, Done:
	default:
		finish = Done
	}
	return trace.Stop{Reason: string(finish), Outcome: trace.OutcomeCompleted}
}

func stopped(ctx context.Context) trace.Stop {
	if errors.Is(context.Cause(ctx), errInterrupted) {
		return trace.Stop{Reason: "interrupted", Outcome: trace.OutcomeCanceled}
	}
	return trace.Stop{Reason: "stopped", Outcome: trace.OutcomeCanceled}
}

func failed(err error) trace.Stop {
	stop := trace.Stop{Reason: "error", Outcome: trace.OutcomeFailed, Error: err.Error()}
	var f *Fault
	if errors.As(err, &f) && f.Reason != "" {
		stop.Reason = f.Reason
	}
	return stop
}
