package eventlog

import "context"

// This file bounds the pace of reads.

// Pace bounds the reads of a store that serve one request. Its methods are called by one
// goroutine at a time.
type Pace interface {
	// Reads is called before a store reads records from its database. Its error ends the
	// reading. Records in the store's memory are read without it.
	Reads() error
	// Waits is called when a reader has yielded all that is on record, before it waits for
	// more.
	Waits()
}

type paceKey struct{}

// WithPace lets p bound the reads that are made with the context.
func WithPace(ctx context.Context, p Pace) context.Context {
	return context.WithValue(ctx, paceKey{}, p)
}

// free is the pace of readers without one.
type free struct{}

func (free) Reads() error { return nil }
func (free) Waits()       {}

// marked is a Pace whose errors say that they are no errors of a store.
type marked struct{ Pace }

func (m marked) Reads() error {
	if err := m.Pace.Reads(); err != nil {
		return refusedRead{err}
	}
	return nil
}

type refusedRead struct{ error }

func (e refusedRead) Unwrap() error { return e.error }

// PaceOf is the pace of a context. The pace of a context without one has no bound.
func PaceOf(ctx context.Context) Pace {
	if p, is := ctx.Value(paceKey{}).(Pace); is {
		return marked{p}
	}
	return free{}
}
