package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tributary-dev/tributary/eval"
	"github.com/tributary-dev/tributary/export/reader"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/session/alone"
	"github.com/tributary-dev/tributary/trace"
)

// cell runs a cell and judges it. An error says that the result cannot be kept, or that ctx has
// ended; what is wrong with the run itself is in the result.
func (r *Runner) cell(ctx context.Context, c Cell) (eval.Cell, error) {
	began := time.Now()
	done, err := r.played(ctx, c)
	if canceled := ctx.Err(); canceled != nil {
		return eval.Cell{}, canceled //nolint:wrapcheck // as it is
	}
	if broken, ok := errors.AsType[*brokenError](err); ok {
		done = eval.Cell{Verdict: eval.Errored, Reason: broken.Error(), Seconds: time.Since(began).Round(time.Millisecond).Seconds()}
	} else if err != nil {
		return eval.Cell{}, err
	}
	done.Key, done.Case, done.Agent, done.Repeat, done.Pass = c.Key, c.Case.Name, c.Agent, c.Repeat, c.Case.Pass
	done.Versions.Tributary = r.Version
	return done, nil
}

// brokenError says that something other than the agent's own work failed.
type brokenError struct{ err error }

func (e *brokenError) Error() string { return e.err.Error() }

func broken(err error) error {
	if err == nil {
		return nil
	}
	return &brokenError{err}
}

// passed is a limit that has ended a run.
type passed struct {
	sentence string
	away     bool // the agent waited for its model
}

// played plays the prompts of a cell's case in a new workspace, and judges the session.
func (r *Runner) played(ctx context.Context, c Cell) (done eval.Cell, err error) {
	w, err := newWorkspace(ctx, c.Case, r.Env, cmp.Or(r.CommandTime, commandTime))
	if err != nil {
		return done, broken(err)
	}
	defer w.remove() //nolint:errcheck // what cannot be removed is the system's, as all in its directory for temporary files
	o, err := r.Open(c.Agent)
	if err != nil {
		return done, broken(err)
	}
	a := o.Agents[c.Agent]
	a.Cwd, a.Policy = w.dir(), policy(c.Case)
	o.Agents, o.Default = map[string]session.Agent{c.Agent: a}, c.Agent
	records, limit, err := play(ctx, o, c.Case)
	if err != nil {
		return done, broken(err)
	}
	if err := w.compare(ctx); err != nil {
		return done, broken(fmt.Errorf("the workspace cannot be read: %w", err))
	}
	s, err := eval.Read(reader.Kept(records))
	if err != nil {
		return done, broken(err)
	}
	result := c.Case.Grade(ctx, s, eval.Means{Workspace: w, Judge: r.Judge})
	if limit != nil && !limit.away {
		result.Exceed(limit.sentence)
	}
	if ctx.Err() != nil {
		return done, ctx.Err() //nolint:wrapcheck // as it is
	}
	done = result.Cell(s)
	if limit != nil && limit.away {
		done.Verdict, done.Reason, done.Graders = eval.Errored, limit.sentence, nil
	}
	done.Trace, err = r.Results.keep(c.Key, records)
	return done, err
}

// play runs the prompts of a case, one after the other, until one does not complete. There is a limit if
// the run has passed one, or if ctx has ended.
func play(ctx context.Context, o session.Options, c *eval.Case) (records []trace.Record, limit *passed, err error) {
	s, err := alone.Open(ctx, o, session.Spec{Agent: o.Default, By: byCase})
	if err != nil {
		return nil, nil, err //nolint:wrapcheck // a sentence
	}
	defer func() { err = errors.Join(err, s.Close(ctx)) }()
	m := &meter{tokens: map[trace.UsageScope]int64{}, costs: map[trace.UsageScope]float64{}}
	if c.Limits != nil {
		m.limits = *c.Limits
	}
	running, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	if t := m.limits.Time; t > 0 {
		timer := time.AfterFunc(t, func() { stop(fmt.Errorf("the run took longer than %s", t)) })
		defer timer.Stop()
	}
	prompts := c.Turns
	if c.Prompt != "" {
		prompts = []string{c.Prompt}
	}
	for _, text := range prompts {
		end, err := s.Turn(running, session.Prompt{
			By: byCase, Message: trace.UserMessage{Parts: []trace.InputPart{{Type: trace.InputText, Text: text}}},
		}, func(r trace.Record) error {
			if over := m.see(r); over != "" {
				stop(errors.New(over))
			}
			return answer(context.WithoutCancel(ctx), s, c, r)
		})
		if err != nil {
			return nil, nil, err //nolint:wrapcheck // a sentence
		}
		if running.Err() != nil || end.Outcome != trace.OutcomeCompleted {
			break
		}
	}
	if running.Err() != nil {
		limit = &passed{sentence: context.Cause(running).Error()}
		if m.retry != "" {
			limit = &passed{fmt.Sprintf("%s, and the agent's model did not answer: %.200q", limit.sentence, m.retry), true}
		}
	}
	for r, err := range s.Records(context.WithoutCancel(ctx)) {
		if err != nil {
			return nil, nil, err //nolint:wrapcheck // a sentence
		}
		records = append(records, r)
	}
	return records, limit, nil
}
