package eventlog

import (
	"context"
	"iter"

	"github.com/tributary-dev/tributary/trace"
)

// This file bounds the pace of reads.

// Pace bounds the reads of a store that serve one request. Its methods are called by one
// goroutine at a time.
type Pace interface {
	// Reads is called before records are read from the store. Its error ends the reading.
	Reads() error
	// Waits is called when a reader has yielded all that is on record, before it waits for
	// more.
	Waits()
}

type paceKey struct{}

// WithPace lets p bound the reads of a [Log] that are made with the context.
func WithPace(ctx context.Context, p Pace) context.Context {
	return context.WithValue(ctx, paceKey{}, p)
}

// free is the pace of readers without one.
type free struct{}

func (free) Reads() error { return nil }
func (free) Waits()       {}

// PaceOf is the pace of a context. The pace of a context without one has no bound.
func PaceOf(ctx context.Context) Pace {
	if p, is := ctx.Value(paceKey{}).(Pace); is {
		return p
	}
	return free{}
}

// paced reads records from the store at the pace of the context.
func paced(ctx context.Context, records iter.Seq2[trace.Record, error]) iter.Seq2[trace.Record, error] {
	return func(yield func(trace.Record, error) bool) {
		if err := PaceOf(ctx).Reads(); err != nil {
			yield(trace.Record{}, err)
			return
		}
		records(yield)
	}
}
