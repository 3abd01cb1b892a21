package agentkit

import (
	"context"

	"github.com/tributary-dev/tributary/trace"
)

// Voice is how a Builder takes the texts of an agent, or its thoughts.
type Voice struct {
	Delta, Whole, Snapshot, Repeats func(key, text string)
	End                             func(key, signature string) // a text has no signature
}

// VoiceOf returns the Voice of a Builder for thoughts, or for texts.
func VoiceOf(b *trace.Builder, thoughts bool) Voice {
	if thoughts {
		return Voice{b.ThoughtDelta, func(key, text string) { b.Thought(key, text, "") }, b.ThoughtSnapshot, b.ThoughtRepeats, b.ThoughtEnd}
	}
	return Voice{b.MessageDelta, b.Message, b.MessageSnapshot, b.MessageRepeats, func(key, _ string) { b.MessageEnd(key) }}
}

// Nowhere returns a Builder that drops what it gets, for words that are not to be put on record.
func Nowhere() *trace.Builder {
	b := trace.NewBuilder(context.Background(), trace.Config{Append: func(context.Context, []trace.Event) error { return nil }})
	_ = b.Detach() // nothing was written
	return b
}
