package eventlog

import (
	"context"
	"iter"
)

// Shared is a Store that other gateways may write to.
type Shared interface {
	// Elsewhere yields the names of sessions whose entries other gateways have put or
	// removed. It yields "" first: from then on no change is missed. It ends with ctx, or
	// with an error. It is nil if no other gateway can use the store.
	Elsewhere(ctx context.Context) iter.Seq2[string, error]
}

// Elsewhere is that of the store, nil if the store is not Shared.
func (l *Log) Elsewhere(ctx context.Context) iter.Seq2[string, error] {
	if s, is := l.Store.(Shared); is {
		return s.Elsewhere(ctx)
	}
	return nil
}
