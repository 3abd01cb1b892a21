package main

import (
	"context"
	"errors"

	"github.com/tributary-dev/tributary/adapter/runner"
	"github.com/tributary-dev/tributary/gateway"
	"github.com/tributary-dev/tributary/session"
)

// runners leads a runner that connects to the agent of its session.
type runners struct{ hub *session.Hub }

// Admit implements gateway.Runners. Without a token it can be learned of a session that
// it waits for a runner, and of no other whether there is one.
func (r runners) Admit(ctx context.Context, id, token string) (func(context.Context, gateway.RunnerConn), error) {
	info, _, _, err := r.hub.Get(ctx, id)
	if err != nil && !errors.Is(err, session.ErrUnknownSession) {
		return nil, err
	}
	runtime, is := r.hub.Agents[info.Agent].Runtime.(*runner.Runtime)
	if err != nil || !is {
		return nil, gateway.ErrNoRunner
	}
	serve, err := runtime.Admit(id, token)
	switch {
	case errors.Is(err, runner.ErrToken):
		return nil, gateway.ErrRunnerToken
	case err != nil:
		return nil, gateway.ErrNoRunner
	}
	return func(ctx context.Context, c gateway.RunnerConn) { serve(ctx, c) }, nil
}
