package eventlog

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/tributary-dev/tributary/trace"
)

// This file tells a store that fails from an error about one session.

// ErrUnavailable is in the chain of each error of a Log that says that its store cannot be used
// now. Another try may succeed.
var ErrUnavailable = errors.New("the gateway cannot use its log now: try again in a moment; if that does not help, its disk or its database needs care")

// unavailable makes an error of the store ErrUnavailable, unless it is about one session, about the
// caller, or about a store that was closed.
func unavailable(err error) error {
	_, damaged := errors.AsType[*DamageError](err)
	_, refused := errors.AsType[refusedRead](err)
	switch {
	case err == nil, damaged, refused, errors.Is(err, ErrNoSession), errors.Is(err, ErrNotOwner), errors.Is(err, ErrClosed), errors.Is(err, context.Canceled):
		return err
	}
	return fmt.Errorf("%w: %w", ErrUnavailable, err)
}

// orUnavailable is unavailable for a call with a result.
func orUnavailable[T any](result T, err error) (T, error) { return result, unavailable(err) }

func eachUnavailable[T any](all iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for v, err := range all {
			if !yield(v, unavailable(err)) {
				return
			}
		}
	}
}

// After implements Store.
func (l *Log) After(ctx context.Context, session string, after uint64) iter.Seq2[trace.Record, error] {
	return eachUnavailable(l.Store.After(ctx, session, after))
}

// Durable implements Store.
func (l *Log) Durable(ctx context.Context, session string, after, until uint64) iter.Seq2[trace.Record, error] {
	return eachUnavailable(l.Store.Durable(ctx, session, after, until))
}

// Turns implements Store.
func (l *Log) Turns(ctx context.Context, session string, before uint64, limit int) ([]TurnMark, error) {
	return orUnavailable(l.Store.Turns(ctx, session, before, limit))
}

// Messages implements Store.
func (l *Log) Messages(ctx context.Context, session string) iter.Seq2[MessageMark, error] {
	return eachUnavailable(l.Store.Messages(ctx, session))
}

// Last implements Store.
func (l *Log) Last(ctx context.Context, session string) (uint64, error) {
	return orUnavailable(l.Store.Last(ctx, session))
}

// Put implements Registry.
func (l *Log) Put(ctx context.Context, e Entry) error { return unavailable(l.Store.Put(ctx, e)) }

// Get implements Registry.
func (l *Log) Get(ctx context.Context, session string) ([]byte, error) {
	return orUnavailable(l.Store.Get(ctx, session))
}

// List implements Registry.
func (l *Log) List(ctx context.Context, q Query) iter.Seq2[Entry, error] {
	return eachUnavailable(l.Store.List(ctx, q))
}

// Count implements Registry.
func (l *Log) Count(ctx context.Context) (int, error) {
	return orUnavailable(l.Store.Count(ctx))
}

// CountUnsent implements Exports.
func (l *Log) CountUnsent(ctx context.Context, exporter string, agents []string) (int, error) {
	return orUnavailable(l.Store.CountUnsent(ctx, exporter, agents))
}
