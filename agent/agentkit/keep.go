package agentkit

import "github.com/tributary-dev/tributary/trace"

// entrySize is about how many bytes an entry of a map costs beside its texts.
const entrySize = 128

// Keep counts an entry that a Decoder keeps until the turn ends, though it puts nothing on record.
// Else an agent could fill the memory, since the records alone have a bound.
func Keep[T ~string | ~[]byte](b *trace.Builder, texts ...T) {
	size := entrySize
	for _, text := range texts {
		size += len(text)
	}
	b.Hold(size)
}

// mostRecalled bounds in bytes what a Recall keeps.
const mostRecalled = 4 << 20

// Recall keeps texts by an agent's own ids for the life of a session. Beyond its bound it forgets
// them all, so an agent with a new id in each message costs no memory. Its zero value is empty.
type Recall struct {
	texts map[string]string
	bytes int
}

// Put keeps a text.
func (r *Recall) Put(id, text string) {
	cost := entrySize + len(id) + len(text)
	if was, known := r.texts[id]; known {
		r.bytes -= entrySize + len(id) + len(was)
	}
	if r.bytes += cost; r.texts == nil || r.bytes > mostRecalled {
		r.texts, r.bytes = map[string]string{}, cost
	}
	r.texts[id] = text
}

// Get returns the text of an id, or "".
func (r *Recall) Get(id string) string { return r.texts[id] }
