package uistream

import "github.com/tributary-dev/tributary/trace"

// Translation is a Translator, or the dialect of the options around one.
type Translation interface {
	Translate(r trace.Record) []Chunk
	Unknown() int
}

// NewTranslation is for tests of both.
func NewTranslation(o Options) Translation {
	return newTranslation(o).(Translation) //nolint:forcetypeassert // both are
}

// CloneTranslation returns a copy that goes on from here.
func CloneTranslation(t Translation) Translation {
	return t.(translation).clone().(Translation) //nolint:forcetypeassert // both are
}

// Kept is how many bytes of all turns a Broadcaster keeps.
func (bc *Broadcaster) Kept() (bytes int) {
	bc.mu.Lock()
	defer bc.mu.Unlock()
	for _, b := range bc.buffers {
		b.mu.Lock()
		bytes += b.size
		b.mu.Unlock()
	}
	return bytes
}

// Break makes the encoder of a turn panic at its next record.
func (bc *Broadcaster) Break(key Key) {
	b := bc.acquire(key)
	defer bc.release(b)
	b.encoder.translation = (*Translator)(nil)
}
