package session

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/policy/box"
	"github.com/tributary-dev/tributary/policy/egress"
	"github.com/tributary-dev/tributary/trace"
)

// This file has what agents' processes reach of the network.

// EgressTool is the raw name of the call by which a connection to a host outside of an agent's Egress is
// decided, where the agent has EgressAsk.
const EgressTool = "egress"

const (
	// egressWait bounds how long a connection waits for a person. The request stays.
	egressWait = 2 * time.Minute
	// mostReaches bounds the hosts of one turn that are on record, and those that are logged between turns.
	mostReaches = 20
)

// reach is what became of a host in a turn.
type reach struct {
	decided chan struct{} // closed when allowed is set; nil if nobody is asked
	allowed bool
}

// network is what the processes of an agent reach, or nil for all of the gateway's own network. The processes may be
// of no session.
func (h *Hub) network(name string, l *activeSession) box.Network {
	hosts, limited := h.egress[name]
	if !limited {
		return nil
	}
	var mu sync.Mutex
	logged := map[string]bool{}
	p := &egress.Proxy{Hosts: hosts}
	p.Refused = func(to egress.Target, why string) {
		h.Meter(name, agent.EgressRefused)
		if l != nil && l.noteRefused(to.String(), why) {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		if len(logged) < mostReaches && !logged[to.String()] {
			logged[to.String()] = true
			h.Logger.Info("an agent may not reach a host", "agent", name, "host", to.String(), "why", why)
		}
	}
	if l != nil && h.Agents[name].EgressAsk {
		p.Other = func(ctx context.Context, to egress.Target) bool { return l.mayReach(ctx, to.String()) }
	}
	return p
}

// reaching finds what became of a host in the running turn, or notes it as new. r is nil without a turn, and after
// too many hosts.
func (l *activeSession) reaching(host string, asked bool) (t *turn, r *reach, begins bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if t = l.running; t == nil || t.state.Stopped() {
		return nil, nil, false
	}
	r = t.reaches[host]
	if r == nil && len(t.reaches) < mostReaches {
		r, begins = &reach{}, true
		if asked {
			r.decided = make(chan struct{})
		}
		t.reaches[host] = r
	}
	return t, r, begins
}

// noteRefused tells of a refused host once in each turn, and reports false outside of turns.
func (l *activeSession) noteRefused(host, why string) bool {
	t, _, begins := l.reaching(host, false)
	if begins {
		t.logger.Info("the agent may not reach a host", "host", host, "why", why)
		name, _ := l.agentNow()
		t.builder.Emit(trace.Notice("egress_refused", "The agent may not reach "+host+": "+why+". Add it to agents."+name+".egress to allow it."))
	}
	return t != nil
}

// mayReach has the policy or a person decide about a host.
func (l *activeSession) mayReach(ctx context.Context, host string) bool {
	t, r, begins := l.reaching(host, true)
	if r == nil || r.decided == nil {
		return false
	}
	if begins {
		l.hub.goes.Go(func() { //nolint:contextcheck // the request stays when the connection is gone
			defer close(r.decided)
			r.allowed = t.askReach(host)
		})
	}
	ctx, cancel := context.WithTimeout(ctx, egressWait)
	defer cancel()
	select {
	case <-r.decided:
		return r.allowed
	case <-ctx.Done():
		return false
	}
}

// askReach asks about a connection.
func (t *turn) askReach(host string) bool {
	input, _ := json.Marshal(map[string]string{"host": host}) // strings are always JSON
	return t.askAbout(EgressTool, "Connect to "+host, input, "Allow in this turn", "Reject in this turn")
}
