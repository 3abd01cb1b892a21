package trace

// This file finds the author of an event: the agent, or one of its sub-agents.

// author is who speaks: the agent, or a sub-agent, with or without a call. A part
// and a call get their author when they begin, and so keep their parent even if the
// agent uses the id of that call again.
type author struct {
	within string // the agent's id of the call or of the sub-agent, or ""
	call   *call  // nil also when nobody has seen the call
	sub    *sub   // of a sub-agent that no call started
}

func (b *Builder) author(t *turn) author {
	if b.within == "" {
		return author{}
	}
	if s := t.subs[b.within]; s != nil {
		return author{within: b.within, sub: s}
	}
	return author{within: b.within, call: t.calls[b.within]}
}

func (a author) subagent() bool { return a.within != "" }

func (a author) actor() Actor {
	switch {
	case a.sub != nil:
		return Subagent(a.sub.state.ID)
	case a.call != nil:
		return Subagent(a.call.tool.ToolCallID)
	case a.within != "":
		return Subagent(a.within)
	default:
		return Agent
	}
}

// parent is the parent of what the author says by itself.
func (a author) parent() string {
	switch {
	case a.sub != nil:
		return a.sub.event
	case a.call != nil:
		return a.call.event
	default:
		return ""
	}
}

// emitAs queues an event of the author.
func (t *turn) emitAs(a author, p Payload) string {
	return t.put(a.parent(), a.actor(), p)
}
