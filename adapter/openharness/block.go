package openharness

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"

	"github.com/tributary-dev/tributary/agent/agentkit"
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

	parts   int
	key     string          // of the newest part, unless something else has come since
	thought bool            // the part is a thought
	deltas  map[bool][]byte // of texts and of thoughts, whose full text may still come
}

func (r *run) voice(thought bool) agentkit.Voice { return agentkit.VoiceOf(r.t.b, thought) }

// part returns the key of the part that is written. A part that an earlier process has begun
// repeats what is on record.
func (r *run) part(thought bool) string {
	r.t.survived()
	r.spoken = r.spoken || !thought
	if r.key != "" && r.thought == thought {
		return r.key
	}
	r.close()
	r.parts++
	r.key, r.thought = fmt.Sprintf("%s-%d", r.name, r.parts), thought
	if on := &r.t.earlier; len(on.Parts) > 0 {
		r.voice(thought).Repeats(r.key, on.Parts[0])
		on.Parts = on.Parts[1:]
	}
	return r.key
}

// delta adds to a text.
func (r *run) delta(thought bool, text string) {
	if text == "" {
		return
	}
	r.deltas[thought] = append(r.deltas[thought], text...)
	r.voice(thought).Delta(r.part(thought), text)
}

// whole takes a full text. Most of them repeat what deltas have brought, sometimes late, and
// sometimes in several parts. Without deltas, the full text is all there is.
func (r *run) whole(thought bool, full string) {
	if full == "" {
		return
	}
	w, deltas := r.voice(thought), r.deltas[thought]
	if at := bytes.Index(deltas, []byte(full)); at >= 0 {
		deltas = deltas[at+len(full):]
		if r.deltas[thought] = deltas; len(deltas) == 0 && r.key != "" && r.thought == thought {
			w.End(r.key, "")
		}
		return
	}
	switch more, goesOn := strings.CutPrefix(full, string(deltas)); {
	case len(deltas) == 0:
		w.Whole(r.part(thought), full)
	case goesOn:
		r.delta(thought, more)
		w.End(r.key, "")
	default: // deltas were lost
		r.close()
		w.Whole(r.part(thought), full)
	}
	r.deltas[thought] = nil
}

// close ends the text that is being written.
func (r *run) close() {
	if r.key != "" {
		r.voice(r.thought).End(r.key, "")
	}
	r.key = ""
}

// tool takes a call that comes together with its result, and without an id.
func (r *run) tool(name string, input, output raw, failed string) {
	r.t.survived()
	r.close()
	r.tools++
	id := fmt.Sprintf("%s-%d", r.name, r.tools)
	r.t.call(id, cmp.Or(name, "unknown"), input)
	r.t.result(id, output, failed)
}
