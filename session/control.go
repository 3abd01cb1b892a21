package session

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/trace"
)

// This file passes controls on to the agent of a session.

// controls are those of the session's agent; none while the agent is closed.
func (l *activeSession) controls() agent.Controls {
	if s := l.openedAgent(); s != nil {
		return s.Controls()
	}
	return agent.Controls{}
}

// Steer puts a message into the running turn. The agent reads it when it can; the
// message is on record in the turn.
func (h *Hub) Steer(ctx context.Context, session string, p Prompt) error {
	if err := trace.CheckFiles(p.Message.Parts); err != nil {
		return err
	}
	return h.use(ctx, session, func(l *activeSession) error {
		l.mu.Lock()
		t, name := l.running, l.info.Agent
		l.mu.Unlock()
		if t == nil || t.builder.Over() {
			return l.notHere(&ChoiceError{"no turn runs that could take the message: send it as a prompt"})
		}
		steer := l.controls().Steer
		if steer == nil {
			return &ChoiceError{fmt.Sprintf("the agent %s takes no message in the middle of a turn: send it as a prompt", name)}
		}
		if err := l.mayCommand(p); err != nil {
			return err
		}
		if err := steer(ctx, agent.Prompt{Message: p.Message, By: p.By, Channel: p.Channel, Caller: p.Caller}); err != nil {
			return &ChoiceError{err.Error()}
		}
		value, _ := json.Marshal(struct { // strings are always JSON
			Text string `json:"text"`
			By   string `json:"by,omitempty"`
		}{textOf(p.Message), p.By})
		record := trace.Data{Name: "steer", ID: "steer-" + newID(h.Now()), Value: value}
		if t.builder.EmitOwn(record) {
			return nil
		}
		return l.append(context.WithoutCancel(ctx), "", l.noteOf(trace.User, record), nil) // the turn has ended with this message
	})
}

// control changes the mode and the model of an agent that runs. An agent that is closed
// gets them when it is opened.
func (l *activeSession) control(ctx context.Context, c Change) error {
	if c.Mode == nil && c.Model == nil || l.openedAgent() == nil {
		return nil
	}
	has := l.controls()
	for _, set := range []struct {
		what string
		to   *string
		with func(context.Context, string) error
	}{{"mode", c.Mode, has.SetMode}, {"model", c.Model, has.SetModel}} {
		if set.to == nil {
			continue
		}
		if set.with == nil {
			return &ChoiceError{fmt.Sprintf("the %s of this agent cannot be changed while it runs", set.what)}
		}
		if err := set.with(ctx, *set.to); err != nil {
			return &ChoiceError{err.Error()}
		}
	}
	return nil
}
