// Package agents has what the sessions of a Hub share to use their agents: the places for open agents, the
// directories in which agents work, and the calls into adapters.
package agents

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"

	"github.com/tributary-dev/tributary/agent"
)

// This file calls adapters. A panic of an adapter is an error for the caller, and does not
// end the gateway.

// Contain runs code of an adapter, and returns a panic of that code as an error.
func Contain(logger *slog.Logger, run func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			logger.Error("the adapter has panicked", "panic", p, "stack", string(debug.Stack()))
			err = fmt.Errorf("the adapter of the agent has failed: %v", p)
		}
	}()
	return run()
}

// Opened is an agent that runs; its address tells it from the one that is opened
// after it.
type Opened struct {
	agent.Session

	Logger *slog.Logger
}

// Close implements agent.Session.
func (o *Opened) Close() error { return Contain(o.Logger, o.Session.Close) }

// Controls are those of the agent; none if the agent has none.
func (o *Opened) Controls() (c agent.Controls) {
	controllable, ok := o.Session.(agent.Controllable)
	if !ok || Contain(o.Logger, func() error { c = controllable.Controls(); return nil }) != nil {
		return agent.Controls{}
	}
	c.Steer, c.SetMode, c.SetModel = contained(o, c.Steer), contained(o, c.SetMode), contained(o, c.SetModel)
	return c
}

// contained is a control of the agent, contained; nil if the agent has none.
func contained[T any](o *Opened, do func(context.Context, T) error) func(context.Context, T) error {
	if do == nil {
		return nil
	}
	return func(ctx context.Context, v T) error {
		return Contain(o.Logger, func() error { return do(ctx, v) })
	}
}

// Introduce makes the person who answers known to the agent, if the agent wants that.
func (o *Opened) Introduce(by string, c agent.Caller) error {
	i, ok := o.Session.(agent.CallerAware)
	if !ok {
		return nil
	}
	return Contain(o.Logger, func() error { return i.Introduce(by, c) })
}

// Rewinds reports whether an agent can go back to the place of a token. can says that it can go back at all.
func Rewinds(logger *slog.Logger, r agent.Runtime, token string) (rewinds, can bool) {
	to, can := r.(agent.Rewinder)
	if can {
		_ = Contain(logger, func() error { rewinds = to.Rewinds(token); return nil })
	}
	return rewinds, can
}

// OnlyWaits reports whether the turns of an agent outlive the gateway only while they wait for a person.
func OnlyWaits(logger *slog.Logger, r agent.Runtime) (waits bool) {
	if w, is := r.(agent.Waiter); is {
		_ = Contain(logger, func() error { waits = w.OnlyWaits(); return nil })
	}
	return waits
}

// Takes reports what an agent takes with an answer: another input, and the reason of a refusal.
func Takes(logger *slog.Logger, r agent.Runtime) (input, reason bool) {
	if t, is := r.(agent.AnswerTaker); is {
		_ = Contain(logger, func() error { input, reason = t.Takes(); return nil })
	}
	return input, reason
}
