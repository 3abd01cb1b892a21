package sqllog

import (
	"sort"
	"strconv"
	"strings"

	"github.com/tributary-dev/tributary/trace"
)

// partKey names a part of a turn.
type partKey struct{ turn, name string }

// part is a part that is still being written.
type part struct {
	event trace.Event // the newest ephemeral one, without its text
	first uint64      // an ended part may have had the same name
	// folded is the text of deltas that the live buffer no longer holds one by one. output is the newest of the outputs.
	folded strings.Builder
	ends   []deltaEnd
	output trace.Record
}

// deltaEnd is where a delta ends in the folded text.
type deltaEnd struct {
	seq uint64
	end int
}

// effect is what a payload does to a part.
type effect uint8

const (
	none     effect = iota
	grows           // by a text
	replaces        // what was there
	ends
)

// effectOf names the part that a payload is about, and tells what it does to it, and the
// text that it adds.
func effectOf(p trace.Payload) (name string, does effect, text string) {
	switch p := p.(type) {
	case trace.MessageDelta:
		return "text " + p.Part, grows, p.Delta
	case trace.Message:
		return "text " + p.Part, ends, ""
	case trace.ThoughtDelta:
		return "thought " + p.Part, grows, p.Delta
	case trace.Thought:
		return "thought " + p.Part, ends, ""
	case trace.ToolCallDelta:
		return "input " + p.ToolCallID, grows, p.Delta
	case trace.ToolCall:
		return "input " + p.ToolCallID, ends, ""
	case trace.ToolResultProgress:
		return "output " + p.ToolCallID, replaces, ""
	case trace.ToolResult:
		return "output " + p.ToolCallID, ends, ""
	case trace.Prompt, trace.Reply, trace.MessageStart, trace.ThoughtStart, trace.ToolCallStart, trace.PermissionRequest, trace.PermissionResponse,
		trace.Question, trace.Answer, trace.Pause, trace.Step, trace.Usage, trace.Plan, trace.FileChange, trace.Source, trace.File, trace.Data,
		trace.Rewind, trace.Error, trace.Status, trace.Stop, trace.Unknown: // are about no part
	}
	return "", none, ""
}

// size is how many bytes the part holds of what the live buffer no longer holds.
func (p *part) size() int {
	const end = 16
	n := p.folded.Cap() + end*cap(p.ends)
	if p.output.Payload != nil {
		n += trace.ApproxSize(p.output.Payload)
	}
	return n
}

// fold takes over a record that leaves the live buffer.
func (p *part) fold(r trace.Record, does effect, text string) {
	if does == replaces {
		p.output = r
		return
	}
	p.folded.WriteString(text)
	p.ends = append(p.ends, deltaEnd{r.Seq, p.folded.Len()})
}

// unfold is the folded text behind a number as one delta, or the output.
func (p *part) unfold(session string, key partKey, after uint64) (r trace.Record, ok bool) {
	if p.output.Seq > after {
		return p.output, true
	}
	n := sort.Search(len(p.ends), func(i int) bool { return p.ends[i].seq > after })
	if n == len(p.ends) {
		return r, false
	}
	from, newest := 0, p.ends[len(p.ends)-1].seq
	if n > 0 {
		from = p.ends[n-1].end
	}
	e := p.event
	e.ID = "folded." + strconv.FormatUint(newest, 10)
	e.Payload = trace.WithDelta(p.event.Payload, p.folded.String()[from:])
	return trace.Record{Session: session, Turn: key.turn, Seq: newest, Event: e}, true
}
