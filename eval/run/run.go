package run

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/tributary-dev/tributary/eval"
	"github.com/tributary-dev/tributary/session"
)

// Runner runs cells.
type Runner struct {
	Results *Results
	// Open makes the rules of a hub with the agent of that name. Each cell has an agent of its own.
	// The runner sets the agent's directory and its policy.
	Open func(agent string) (session.Options, error)
	// Env is the environment of the commands of cases, and of nothing else.
	Env []string
	// Judge is for graders that ask a model; nil skips them.
	Judge eval.Judge
	// CommandTime bounds each of these commands; 10 min if 0.
	CommandTime time.Duration
	// Version is that of the program.
	Version string
	// Jobs is how many cells run at the same time; 1 if 0.
	Jobs int
	// Begun and Done are told of each cell, by one goroutine at a time; nil: nobody is.
	Begun func(Cell)
	Done  func(eval.Cell)
}

// Run runs the cells that have no result yet, and those whose result is an error if again is true.
// First it removes the workspaces that killed runs have left. Each result is on disk before Done is told. The end of ctx stops the cells that run, which
// then have no result. The error is that of ctx, or says that results cannot be kept.
func (r *Runner) Run(ctx context.Context, cells []Cell, again bool) error {
	removeDead()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	waiting := make(chan Cell)
	var told sync.Mutex
	var first error
	tell := func(do func()) {
		told.Lock()
		defer told.Unlock()
		do()
	}
	var workers sync.WaitGroup
	for range min(max(r.Jobs, 1), len(cells)) {
		workers.Go(func() {
			for c := range waiting {
				if r.Begun != nil {
					tell(func() { r.Begun(c) })
				}
				done, err := r.cell(ctx, c)
				if err == nil {
					err = r.Results.add(done)
				}
				if err != nil {
					cancel()
					if !errors.Is(err, context.Canceled) {
						tell(func() { first = cmp.Or(first, err) })
					}
				} else if r.Done != nil {
					tell(func() { r.Done(done) })
				}
			}
		})
	}
	for _, c := range r.Pending(cells, again) {
		select {
		case waiting <- c:
			continue
		case <-ctx.Done():
		}
		break
	}
	close(waiting)
	workers.Wait()
	if first != nil {
		return first
	}
	return ctx.Err() //nolint:wrapcheck // as it is
}

// Pending are the cells that Run would run.
func (r *Runner) Pending(cells []Cell, again bool) (pending []Cell) {
	for _, c := range cells {
		if found, ok := r.Results.Find(c); !ok || again && found.Verdict == eval.Errored {
			pending = append(pending, c)
		}
	}
	return pending
}
