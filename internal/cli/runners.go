package cli

import (
	"context"
	"errors"

	"github.com/tributary-dev/tributary/adapter/agentops/runner"
	"github.com/tributary-dev/tributary/agent/agentkit"
	agentopsserver "github.com/tributary-dev/tributary/gateway/agentops"
	"github.com/tributary-dev/tributary/session"
)

// runners passes a runner that connects to the agent of its session.
type runners struct{ hub *session.Hub }

// Admit implements agentopsserver.Runners. Admit checks the token before it looks for the
// session, so a caller without a token cannot learn which sessions exist.
func (r runners) Admit(ctx context.Context, id, token string) (func(context.Context, agentkit.Socket), error) {
	if err := r.knows(id, token); err != nil {
		return nil, err
	}
	info, err := r.hub.Get(ctx, id)
	if err != nil && !errors.Is(err, session.ErrUnknownSession) {
		return nil, err
	}
	runtime, is := r.hub.Agents[info.Agent].Runtime.(*runner.Runtime)
	if err != nil || !is {
		return nil, agentopsserver.ErrNoRunner
	}
	serve, err := runtime.Admit(id, token)
	switch {
	case errors.Is(err, runner.ErrToken): // it is another agent's
		return nil, agentopsserver.ErrRunnerToken
	case err != nil:
		return nil, agentopsserver.ErrNoRunner
	}
	return serve, nil
}

// knows returns nil if the token is good for a session of that id with any agent.
func (r runners) knows(id, token string) error {
	no := agentopsserver.ErrNoRunner
	for _, a := range r.hub.Agents {
		runtime, is := a.Runtime.(*runner.Runtime)
		if !is {
			continue
		}
		_, err := runtime.Admit(id, token)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, runner.ErrToken):
			no = agentopsserver.ErrRunnerToken
		}
	}
	return no
}
