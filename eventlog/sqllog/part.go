package sqllog

import (
	"slices"
	"strconv"
	"strings"

	"github.com/tributary-dev/tributary/trace"
)

// chunkBytes is how much text of a part one checkpoint holds. A longer part has
// several, so that a checkpoint costs the same however long its part is: less than
// a page of the database.
const chunkBytes = 2 << 10

// largestChunk bounds a chunk that grows between two checkpoints.
const largestChunk = 1 << 20

// partKey names a part of a turn.
type partKey struct{ turn, name string }

// part is a part that is still being written.
type part struct {
	event trace.Event // the newest ephemeral one, without its text
	seq   uint64
	// text is what the part grew by since the chunk began; progress replaces it.
	text  strings.Builder
	last  trace.Payload // of a part that is replaced, not grown
	chunk int
	dirty bool // text that no checkpoint has
	// full are chunks that have ended and are not written yet, or not for sure.
	full []chunk
	// writing: the writer has checkpoints of the part. The next ones wait, so that a slow
	// database does not have the text in memory many times.
	writing bool
	saved   bool // a checkpoint is there, or on its way
	// ending: the durable record that ends the part is being written.
	ending bool
	// folded is the text of deltas that the live buffer no longer holds one by one.
	folded strings.Builder
	ends   []deltaEnd
}

// chunk is a piece of a part's text that grows no more.
type chunk struct {
	number int
	seq    uint64
	text   string
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

// grow adds an ephemeral record to its part.
func (p *part) grow(r trace.Record, does effect, more string) {
	if p.text.Len()+len(more) > largestChunk && p.text.Len() > 0 && does == grows {
		p.endChunk()
	}
	p.event, p.seq, p.dirty = r.Event, r.Seq, true
	if does == replaces {
		p.last = r.Payload
		return
	}
	p.event.Payload = trace.WithDelta(r.Payload, "")
	p.text.WriteString(more)
}

// endChunk ends the chunk that grows. The next text begins another one.
func (p *part) endChunk() {
	p.full = append(p.full, chunk{p.chunk, p.seq, p.text.String()})
	p.text.Reset()
	p.chunk++
}

// checkpoint is a row of the table.
type checkpoint struct {
	key   partKey
	chunk int
	seq   uint64
	body  []byte
	full  *chunk // what the row has, if it is the last row of the chunk
}

// checkpoints makes the rows of what the part's chunks have now.
func (p *part) checkpoints(session string, key partKey) (rows []checkpoint, err error) {
	add := func(c chunk, payload trace.Payload, full *chunk) {
		r := trace.Record{Session: session, Turn: key.turn, Seq: c.seq, Event: p.event}
		r.Payload = payload
		body, wrong := r.AppendJSON(nil)
		if wrong != nil {
			err = wrong
			return
		}
		rows = append(rows, checkpoint{key: key, chunk: c.number, seq: c.seq, body: body, full: full})
	}
	if p.last == nil && p.text.Len() >= chunkBytes {
		p.endChunk()
	}
	for _, c := range p.full {
		add(c, trace.WithDelta(p.event.Payload, c.text), &c)
	}
	switch now := (chunk{number: p.chunk, seq: p.seq}); {
	case p.last != nil:
		add(now, p.last, nil)
	case p.text.Len() > 0:
		add(now, trace.WithDelta(p.event.Payload, p.text.String()), nil)
	}
	p.full, p.dirty, p.saved, p.writing = nil, false, true, rows != nil
	return rows, err
}

// written takes the outcome of a checkpoint. The rows of chunks that failed are written again.
func (p *part) written(c checkpoint, err error) {
	p.writing, p.dirty = false, p.dirty || err != nil
	if err != nil && c.full != nil {
		p.full = append(p.full, *c.full)
	}
}

// fold takes over the text of a delta that leaves the live buffer.
func (p *part) fold(seq uint64, text string) {
	p.folded.WriteString(text)
	p.ends = append(p.ends, deltaEnd{seq, p.folded.Len()})
}

// unfold is the folded text behind a number as one delta.
func (p *part) unfold(session string, key partKey, after uint64) (r trace.Record, ok bool) {
	if len(p.ends) == 0 || p.ends[len(p.ends)-1].seq <= after {
		return r, false
	}
	from, newest := 0, p.ends[len(p.ends)-1].seq
	for _, m := range slices.Backward(p.ends) {
		if m.seq <= after {
			from = m.end
			break
		}
	}
	e := p.event
	e.ID = "folded." + strconv.FormatUint(newest, 10)
	e.Payload = trace.WithDelta(p.event.Payload, p.folded.String()[from:])
	return trace.Record{Session: session, Turn: key.turn, Seq: newest, Event: e}, true
}
