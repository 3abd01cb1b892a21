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

// BreakSubscription makes a subscription panic at its next record.
func BreakSubscription(bc *Streams, sub *Subscription) {
	sub.encoder = newEncoder(Options{}, bc.framing)
	sub.translation = (*Translator)(nil)
}
