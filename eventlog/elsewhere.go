package eventlog

import (
	"context"
	"iter"
)

// Shared is a Store that other gateways may write to.
type Shared interface {
	// Elsewhere yields the names of sessions whose entries other gateways have put or
	// removed. The first name is "": from then on the caller misses no change. The sequence
	// ends with ctx or with an error, and is nil if no other gateway can use the store.
	Elsewhere(ctx context.Context) iter.Seq2[string, error]
}

// Elsewhere is that of the store, nil if the store is not Shared.
func (l *Log) Elsewhere(ctx context.Context) iter.Seq2[string, error] {
	if s, is := l.Store.(Shared); is {
		return s.Elsewhere(ctx)
	}
	return nil
}
