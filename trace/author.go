package trace

// This file finds the author of an event: the agent, or one of its sub-agents.

// author is who speaks: the agent, or a sub-agent, with or without a call. A part
// and a call get their voice when they begin, and so keep their parent even if the
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

func (v author) subagent() bool { return v.within != "" }

func (v author) actor() Actor {
	switch {
	case v.sub != nil:
		return Subagent(v.sub.state.ID)
	case v.call != nil:
		return Subagent(v.call.tool.ToolCallID)
	case v.within != "":
		return Subagent(v.within)
	default:
		return Agent
	}
}

// parent is the parent of what the voice says by itself.
func (v author) parent() string {
	switch {
	case v.sub != nil:
		return v.sub.event
	case v.call != nil:
		return v.call.event
	default:
		return ""
	}
}

// emitAs queues an event of the voice.
func (t *turn) emitAs(v author, p Payload) string {
	return t.put(v.parent(), v.actor(), p)
}
