package session

import (
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/trace"
)

// This file counts the tools that a session has used.

// countTool counts a call of a tool that neither the agent's table nor the
// configuration knows. Such a tool is of the kind other, so the policy asks.
func (t *turn) countTool(p trace.Payload) {
	call, ok := p.(trace.ToolCall)
	if !ok {
		return
	}
	name, a := t.session.agentNow()
	if a.Tools.Judged(call).ToolKind == trace.ToolOther && !a.Tools.Knows(call.RawName) {
		t.session.hub.Meter(name, agent.UnknownTool)
	}
}

// agentNow returns the session's agent.
func (l *activeSession) agentNow() (name string, a Agent) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.info.Agent, l.hub.Agents[l.info.Agent]
}
