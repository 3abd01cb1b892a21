package agentkit

import "github.com/tributary-dev/tributary/trace"

// entrySize is about how many bytes an entry of a map costs beside its texts.
const entrySize = 128

// CountKept counts an entry that a Decoder keeps until the turn ends, though it puts nothing on record.
// Else an agent could fill the memory, since the records alone have a bound.
func CountKept[T ~string | ~[]byte](b *trace.Builder, texts ...T) {
	size := entrySize
	for _, text := range texts {
		size += len(text)
	}
	b.Hold(size)
}

// boundedMapBytes bounds in bytes what a BoundedMap keeps.
const boundedMapBytes = 4 << 20

// BoundedMap keeps texts by an agent's own ids for the life of a session. Beyond its bound it forgets
// them all, so an agent with a new id in each message costs no memory. Its zero value is empty.
type BoundedMap struct {
	texts map[string]string
	bytes int
}

// Put keeps a text.
func (r *BoundedMap) Put(id, text string) {
	cost := entrySize + len(id) + len(text)
	if was, known := r.texts[id]; known {
		r.bytes -= entrySize + len(id) + len(was)
	}
	if r.bytes += cost; r.texts == nil || r.bytes > boundedMapBytes {
		r.texts, r.bytes = map[string]string{}, cost
	}
	r.texts[id] = text
}

// Get returns the text of an id, or "".
func (r *BoundedMap) Get(id string) string { return r.texts[id] }
