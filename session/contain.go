package session

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"

	"github.com/tributary-dev/tributary/agent"
)

// This file calls adapters. A panic of an adapter is an error for the caller, and does not
// end the gateway.

// contain runs code of an adapter, and returns a panic of that code as an error.
func contain(logger *slog.Logger, run func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			logger.Error("the adapter has panicked", "panic", p, "stack", string(debug.Stack()))
			err = fmt.Errorf("the adapter of the agent has failed: %v", p)
		}
	}()
	return run()
}

// opened is an agent that runs; its address tells it from the one that is opened
// after it.
type opened struct {
	agent.Session
	logger *slog.Logger
}

// Close implements agent.Session.
func (o *opened) Close() error { return contain(o.logger, o.Session.Close) }

// controls are those of the agent; none if the agent has none.
func (o *opened) controls() (c agent.Controls) {
	controllable, ok := o.Session.(agent.Controllable)
	if !ok || contain(o.logger, func() error { c = controllable.Controls(); return nil }) != nil {
		return agent.Controls{}
	}
	if steer := c.Steer; steer != nil {
		c.Steer = func(ctx context.Context, p agent.Prompt) error {
			return contain(o.logger, func() error { return steer(ctx, p) })
		}
	}
	c.SetMode, c.SetModel = o.setter(c.SetMode), o.setter(c.SetModel)
	return c
}

func (o *opened) setter(set func(context.Context, string) error) func(context.Context, string) error {
	if set == nil {
		return nil
	}
	return func(ctx context.Context, id string) error {
		return contain(o.logger, func() error { return set(ctx, id) })
	}
}

// introduce makes the person who answers known to the agent, if the agent wants that.
func (o *opened) introduce(by Sender) error {
	i, ok := o.Session.(agent.CallerAware)
	if !ok {
		return nil
	}
	return contain(o.logger, func() error { return i.Introduce(name(by.By), by.Caller) })
}
