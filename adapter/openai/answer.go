package openai

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/tributary-dev/tributary/agent/toolloop"
	"github.com/tributary-dev/tributary/trace"
)

// answer is what a model says in one call. It goes to the Builder as it comes, and is kept.
type answer struct {
	b       *trace.Builder
	step    int
	said    toolloop.Message
	usage   trace.Usage
	finish  string // in the endpoint's words
	refused bool
	spoken  bool       // something is on record, so the call cannot be tried again
	open    trace.Kind // of the part that is open; "" if none is
	calls   []*growing
}

// partKey names each part: a part that has ended frees its name.
const partKey = "part"

func (a *answer) text(delta string) {
	if delta != "" {
		a.begin(trace.KindMessage)
		a.said.Text += delta
		a.b.MessageDelta(partKey, delta)
	}
}

func (a *answer) refusal(delta string) {
	a.refused = a.refused || delta != ""
	a.text(delta)
}

func (a *answer) thought(delta string) {
	if delta != "" {
		a.begin(trace.KindThought)
		a.said.Thoughts[len(a.said.Thoughts)-1].Text += delta
		a.b.ThoughtDelta(partKey, delta)
	}
}

// begin makes sure that a part of the kind is open.
func (a *answer) begin(kind trace.Kind) {
	if a.open == kind {
		return
	}
	a.endPart("")
	a.open, a.spoken = kind, true
	if kind == trace.KindThought {
		a.said.Thoughts = append(a.said.Thoughts, toolloop.Thought{})
	}
}

// endPart ends the open part. The signature is that of reasoning, which the endpoint may
// keep to itself.
func (a *answer) endPart(signature string) {
	switch {
	case a.open == trace.KindMessage:
		a.b.MessageEnd(partKey)
	case a.open == trace.KindThought:
		a.b.ThoughtEnd(partKey, signature)
		a.said.Thoughts[len(a.said.Thoughts)-1].Signature = signature
	case signature != "":
		a.b.Thought(partKey, "", signature)
		a.said.Thoughts = append(a.said.Thoughts, toolloop.Thought{Signature: signature})
	}
	a.open = ""
}

// close ends what is open.
func (a *answer) close() {
	a.endPart("")
	for _, g := range a.calls {
		if g.ID != "" {
			a.said.Calls = append(a.said.Calls, g.Call)
		}
	}
}

// finished says why the model ended its answer.
func (a *answer) finished() toolloop.Finish {
	switch {
	case a.refused:
		return toolloop.Refused
	case a.finish == "length", a.finish == "max_output_tokens":
		return toolloop.Length
	case a.finish == "content_filter":
		return toolloop.Filtered
	default:
		return toolloop.Done
	}
}

// growing is a call that is being written. The call has an id once it has a name.
type growing struct {
	item, serverID string
	toolloop.Call
}

// piece is a piece of a call.
type piece struct {
	item            string // what pieces of one call have in common
	id, name, input string
}

// call puts the pieces of calls together. Some servers send no ids, or one item for every
// call.
func (a *answer) call(p piece) {
	g := a.latest(p.item)
	if g == nil || g.isOther(p) {
		g = &growing{item: p.item}
		a.calls = append(a.calls, g)
	}
	g.serverID = cmp.Or(g.serverID, p.id)
	g.Name = cmp.Or(g.Name, p.name)
	g.Input = append(g.Input, p.input...)
	if g.Name == "" {
		return
	}
	if g.ID == "" {
		g.ID, p.input = a.id(g), string(g.Input)
		a.endPart("")
		a.spoken = true
		a.b.ToolCallStart(trace.ToolCallStart{ToolCallID: g.ID, RawName: g.Name})
	}
	if p.input != "" {
		a.b.ToolCallDelta(g.ID, p.input)
	}
}

func (a *answer) latest(item string) *growing {
	for _, g := range slices.Backward(a.calls) {
		if g.item == item {
			return g
		}
	}
	return nil
}

// isOther reports whether a piece begins another call.
func (g *growing) isOther(p piece) bool {
	switch {
	case p.id != "" && g.serverID != "":
		return p.id != g.serverID
	case p.name == "" || g.Name == "":
		return false
	default:
		return p.name != g.Name || json.Valid(bytes.TrimSpace(g.Input))
	}
}

// id is the server's id of a call, if no other call has it.
func (a *answer) id(g *growing) string {
	taken := slices.ContainsFunc(a.calls, func(other *growing) bool { return other.ID == g.serverID && other != g })
	if g.serverID == "" || taken {
		return fmt.Sprintf("call_%s_%d_%d", a.b.Turn(), a.step, len(a.calls))
	}
	return g.serverID
}
