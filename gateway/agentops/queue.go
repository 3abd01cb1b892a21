package agentops

import (
	"context"
	"errors"

	"github.com/tributary-dev/tributary/session"
)

// This file changes the queue for frames, which name no prompt.

// withdraw removes the newest queued prompt of the user, if there is one.
func (c *client) withdraw(ctx context.Context) error {
	turn, err := c.s.Hub.NewestQueued(ctx, c.id, c.User.ID)
	if err != nil || turn == "" {
		return err
	}
	return unlessBegun(c.s.Hub.Withdraw(ctx, c.id, turn, session.QueueUser{By: c.User.ID}))
}

// promote lets the newest queued prompt of the user run now or, if they have none, the next
// one. Every collaborator may stop the running turn, so that is no more than they may do.
func (c *client) promote(ctx context.Context) error {
	turn, err := c.s.Hub.NewestQueued(ctx, c.id, c.User.ID)
	if turn == "" && err == nil {
		turn, err = c.s.Hub.NextQueued(ctx, c.id)
	}
	if err != nil || turn == "" {
		return err
	}
	return unlessBegun(c.s.Hub.Promote(ctx, c.id, turn, session.QueueUser{By: c.User.ID, Owner: true}))
}

// unlessBegun is no error if the prompt has begun meanwhile.
func unlessBegun(err error) error {
	if errors.Is(err, session.ErrNotQueued) {
		return nil
	}
	return err
}
