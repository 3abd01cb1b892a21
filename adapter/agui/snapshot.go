package agui

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/agent/agentkit"
)

// This file reads snapshots of the conversation, and corrects calls by them.

// mostHeld bounds the calls of a turn that a snapshot may correct, and the results that wait for it. The content
// of each such result has at most small bytes.
const mostHeld = 100

// named is a call in a snapshot.
type named struct {
	call   *toolCall
	parent string // the id of its message
}

// messages takes a snapshot of the conversation. Endpoints split messages there in another
// way than in their stream, so the snapshot counts only for a run that streams nothing. Results
// that are missing in the stream come from the snapshot, too, and what the stream lacks of a call.
func (d *Decoder) messages(t *turn, e event) {
	t.snapshot, t.named = e.Messages, map[string]named{}
	for _, m := range e.Messages {
		if m == nil {
			continue
		}
		m.Calls = slices.DeleteFunc(m.Calls, func(c *toolCall) bool { return c == nil })
		for _, c := range m.Calls {
			t.named[c.ID] = named{c, m.ID}
		}
	}
	t.b.Touch()
	t.doubts = slices.DeleteFunc(t.doubts, func(id string) bool {
		c := t.calls[id]
		if !t.correct(id, c) {
			return false
		}
		c.b.ToolCallUpdate(d.tools.Call(id, c.name, c.input()))
		d.release(t, c)
		return true
	})
	for _, e := range t.takeStrays() {
		e.ToolCallID = t.ofSnapshot(e)
		d.callResult(t, e)
	}
	d.results(t)
}

// results takes the results of calls that the run has streamed without: LlamaIndex never
// streams a result.
func (d *Decoder) results(t *turn) {
	for _, m := range t.snapshot {
		if m == nil || m.Role != roleTool || !t.spoke {
			continue
		}
		if c := t.calls[m.ToolCallID]; c != nil && !c.done {
			d.result(t, event{MessageID: m.ID, ToolCallID: m.ToolCallID, SubagentRunID: c.sub, Content: m.Content})
		}
	}
}

// correct takes the input of a call in doubt from the snapshot, and its name if the stream has none.
// It reports whether the snapshot has both.
func (t *turn) correct(id string, c *call) bool {
	s := t.named[id].call
	if s == nil || !isJSON(string(s.Function.Arguments)) {
		return false
	}
	c.args.Reset()
	c.args.WriteString(string(s.Function.Arguments))
	if c.unnamed {
		c.name = cmp.Or(s.Function.Name, c.name)
	}
	c.entry.Function.Name, c.entry.Function.Arguments = c.name, s.Function.Arguments
	c.doubt = false
	return true
}

// ofSnapshot is the id of the call of a result whose own id names no call: the snapshot has the same result
// under the id of the call.
func (t *turn) ofSnapshot(e event) string {
	if t.named[e.ToolCallID].call != nil {
		return e.ToolCallID
	}
	for _, m := range slices.Backward(t.snapshot) {
		if m != nil && m.Role == roleTool && t.named[m.ToolCallID].call != nil && (m.ID != "" && m.ID == e.MessageID || bytes.Equal(m.Content, e.Content)) {
			return m.ToolCallID
		}
	}
	return e.ToolCallID
}

// hold keeps a result for the snapshot of the run, and reports whether it does. Sub-agents are in no snapshot.
func (t *turn) hold(e event, keep func()) bool {
	if e.SubagentRunID != "" || t.held >= mostHeld || len(e.Content) > small {
		return false
	}
	t.held++
	keep()
	t.b.Touch()
	return true
}

// release gives a call the result that was held.
func (d *Decoder) release(t *turn, c *call) {
	e := c.held
	if c.doubt, c.held = false, nil; e != nil {
		t.held--
		d.result(t, *e)
	}
}

func (t *turn) takeStrays() []event {
	all := t.strays
	t.held -= len(all)
	t.strays = nil
	return all
}

// releaseAll ends the wait for a snapshot. The one result of an unknown call belongs to the one call without
// a result, unless that call waits for somebody.
func (d *Decoder) releaseAll(t *turn, waits bool) {
	for _, id := range t.doubts {
		d.release(t, t.calls[id])
	}
	t.doubts = nil
	open, strays := t.unfinished(), t.takeStrays()
	for _, e := range strays {
		if len(strays) == 1 && len(open) == 1 && !waits && t.calls[open[0]].sub == e.SubagentRunID && !t.input.has(t.calls[open[0]].name) {
			e.ToolCallID = open[0]
		}
		d.result(t, e)
	}
}

// unfinished are those of the newest calls that have no result.
func (t *turn) unfinished() []string {
	return slices.DeleteFunc(slices.Clone(t.order[max(0, len(t.order)-mostHeld):]), func(id string) bool { return t.calls[id].done })
}

// once is the input of a call whose whole input the stream has repeated.
func once(args string) string {
	in := json.NewDecoder(strings.NewReader(args))
	for first := raw(nil); ; {
		var next raw
		err := in.Decode(&next)
		switch {
		case errors.Is(err, io.EOF) && first != nil:
			return string(first)
		case err != nil || first != nil && !agentkit.SameJSON(first, next):
			return args
		}
		first = next
	}
}

// showSnapshot shows the messages of a run that has streamed nothing: those behind the last
// message of a person, without those that the turn knows from an earlier run.
func (d *Decoder) showSnapshot(t *turn) {
	d.results(t)
	all := t.snapshot
	if t.spoke {
		all = nil
	}
	for i, m := range slices.Backward(all) {
		if m != nil && m.Role == roleUser {
			all = all[i+1:]
			break
		}
	}
	for _, m := range all {
		if m == nil || t.said.knows(m) {
			continue
		}
		e := event{MessageID: m.ID, SubagentRunID: m.Sub, Content: m.Content, ToolCallID: m.ToolCallID, ParentMessageID: m.ID}
		switch v := map[string]*voice{roleReasoning: t.thought, roleAssistant: t.text}[m.Role]; {
		case v != nil:
			t.say(v, e, plain(m.Content))
			t.hush(v, e)
		case m.Role == roleTool:
			d.result(t, e)
		}
		for _, c := range m.Calls {
			e.ToolCallID, e.ToolCallName, e.Delta = c.ID, c.Function.Name, encode(c.Function.Arguments)
			d.callArgs(t, e)
			d.whole(t, c.ID)
		}
	}
	t.snapshot, t.named, t.spoke = nil, nil, false
}
