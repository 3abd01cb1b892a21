package codex

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/tributary-dev/tributary/agent"
)

// This file ends a turn whose end Codex does not tell. Codex says then that the conversation is idle, and the
// conversation as Codex has it on record says how the turn ended.

const (
	// firstWait is how long the end of a turn may come behind the word that the conversation is idle. Each
	// later wait is twice as long.
	firstWait = time.Second
	// mostReads is how often the conversation is read. A turn that is still in progress then, although nothing
	// runs, is over.
	mostReads = 3
)

// status takes the status of a conversation.
func (d *Decoder) status(p params) {
	c := d.current()
	if c == nil || p.ThreadID != d.thread {
		return
	}
	var status struct{ Type string }
	_ = json.Unmarshal(p.Status, &status) // another form says nothing
	if c.idle = status.Type == "idle" || status.Type == "systemError"; status.Type == "systemError" && c.fault.Message == "" {
		c.fault.Message = "Codex says that the conversation has a system error."
	}
}

// read takes the conversation as Codex has it on record.
func (d *Decoder) read(on thread) {
	c := d.current()
	if c == nil || !c.idle || on.ID != d.thread {
		return
	}
	c.reads++
	w := turnWire{ID: c.id, Status: "inProgress"}
	if i := slices.IndexFunc(on.Turns, func(w turnWire) bool { return w.ID == c.id }); i >= 0 {
		w = on.Turns[i]
	}
	if w.Status == "inProgress" && c.reads < mostReads {
		return
	}
	d.completed(params{ThreadID: d.thread, Turn: c.over(w)})
}

// over is a turn at its end. A turn that Codex has left in progress has failed if Codex has told an error.
func (c *turn) over(w turnWire) turnWire {
	if w.Status == "inProgress" {
		w.Status = "completed"
		if c.fault.Message != "" {
			w.Status = "failed"
		}
	}
	return w
}

// AtEnd ends the last turn of a recording, if Codex was idle.
func (d *Decoder) AtEnd(agent.Turns) {
	if c := d.current(); c != nil && c.idle {
		d.end(c, c.over(turnWire{Status: "inProgress"}))
	}
}

// readIdle reads the conversation while it is idle and a turn has no end. The Decoder takes the replies.
func (p *protocol) readIdle(ctx context.Context) {
	if !p.reads.CompareAndSwap(false, true) {
		return
	}
	defer p.reads.Store(false)
	var of *turn // that is read
	for wait := firstWait; wait < firstWait<<mostReads; wait *= 2 {
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		thread := ""
		p.conn.Session().Do(func() {
			c := p.current()
			if c == nil || !c.idle {
				return
			}
			if thread = p.thread; c != of { // the next turn may have no end, either
				of, wait = c, firstWait
			}
		})
		if thread == "" {
			return
		}
		_ = p.rpc.Call(ctx, "thread/read", object{"threadId": thread, "includeTurns": true}, nil) // the Decoder has taken the reply
	}
}
