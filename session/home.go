package session

import (
	"context"
	"errors"
	"fmt"

	"github.com/tributary-dev/tributary/eventlog"
)

// This file says where the memory of a session's agent is, for several gateways on one database.

// AgentState says where an agent keeps what it knows of its sessions.
type AgentState string

// The places of an agent's state.
const (
	StateNode   AgentState = "node"   // on the machine of the gateway that has started it
	StateShared AgentState = "shared" // in a place that each gateway reaches
)

// Home is the gateway on whose machine the memory of a session's agent is, and the session's own workspace. The zero value is no
// gateway, or any.
type Home struct {
	Gateway string `json:"gateway"`           // eventlog.Gateway.Name
	Address string `json:"address,omitempty"` // of its cluster listener, for the log
}

// HomeError refuses a prompt because the memory of the session's agent is on another gateway.
type HomeError struct{ Home Home }

// Error implements error.
func (e *HomeError) Error() string {
	return fmt.Sprintf("the agent's memory of this session is on the gateway %s: start that gateway if it does not run, and try again in a minute, or begin a new session", e.Home.Gateway)
}

// Unwrap returns ErrElsewhere.
func (e *HomeError) Unwrap() error { return ErrElsewhere }

// home is the gateway that has something of the session which no other has.
func (h *Hub) home(i Info) Home {
	if h.Home.Gateway == "" || h.Agents[i.Agent].State != StateNode || i.Resume == "" && !i.Workspace.Made {
		return Home{}
	}
	return i.Home
}

// HomeOf is the name of the gateway on whose machine the memory of a session's agent is; empty: there is none, or any gateway
// has it. It reads the database.
func (h *Hub) HomeOf(ctx context.Context, session string) (gateway string, err error) {
	doc, err := h.Log.Get(ctx, session)
	if errors.Is(err, eventlog.ErrNoSession) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read session %q: %w", session, err)
	}
	info, err := infoOf(session, doc)
	return h.home(info).Gateway, err
}

// atHome is the error of a session whose agent has its memory on another gateway. This one gives the session back: that one is to
// have it when it runs again.
func (l *activeSession) atHome() error {
	l.mu.Lock()
	at := l.hub.home(l.info)
	l.mu.Unlock()
	if at.Gateway == "" || at.Gateway == l.hub.Home.Gateway {
		return nil
	}
	l.hub.Log.LetGo(l.id)
	l.hub.Logger.Warn("a prompt needs another gateway, which has the memory of the agent", "session", l.id, "gateway", at.Gateway, "address", at.Address)
	return &HomeError{at}
}

// moveHome notes that the memory of the agent is here from now on.
func (l *activeSession) moveHome() {
	home := l.hub.Home
	l.mu.Lock()
	if l.hub.Agents[l.info.Agent].State != StateNode {
		home = Home{}
	}
	changed := l.info.Home != home
	l.info.Home = home
	l.mu.Unlock()
	if changed {
		l.saveLater()
	}
}
