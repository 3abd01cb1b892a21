package acp

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/internal/jsonrpc"
	"github.com/tributary-dev/tributary/trace"
)

// This file takes what agents say of a turn behind the reply that ends it.

const (
	// lateTime is how long a reply waits for the results of open calls, or for more of what has come behind it.
	lateTime = 100 * time.Millisecond
	// wordsTime is how long a reply waits for the first words of its turn.
	wordsTime = 200 * time.Millisecond
	// learnTime bounds how long after a reply words show that the agent ends its turns too early.
	learnTime = 500 * time.Millisecond
	// mostReply bounds the size of a reply that waits.
	mostReply = 1 << 16
)

// Hold implements agentkit.Holder: a turn does not wait if nothing is expected behind its reply.
func (p *protocol) Hold(line json.RawMessage) (wait time.Duration) {
	if len(line) > mostReply || bytes.Contains(line, []byte(`"method"`)) {
		return 0
	}
	m, err := jsonrpc.Parse(line)
	if err != nil || m.Error != nil || stopOf(parse[struct {
		StopReason string `json:"stopReason"`
	}](m.Result).StopReason).Outcome != trace.OutcomeCompleted {
		return 0
	}
	p.conn.Session().Do(func() {
		if len(p.prompts) == 1 && p.prompts[0].id == string(m.ID) {
			p.replied = time.Now()
			wait = p.turn.waits(p.endsEarly)
		}
	})
	return wait
}

// waits is how long the reply to the turn waits for what comes behind it.
func (c *turn) waits(endsEarly bool) time.Duration {
	if c == nil || c.stopped || c.b.Over() {
		return 0
	}
	behind := c.waiting && c.updates > c.before
	if !c.waiting {
		c.waiting, c.before = true, c.updates
	}
	switch {
	case c.runs(), behind, endsEarly && !c.silent():
		return lateTime
	case c.silent() && !c.command:
		return wordsTime
	}
	return 0
}

// runs reports whether a call of the turn has no result.
func (c *turn) runs() bool {
	for _, tc := range c.calls {
		if !tc.done && !tc.denied {
			return true
		}
	}
	return false
}

// silent reports whether the agent has shown nothing in the turn.
func (c *turn) silent() bool {
	return c.parts == 0 && len(c.calls) == 0 && c.held == nil && !c.shown
}

// mostPast bounds the calls of earlier turns that are remembered, mostMissing those of them that have no result, and
// mostMissed the bytes of each of these.
const mostPast, mostMissing, mostMissed = 1000, 100, 1 << 18

// leave forgets the turn, but not its calls: results may come later.
func (d *Decoder) leave() {
	if d.turn == nil {
		return
	}
	missing := 0
	for id, tc := range d.turn.calls {
		if d.past == nil || len(d.past) == mostPast {
			d.past, missing = map[string]*call{}, 0
		}
		d.past[id] = nil
		small := len(tc.raw)+len(tc.draft)+len(tc.content)+len(tc.output)+len(tc.printed) < mostMissed
		if !tc.done && !tc.denied && small && missing < mostMissing {
			tc.stopped = d.turn.stopped
			d.past[id] = tc
			missing++
		}
	}
	d.turn = nil
}

// isLate reports whether an update is news of a call of an earlier turn. Agents use ids again, so an update that shows
// an input or a title is that of a new call, unless it is the result of a call that has none.
func (d *Decoder) isLate(u update) bool {
	tc, past := d.past[u.ID]
	shows := present(u.RawInput) || u.Title != ""
	return past && u.Kind == "tool_call_update" && (!shows || tc != nil && u.ends())
}

// isLateResult reports whether such an update is the result that is missing. The end of a call that a person has
// stopped is none, unless the call was completed all the same.
func (d *Decoder) isLateResult(u update) bool {
	tc := d.past[u.ID]
	return tc != nil && d.isLate(u) && u.ends() && (u.Status == "completed" || !tc.stopped)
}

// lateResult puts a call of an earlier turn on record again, with its result.
func (d *Decoder) lateResult(c *turn, u update) {
	tc := d.past[u.ID]
	d.past[u.ID] = nil
	d.merge(tc, u.toolCall)
	tc.streamed = "" // it is in the earlier turn
	tc.again(c)
	tc.print(u)
	tc.end(c, u.Status == "completed")
}

func (tc *call) again(c *turn) {
	tc.b = c.b
	c.calls[tc.tool.ToolCallID] = tc
	tc.complete()
}

// recordMissed puts results on record that have come between a person's stop, which has closed the turn, and the
// agent's reply.
func (d *Decoder) recordMissed(stopped *turn, t agent.Turns) {
	for _, id := range slices.Sorted(maps.Keys(stopped.calls)) {
		tc, c := stopped.calls[id], d.turn
		if !tc.missed {
			continue
		}
		if c == nil {
			c = d.beginOwn(t)
		}
		if c != nil && c.calls[id] == nil {
			tc.again(c)
			tc.end(c, true)
		}
	}
}

// ends reports whether an update is the result of its call.
func (u update) ends() bool { return u.Status == "completed" || u.Status == "failed" }
