package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/policy/box"
	"github.com/tributary-dev/tributary/session/agents"
)

// This file lists the conversations that an agent keeps.

// ListError says why an agent did not list its conversations.
type ListError struct {
	Agent string
	Err   error
}

// Error implements error.
func (e *ListError) Error() string {
	return fmt.Sprintf("the agent %s did not list its conversations: %v", e.Agent, e.Err)
}

// Unwrap returns the agent's error.
func (e *ListError) Unwrap() error { return e.Err }

// Conversations lists the conversations that an agent keeps of its workspace, the newest
// first. It leaves out those that a session has: the rights in that session count for
// them, and two sessions must not write to one conversation.
func (h *Hub) Conversations(ctx context.Context, name string) ([]agent.Conversation, error) {
	release, err := acquireToken(ctx, h.listing, h.ctx.Done())
	if err != nil {
		return nil, err
	}
	defer release()
	return h.conversations(ctx, name)
}

// adopt finds the conversation for a new session. Until release is called, no other
// session can get the conversation.
func (h *Hub) adopt(ctx context.Context, name, token string) (c agent.Conversation, release func(), err error) {
	release, err = acquireToken(ctx, h.listing, h.ctx.Done())
	if err != nil {
		return c, nil, err
	}
	all, err := h.conversations(ctx, name)
	i := slices.IndexFunc(all, func(c agent.Conversation) bool { return c.Token == token })
	if err != nil || i < 0 {
		release()
		return c, nil, cmp.Or(err, ErrUnknownConversation)
	}
	return all[i], release, nil
}

func (h *Hub) conversations(ctx context.Context, name string) ([]agent.Conversation, error) {
	a, ok := h.Agents[name]
	if !ok {
		return nil, h.unknownAgent(name)
	}
	if a.Workspace.Own() { // a conversation goes on where it was begun
		return nil, agent.ErrNotListed
	}
	ctx, cancel := during(ctx, h.ctx) //nolint:contextcheck // the hub's end ends the list, too
	defer cancel()
	logger := h.Logger.With("agent", name)
	rule := h.boxRule(name, nil, a.Cwd, nil)
	ctx = box.With(ctx, rule)
	runtime := a.Runtime
	if r, is := runtime.(agent.SettingsReader); is {
		if without := r.WithoutSettings(); without != nil {
			runtime = without
		}
	}
	var all []agent.Conversation
	err := agents.Contain(logger, func() (err error) {
		all, err = agent.ListConversations(ctx, runtime, agent.Config{
			Cwd: a.Cwd, Model: a.Model, Options: a.Options, StateDir: h.StateDir, Box: rule, Closed: h.Closed, Logger: logger,
			Meter: func(c agent.Count) { h.Meter(name, c) },
		})
		return err
	})
	switch {
	case errors.Is(err, agent.ErrNotListed):
		return nil, err
	case err != nil:
		return nil, &ListError{name, err}
	}
	if all, err = h.untaken(ctx, all); err != nil {
		return nil, err
	}
	for i := range all {
		all[i].Title = title(all[i].Title)
	}
	return all, nil
}

// untaken leaves out the conversations that a session has. Sessions in memory go first:
// they may have one that is not in their documents yet.
func (h *Hub) untaken(ctx context.Context, all []agent.Conversation) ([]agent.Conversation, error) {
	has := func(token string) func(agent.Conversation) bool {
		return func(c agent.Conversation) bool { return strings.HasPrefix(token, c.Token) }
	}
	for _, l := range h.inMemory() {
		all = slices.DeleteFunc(all, has(l.view().Resume))
	}
	if err := h.resumes.catchUp(ctx, h); err != nil {
		return nil, err
	}
	for session, token := range h.resumes.tokens {
		if !slices.ContainsFunc(all, has(token)) {
			continue
		}
		info, err := h.read(ctx, session) // it may have been deleted
		switch {
		case errors.Is(err, ErrUnknownSession):
			delete(h.resumes.tokens, session)
			continue
		case err == nil:
			token = info.Resume
		case !ofOneSession(err):
			return nil, err
		}
		all = slices.DeleteFunc(all, has(token))
	}
	return all, nil
}

// clocksApart is how far the clocks of gateways on one database may be apart.
const clocksApart = time.Hour

// resumes are the resume tokens in the documents of all sessions, as they were when the documents were
// read last. Only the documents that have changed since are read again. The request that holds the right
// to list uses it.
type resumes struct {
	tokens map[string]string // by session
	until  time.Time         // of the newest document that was read
}

func (r *resumes) catchUp(ctx context.Context, h *Hub) error {
	since, newest := r.until, r.until
	if h.shared {
		since = since.Add(-clocksApart)
	}
	for e, err := range h.Log.List(ctx, eventlog.Query{}) {
		switch {
		case err != nil:
			return fmt.Errorf("list the sessions: %w", err)
		case e.Damaged: // its time may be wrong
			continue
		case e.Updated.Before(since):
			r.until = newest
			return nil
		case e.Updated.After(newest):
			newest = e.Updated
		}
		delete(r.tokens, e.Session)
		if info, err := infoOf(e.Session, e.Doc); err == nil && info.Resume != "" {
			r.tokens[e.Session] = info.Resume
		}
	}
	r.until = newest
	return nil
}
