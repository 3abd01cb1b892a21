package openharness

import (
	"fmt"
	"slices"
	"strings"
)

// run is one run of one node. Its texts and thoughts come one after another.
type run struct {
	t      *turn
	name   string
	model  string
	busy   bool // an agent is at work in it
	spoken bool // there was a text since the agent began
	tools  int
	called string // the newest call
	blocks int
	last   *block   // the newest, unless something else has come since
	open   []*block // whose full text may still come
}

// block is a text, or a thought.
type block struct {
	key     string
	thought bool
	text    strings.Builder
	ended   bool
	left    bool // some of the text is on record since an earlier process
}

// delta adds to a text.
func (r *run) delta(thought bool, delta string) {
	if delta == "" {
		return
	}
	r.t.survived()
	r.spoken = r.spoken || !thought
	b := r.last
	if b == nil || b.ended || b.thought != thought {
		b = r.begin(thought)
	}
	b.text.WriteString(delta)
	switch {
	case b.left && thought:
		r.t.b.ThoughtSnapshot(b.key, b.text.String())
	case b.left:
		r.t.b.MessageSnapshot(b.key, b.text.String())
	case thought:
		r.t.b.ThoughtDelta(b.key, delta)
	default:
		r.t.b.MessageDelta(b.key, delta)
	}
}

func (r *run) begin(thought bool) *block {
	r.close()
	r.blocks++
	r.last = &block{key: fmt.Sprintf("%s-%d", r.name, r.blocks), thought: thought}
	if on := &r.t.left; len(on.Parts) > 0 {
		r.last.key, r.last.left = on.Parts[0], true
		on.Parts = on.Parts[1:]
	}
	const most = 100
	r.open = append(r.open[max(0, len(r.open)-most):], r.last)
	return r.last
}

// close ends the text that is being written.
func (r *run) close() {
	b := r.last
	if r.last = nil; b == nil || b.ended {
		return
	}
	b.ended = true
	if b.thought {
		r.t.b.ThoughtEnd(b.key, "")
	} else {
		r.t.b.MessageEnd(b.key)
	}
}

// whole takes a full text. Most of them repeat what deltas have brought, sometimes late.
// Without deltas, the full text is all there is.
func (r *run) whole(thought bool, full string) {
	if full == "" {
		return
	}
	r.t.survived()
	r.spoken = r.spoken || !thought
	if r.repeats(thought, full) {
		return
	}
	b := r.last
	if b == nil || b.thought != thought || !strings.HasPrefix(full, b.text.String()) {
		b = r.begin(thought) // also after deltas that were lost
	}
	b.text.Reset()
	b.text.WriteString(full)
	b.ended = true
	if thought {
		r.t.b.Thought(b.key, full, "")
	} else {
		r.t.b.Message(b.key, full)
	}
	r.forget(b)
}

// repeats reports whether a full text is that of the open blocks: of one, or of several
// together, where something else came in between.
func (r *run) repeats(thought bool, full string) bool {
	var all string
	var kind []*block
	for _, b := range slices.Backward(r.open) {
		if b.thought != thought {
			continue
		}
		kind, all = append(kind, b), b.text.String()+all
		if b.text.String() == full {
			kind, all = []*block{b}, full
			break
		}
	}
	if all != full {
		return false
	}
	for _, b := range kind {
		if r.last == b && !b.ended {
			r.close()
			r.last = b
		}
		r.forget(b)
	}
	return true
}

func (r *run) forget(b *block) {
	r.open = slices.DeleteFunc(r.open, func(o *block) bool { return o == b })
}

// tool takes a call that comes together with its result, and without an id.
func (r *run) tool(name string, input, output raw, failed string) {
	r.t.survived()
	r.close()
	r.tools++
	id := fmt.Sprintf("%s-%d", r.name, r.tools)
	if name == "" {
		name = "unknown"
	}
	r.t.call(id, name, input)
	r.t.result(id, output, failed)
}
