package uiendpoint

import (
	"cmp"
	"maps"

	"github.com/tributary-dev/tributary/trace"
	"github.com/tributary-dev/tributary/uistream"
)

// part is a text, or a reasoning, that a stream has open.
type part struct {
	thought bool
	key     string // "" until it has words
	keys    uistream.Keys
	late    uistream.Keys // keys that came with the words
}

// call is a tool call of the turn.
type call struct {
	id, name string
	form     uistream.Form
	step     int
	whole    bool // the input is there
	done     bool // so is the output
}

// writer puts what an endpoint says on record.
type writer struct {
	*Decoder
	b      *trace.Builder
	recall bool // it hears what is on record already
}

// say keeps a chunk for the message that the endpoint gets back. A chunk that makes no sense
// there is on record all the same.
func (w writer) say(c uistream.Chunk) { _ = w.message.Add(c) }

// beyond puts on record what the trace has no word for.
func (w writer) beyond(c uistream.Chunk) {
	if d, some := uistream.Beyond(c); some {
		w.b.Emit(d)
	}
}

func (w writer) chunk(c uistream.Chunk) {
	bare, keys := c, uistream.Keys(nil)
	if e, is := c.(uistream.Extended); is {
		bare, keys = e.Chunk, e.Keys
	}
	if w.ofPart(bare, keys) || w.ofCall(c) {
		return
	}
	switch p := bare.(type) { //nolint:gochecksumtype // those of parts and calls are done
	case uistream.Start:
		w.start(p, keys)
	case uistream.Finish:
		w.reason, w.finished = p.Reason, true
		w.metadata(p.Metadata)
	case uistream.Error:
		w.end(trace.Stop{Reason: "error", Outcome: trace.OutcomeFailed, Error: cmp.Or(p.ErrorText, "The endpoint failed without a word.")})
	case uistream.Abort:
		w.end(trace.Stop{Reason: cmp.Or(p.Reason, "aborted"), Outcome: trace.OutcomeCanceled})
	case uistream.FinishStep: // the next step ends this one: late outputs still belong to it
		w.closeParts()
	default:
		if w.place.fresh(bare.Type()) {
			w.joins = 0
			if bare.Type() == "reset-step" {
				if !w.filled { // there is nothing to begin once more
					return
				}
				w.reset()
			}
			w.say(c)
			w.whole(c, bare)
		}
	}
}

// whole puts a chunk on record that stands for itself.
func (w writer) whole(c, bare uistream.Chunk) {
	if d, is := bare.(uistream.Data); !is || !d.Transient {
		w.filled = w.filled || bare.Type() != "message-metadata"
	}
	w.beyond(c)
	switch p := bare.(type) { //nolint:gochecksumtype // Beyond has all of the others
	case uistream.StartStep:
		w.steps++
		w.filled = false
		w.b.StepStart(trace.Step{Phase: trace.PhaseStart})
	case uistream.SourceURL:
		w.b.Emit(trace.Source{SourceID: p.SourceID, URL: p.URL, Title: p.Title})
	case uistream.SourceDocument:
		w.b.Emit(trace.Source{SourceID: p.SourceID, MediaType: p.MediaType, Title: p.Title, Filename: p.Filename})
	case uistream.File:
		w.b.Emit(trace.File{URL: p.URL, MediaType: p.MediaType})
	case uistream.Data:
		if uistream.Reserved(p.Name) {
			p.Name += "-"
		}
		w.b.Emit(trace.Data{Name: p.Name, ID: p.ID, Value: p.Value, Transient: p.Transient})
	}
}

// start names the message; a message that is gone on with keeps its name.
func (w writer) start(p uistream.Start, keys uistream.Keys) {
	if w.id == "" && !w.recall {
		w.name(p.MessageID)
	}
	w.metadata(keys["messageMetadata"])
}

func (w writer) name(id string) {
	w.id = cmp.Or(id, w.b.Turn())
	w.beyond(uistream.Start{MessageID: w.id})
}

// metadata merges metadata into that of the message. To merge the same again changes nothing.
func (w writer) metadata(value []byte) {
	if len(value) > 0 && string(value) != "null" {
		c := uistream.Other{Name: "message-metadata", Keys: uistream.Keys{"messageMetadata": value}}
		w.say(c)
		w.beyond(c)
	}
}

// end ends the turn by what the endpoint itself says.
func (w writer) end(s trace.Stop) {
	w.closeParts()
	w.phase = over
	w.b.End(s)
}

// reset begins the step once more. The calls of the failed try are over.
func (w writer) reset() {
	w.closeParts()
	w.filled = false
	for _, c := range w.order {
		if c.step == w.steps && !c.done {
			c.whole, c.done = true, true
			w.b.ToolResult(trace.ToolResult{ToolCallID: c.id, Status: trace.ToolCanceled, Error: "The endpoint began the step once more."})
		}
	}
}

// ofPart takes a chunk of a text or of a reasoning.
func (w writer) ofPart(bare uistream.Chunk, keys uistream.Keys) bool {
	switch c := bare.(type) { //nolint:gochecksumtype // the others are not of a part
	case uistream.TextStart:
		w.begins(c.ID, false, keys)
	case uistream.ReasoningStart:
		w.begins(c.ID, true, keys)
	case uistream.TextDelta:
		w.grows(c.ID, c.Delta, false, keys)
	case uistream.ReasoningDelta:
		w.grows(c.ID, c.Delta, true, keys)
	case uistream.TextEnd:
		w.ends(named(c.ID, false), keys)
	case uistream.ReasoningEnd:
		w.ends(named(c.ID, true), keys)
	default:
		return false
	}
	return true
}

func named(id string, thought bool) string {
	if thought {
		return "thought " + id
	}
	return "text " + id
}

// begins opens a part. An open part of the same id ends, as no client adds to it any more.
func (w writer) begins(id string, thought bool, keys uistream.Keys) *part {
	w.ends(named(id, thought), nil)
	p := &part{thought: thought, keys: keys}
	w.open[named(id, thought)] = p
	return p
}

func (w writer) grows(id, delta string, thought bool, keys uistream.Keys) {
	p := w.open[named(id, thought)]
	if p == nil {
		p = w.begins(id, thought, nil)
	}
	if len(keys) > 0 {
		p.late = keys
	}
	if delta == "" {
		return
	}
	if p.key == "" {
		w.show(p, id)
	}
	n := w.place.advance(p.key, len(delta))
	if n == 0 {
		return
	}
	w.joins, w.filled = 0, true
	if delta = delta[len(delta)-n:]; thought {
		w.b.ThoughtDelta(p.key, delta)
		w.say(uistream.ReasoningDelta{ID: p.key, Delta: delta})
	} else {
		w.b.MessageDelta(p.key, delta)
		w.say(uistream.TextDelta{ID: p.key, Delta: delta})
	}
}

// show gives a part its key, and puts its beginning on record if it is new.
func (w writer) show(p *part, id string) {
	sort := "text"
	if p.thought {
		sort = "thought"
	}
	key, fresh := w.place.next(sort)
	if w.recall {
		w.place.names[key] = id
	}
	p.key = cmp.Or(w.place.names[key], key)
	if !fresh {
		return
	}
	start := uistream.Chunk(uistream.TextStart{ID: p.key})
	if p.thought {
		start = uistream.ReasoningStart{ID: p.key}
	}
	w.both(start, p.keys)
}

// both says a chunk with keys in the message, and puts the keys on record.
func (w writer) both(c uistream.Chunk, keys uistream.Keys) {
	if len(keys) > 0 {
		c = uistream.Extended{Chunk: c, Keys: keys}
	}
	w.say(c)
	w.beyond(c)
}

func (w writer) ends(name string, keys uistream.Keys) {
	p := w.open[name]
	if p == nil {
		return
	}
	delete(w.open, name)
	late := maps.Clone(p.late)
	for k, v := range keys {
		late = late.With(k, v)
	}
	switch {
	case p.key == "": // it has no words
		for k, v := range p.keys {
			if _, is := late[k]; !is {
				late = late.With(k, v)
			}
		}
		if len(late) > 0 && w.place.fresh("empty") {
			w.filled = true
			w.both(uistream.Empty(p.thought, late), nil)
		}
	case !w.place.fresh(p.key + " ended"):
	case p.thought:
		w.both(uistream.ReasoningEnd{ID: p.key}, late)
		w.b.ThoughtEnd(p.key, "")
	default:
		w.both(uistream.TextEnd{ID: p.key}, late)
		w.b.MessageEnd(p.key)
	}
}

func (w writer) closeParts() {
	for name := range w.open {
		w.ends(name, nil)
	}
}
