package uiendpoint

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"github.com/tributary-dev/tributary/agent/remote"
	"github.com/tributary-dev/tributary/trace"
	"github.com/tributary-dev/tributary/uistream"
)

// place tells how far a message is on record, so that a stream that begins a run from its
// start once more adds only what is new. The counts are bytes of texts and of inputs, and
// other chunks by type and call.
type place struct {
	had map[string]int    // is on record
	now map[string]int    // the stream has said so far
	run map[string]int    // was said before this run
	ids map[string]string // of parts of an earlier process
}

func newPlace() place {
	return place{had: map[string]int{}, now: map[string]int{}, run: map[string]int{}, ids: map[string]string{}}
}

// advance counts n more of something and returns how many of them are new.
func (d *Decoder) advance(what string, n int) int {
	d.place.now[what] += n
	fresh := min(n, max(0, d.place.now[what]-d.place.had[what]))
	d.place.had[what] += fresh
	if fresh > 0 {
		d.idles = 0
	}
	return fresh
}

// fresh counts one more.
func (d *Decoder) fresh(what string) bool { return d.advance(what, 1) > 0 }

// part is a text, or a reasoning, that a stream has open.
type part struct {
	thought bool
	key     string // "" until it has words
	keys    uistream.Keys
	late    uistream.Keys // keys that came with the words
}

// says chooses the chunk of the part's sort, and adds keys.
func (p *part) says(text, thought uistream.Chunk, keys uistream.Keys) uistream.Chunk {
	if p.thought {
		text = thought
	}
	if len(keys) > 0 {
		return uistream.Extended{Chunk: text, Keys: keys}
	}
	return text
}

// take takes a chunk.
func (d *Decoder) take(c uistream.Chunk) {
	if f, known := d.forms[uistream.CallOf(c)]; known {
		c = withForm(c, f)
	}
	bare, keys := c, uistream.Keys(nil)
	if e, is := c.(uistream.Extended); is {
		bare, keys = e.Chunk, e.Keys
	}
	if _, begins := formOf(bare); begins && uistream.CallOf(bare) == "" {
		d.end(trace.Stop{Reason: "error", Outcome: trace.OutcomeFailed, Error: "The endpoint sent a chunk " + bare.Type() + " without a toolCallId."})
		return
	}
	if start, is := bare.(uistream.ReasoningStart); is && len(keys["delta"]) > 0 { // early releases of Laravel's package
		delta := uistream.ReasoningDelta{ID: start.ID}
		_ = json.Unmarshal(keys["delta"], &delta.Delta) // no text says nothing
		bare, keys = delta, nil
	}
	switch p := bare.(type) { //nolint:gochecksumtype // the others stand for themselves
	case uistream.Start: // a message that is gone on with keeps its name
		if d.id == "" && d.b != nil {
			d.name(p.MessageID)
		}
		d.metadata(keys["messageMetadata"])
	case uistream.Finish:
		d.reason, d.finished = p.Reason, true
		d.metadata(p.Metadata)
	case uistream.Error:
		d.end(trace.Stop{Reason: "error", Outcome: trace.OutcomeFailed, Class: remote.ClassOf(p.ErrorText), Error: cmp.Or(p.ErrorText, "The endpoint failed without a word.")})
	case uistream.Abort:
		d.end(trace.Stop{Reason: cmp.Or(p.Reason, "aborted"), Outcome: trace.OutcomeCanceled})
	case uistream.FinishStep: // the next step ends this one: late outputs still belong to it
		d.endParts()
	case uistream.TextStart:
		d.beginPart("text "+p.ID, false, keys)
	case uistream.ReasoningStart:
		d.beginPart("thought "+p.ID, true, keys)
	case uistream.TextDelta:
		d.grow("text "+p.ID, p.Delta, false, keys)
	case uistream.ReasoningDelta:
		d.grow("thought "+p.ID, p.Delta, true, keys)
	case uistream.TextEnd:
		d.endPart("text "+p.ID, keys)
	case uistream.ReasoningEnd:
		d.endPart("thought "+p.ID, keys)
	case uistream.ToolInputDelta:
		if _, begun := d.forms[p.ToolCallID]; !begun {
			d.take(uistream.ToolInputStart{ToolCallID: p.ToolCallID})
		}
		if n := d.advance("input "+p.ToolCallID, len(p.Delta)); n > 0 {
			p.Delta = p.Delta[len(p.Delta)-n:]
			d.put(p)
		}
	default:
		if d.fresh(counted(bare)) {
			d.put(c)
		}
	}
}

// counted is the name under which a chunk is counted.
func counted(c uistream.Chunk) string {
	name := c.Type() + " " + uistream.CallOf(c)
	switch p := c.(type) { //nolint:gochecksumtype // the others are kept
	case uistream.ToolOutputAvailable:
		name += fmt.Sprint(p.Preliminary)
	case uistream.Data:
		name += fmt.Sprint(p.Transient)
	}
	return name
}

// name names the message.
func (d *Decoder) name(id string) {
	d.id = cmp.Or(id, d.b.Turn())
	d.put(uistream.Start{MessageID: d.id})
}

// metadata merges metadata into that of the message. To merge the same again changes nothing.
func (d *Decoder) metadata(value []byte) {
	if len(value) > 0 && string(value) != "null" {
		d.put(uistream.Other{Name: "message-metadata", Keys: uistream.Keys{"messageMetadata": value}})
	}
}

// end ends the turn by what the endpoint itself says.
func (d *Decoder) end(s trace.Stop) {
	d.endParts()
	d.leave()
	if d.b != nil {
		d.b.End(s)
	}
}

// beginPart opens a part. An open part of the same id ends, as no client adds to it any more.
func (d *Decoder) beginPart(name string, thought bool, keys uistream.Keys) *part {
	d.endPart(name, nil)
	p := &part{thought: thought, keys: keys}
	d.open[name] = p
	if d.b != nil {
		d.b.Hold(partSize + len(name))
	}
	return p
}

func (d *Decoder) grow(name, delta string, thought bool, keys uistream.Keys) {
	p := d.open[name]
	if p == nil {
		p = d.beginPart(name, thought, nil)
	}
	if len(keys) > 0 {
		p.late = keys
	}
	if delta != "" && p.key == "" {
		sort := map[bool]string{false: "text", true: "thought"}[thought]
		fresh := d.fresh(sort)
		p.key = fmt.Sprintf("%s-%d", sort, d.place.now[sort])
		if d.b == nil {
			_, id, _ := strings.Cut(name, " ")
			d.place.ids[p.key] = id
		}
		p.key = cmp.Or(d.place.ids[p.key], p.key)
		if fresh {
			d.put(p.says(uistream.TextStart{ID: p.key}, uistream.ReasoningStart{ID: p.key}, p.keys))
		}
	}
	if n := d.advance(p.key, len(delta)); n > 0 {
		delta = delta[len(delta)-n:]
		d.put(p.says(uistream.TextDelta{ID: p.key, Delta: delta}, uistream.ReasoningDelta{ID: p.key, Delta: delta}, nil))
	}
}

func (d *Decoder) endPart(name string, keys uistream.Keys) {
	p := d.open[name]
	if p == nil {
		return
	}
	delete(d.open, name)
	late := uistream.Keys{}
	if p.key == "" { // it has no words
		maps.Copy(late, p.keys)
	}
	maps.Copy(late, p.late)
	maps.Copy(late, keys)
	switch {
	case p.key != "" && d.fresh(p.key+" ended"):
		d.put(p.says(uistream.TextEnd{ID: p.key}, uistream.ReasoningEnd{ID: p.key}, late))
	case p.key == "" && len(late) > 0 && d.fresh("empty"):
		d.put(emptyPart(p.thought, late))
	}
}

func (d *Decoder) endParts() {
	for name := range d.open {
		d.endPart(name, nil)
	}
}
