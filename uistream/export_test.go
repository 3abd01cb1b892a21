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
