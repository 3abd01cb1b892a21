package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/session/alone"
	"github.com/tributary-dev/tributary/trace"
)

// maxPrompt bounds a prompt from standard input.
const maxPrompt = 32 << 20

type runCommand struct {
	Config string `placeholder:"FILE" help:"The configuration (default ./tributary.yaml, if it is there)."`
	Agent  string `placeholder:"NAME" help:"The agent (default demo)."`
	Cwd    string `placeholder:"DIR" help:"The directory that the agent works in (default the current one)."`
	JSON   bool   `name:"json" help:"Print the trace of the session as JSON lines, instead of the text."`
	Prompt string `arg:"" placeholder:"PROMPT" help:"What to ask, or - for standard input."`
}

// Run runs one turn and keeps nothing.
func (r *runCommand) Run(ctx context.Context, p *program) error {
	cfg, err := load(p.kinds(), r.Config, flags{agent: r.Agent, cwd: r.Cwd, alone: true})
	if err := cmp.Or(err, cfg.chosen()); err != nil {
		return err
	}
	text, err := r.text(p.stdin)
	if err != nil {
		return err
	}
	person := &asker{out: p.stderr, in: p.stdin, there: r.Prompt != "-" && isTerminal(p.stdin) && isTerminal(p.stderr)}
	return p.untilSignal(ctx, exitCanceled, func(ctx context.Context) error {
		return r.turn(ctx, cfg, text, p, person)
	})
}

// turn runs one turn on a log in memory.
func (r *runCommand) turn(ctx context.Context, cfg setup, text string, p *program, person *asker) error {
	level := slog.LevelWarn
	if cfg.LogLevel != "" {
		level = cfg.LogLevel.Slog()
	}
	o, err := cfg.sessionOptions(newLogger(p.stderr, level))
	if err != nil {
		return err
	}
	stop, err := oneTurn(ctx, o, text, r.printer(p), person)
	if err != nil {
		return err
	}
	return outcome(stop)
}

// text returns the prompt.
func (r *runCommand) text(stdin io.Reader) (string, error) {
	text := r.Prompt
	if text == "-" {
		data, err := io.ReadAll(io.LimitReader(stdin, maxPrompt+1))
		if err != nil {
			return "", fmt.Errorf("the prompt cannot be read from standard input: %w", err)
		}
		if len(data) > maxPrompt {
			return "", usage("the prompt is larger than 32 MB")
		}
		text = string(data)
	}
	if strings.TrimSpace(text) == "" {
		return "", usage("the prompt is empty: say what the agent is to do")
	}
	return text, nil
}

func (r *runCommand) printer(p *program) printer {
	if r.JSON {
		return printTrace{p.stdout}
	}
	return newPrintText(p)
}

// printer shows the records of a session as they come.
type printer interface{ print(trace.Record) error }

// oneTurn asks, shows what happens, and returns how it ended. Canceling ctx stops
// the turn.
func oneTurn(ctx context.Context, o session.Options, text string, show printer, person *asker) (stop trace.Stop, err error) {
	s, err := alone.Open(ctx, o, session.Spec{By: person.name()})
	if err != nil {
		return stop, err //nolint:wrapcheck // a sentence
	}
	defer func() { err = errors.Join(err, s.Close(ctx)) }()
	return s.Turn(ctx, session.Prompt{
		By: person.name(), MayPermit: true, Caller: agent.Caller{Traceparent: os.Getenv("TRACEPARENT")},
		Message: trace.UserMessage{Parts: []trace.InputPart{{Type: trace.InputText, Text: text}}},
	}, func(r trace.Record) error {
		if err := show.print(r); err != nil {
			return err
		}
		return person.asked(ctx, hubAnswers{s.Hub, s.ID, person.name()}, r)
	})
}

// outcome is the exit status of a turn.
func outcome(s trace.Stop) error {
	switch s.Outcome {
	case trace.OutcomeCompleted:
		return nil
	case trace.OutcomeCanceled:
		return &exitError{status: exitCanceled}
	case trace.OutcomeFailed:
	}
	if s.Error == "" {
		return fmt.Errorf("the turn failed: %s", s.Reason)
	}
	return errors.New(s.Error)
}
