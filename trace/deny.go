package trace

import "cmp"

// This file ends calls that were refused.

// A call that was refused does not run, and some agents never say so. The Builder ends
// such a call as denied once its agent goes on: with the next step, with text, at the
// end. The agent's own result counts if it comes before that; a refused call that
// failed or was stopped is denied.

const (
	refusedSilently = "Not allowed."
	refusedByTime   = "Nobody answered in time."
)

// Denied ends a call that was refused. Without a reason, the reason is that of the
// refusal on record.
func (b *Builder) Denied(toolCallID, reason string) {
	b.do(func(t *turn) {
		c, ok := t.calls[toolCallID]
		switch {
		case !ok:
			t.counts.Orphans++
		case c.done:
			t.counts.Repeated++
		default:
			if reason != "" || c.refused == "" {
				c.refuse(reason)
			}
			t.deny(c)
		}
	})
}

func (c *call) refuse(reason string) { c.refused = cmp.Or(reason, refusedSilently) }

// heed notes on a call whether it may run.
func (t *turn) heed(c *call, r PermissionResponse) {
	switch {
	case c == nil || c.done || r.Outcome == Canceled: // nobody has decided
	case r.Allowed():
		c.refused = ""
	case r.Outcome == Expired && r.Reason == "":
		t.refuse(c, refusedByTime)
	default:
		t.refuse(c, r.Reason)
	}
}

func (t *turn) refuse(c *call, reason string) {
	c.refuse(reason)
	t.refused = append(t.refused, c)
}

func (t *turn) deny(c *call) {
	t.result(c, ToolResult{Status: ToolDenied, Error: c.refused})
}

// closeRefused ends the refused calls of an agent that goes on.
func (t *turn) closeRefused(by author) {
	if len(t.refused) == 0 {
		return
	}
	all := t.refused
	t.refused = nil
	for _, c := range all {
		switch {
		case c.done || c.refused == "":
		case c.by.within != by.within:
			t.refused = append(t.refused, c)
		default:
			t.deny(c)
		}
	}
}
