package eventlog

import (
	"context"
	"errors"
	"iter"
	"math"
	"time"
)

// Shared is a Store that other gateways may write to.
type Shared interface {
	// Elsewhere yields the names of sessions whose entries other gateways have put or
	// removed. The first name is "": from then on the caller misses no change. The sequence
	// ends with ctx or with an error, and is nil if no other gateway can use the store.
	Elsewhere(ctx context.Context) iter.Seq2[string, error]
}

// Owner is a Shared store in which each session has one gateway that writes. The term counts the
// owners of a session: a gateway whose knowledge of a session is of one term knows what everybody
// has written before that term.
type Owner interface {
	Shared
	// Owned is the term under which this store owns the session, or 0. It reads memory only, and
	// counts as a use of the session. It is 0 also from the moment on at which another gateway may
	// take the session, because the lease was not renewed. A gateway that was judged dead before learns
	// it with its next renewal.
	Owned(session string) (term uint64)
	// Term is the term under which this store owns the session, or will own it with its next write.
	// It takes nothing. The error is ErrNotOwner if another gateway owns the session.
	Term(ctx context.Context, session string) (term uint64, err error)
	// GiveBack gives all sessions back that are not in use, and from now on each other one at its last use. A session with an
	// open turn is in use, unless it is named as left: its turns go on without this gateway, which writes nothing to it any more.
	GiveBack(left ...string)
	// LetGo gives one session back as soon as it is not in use.
	LetGo(session string)
}

// Gateway is a running gateway on the store's database.
type Gateway struct {
	ID       string // of the process: "name:process", as owners are called
	Name     string // of the gateway: stays the same over restarts
	Address  string // host:port of its cluster listener; "": it has none
	Key      []byte // SHA-256 of the public key (SPKI) of its cluster listener; nil: it has none
	Version  string // of the program
	Draining bool   // it takes no new sessions, and ends with its turns
}

// Neighbours is an Owner that knows the other gateways.
type Neighbours interface {
	Owner
	// Self is this gateway.
	Self() Gateway
	// Announce puts address, key and version on this gateway's row, so that others find it.
	Announce(ctx context.Context, address string, key []byte, version string) error
	// Gateways are those that run now, this one too, in the order of their names.
	Gateways(ctx context.Context) ([]Gateway, error)
	// OwnerOf is the running gateway that owns a session, false if none does: then any may take it.
	OwnerOf(ctx context.Context, session string) (Gateway, bool, error)
}

// DeathNotifier is an Owner that finds out by itself that other gateways have died.
type DeathNotifier interface {
	Owner
	// Died tells after this gateway, before all others, has found one dead. Its sessions have no owner any more.
	Died() <-chan struct{}
}

// Among is what a gateway knows of itself among those on its database.
type Among struct {
	Gateways int    // that run, this one too
	Owned    int    // sessions of this gateway
	Judges   bool   // this gateway may find others dead
	Died     uint64 // others that this gateway has found dead
	// Lease is for how long no other gateway can take a session of this one, if this one does not reach the database any more.
	// Zero or less: another one may have taken sessions. Without others: the longest Duration.
	Lease time.Duration
	// Outage is for how long turns still wait for the database.
	Outage time.Duration
}

// Member is a DeathNotifier that tells what it knows. It reads memory only.
type Member interface {
	DeathNotifier
	Among() Among
}

// Checked is a Store that asks its database from time to time whether it answers.
type Checked interface {
	// Reachable says in a sentence why the database could not be used when it was asked last, or nil.
	Reachable() error
	// Unusable is closed when the store must not go on, because what it knows does not fit its database. From then on
	// every change fails with ErrCommitsLost or ErrCopied, and Reachable returns that error.
	Unusable() <-chan struct{}
}

// Reasons why a store must not go on.
var (
	ErrCommitsLost = errors.New("the database lacks what this gateway has written and the database has confirmed, as after a fail-over to a server that did not have it yet: start the gateway again, and it goes on with what is there")
	ErrCopied      = errors.New("another gateway with the name of this one runs on the database, because one of their data directories is a copy of the other: give one of them an empty data directory of its own, and start it again")
)

// Unusable is that of the store, nil if the store is not Checked.
func (l *Log) Unusable() <-chan struct{} {
	if s, is := l.Store.(Checked); is {
		return s.Unusable()
	}
	return nil
}

// Reachable is that of the store, nil if the store is not Checked.
func (l *Log) Reachable() error {
	if s, is := l.Store.(Checked); is {
		return s.Reachable()
	}
	return nil
}

// Owned is that of the store, 0 if the store has no owners.
func (l *Log) Owned(session string) (term uint64) {
	if s, is := l.Store.(Owner); is {
		return s.Owned(session)
	}
	return 0
}

// Term is that of the store, 0 if the store has no owners.
func (l *Log) Term(ctx context.Context, session string) (term uint64, err error) {
	if s, is := l.Store.(Owner); is {
		return orUnavailable(s.Term(ctx, session))
	}
	return 0, nil
}

// GiveBack is that of the store, if the store has owners.
func (l *Log) GiveBack(left ...string) {
	if s, is := l.Store.(Owner); is {
		s.GiveBack(left...)
	}
}

// LetGo is that of the store, if the store has owners.
func (l *Log) LetGo(session string) {
	if s, is := l.Store.(Owner); is {
		s.LetGo(session)
	}
}

// Elsewhere is that of the store, nil if the store is not Shared.
func (l *Log) Elsewhere(ctx context.Context) iter.Seq2[string, error] {
	if s, is := l.Store.(Shared); is {
		return s.Elsewhere(ctx)
	}
	return nil
}

// Self is that of the store, the zero Gateway if the store knows no others.
func (l *Log) Self() Gateway {
	if s, is := l.Store.(Neighbours); is {
		return s.Self()
	}
	return Gateway{}
}

// Announce is that of the store, if the store knows other gateways.
func (l *Log) Announce(ctx context.Context, address string, key []byte, version string) error {
	if s, is := l.Store.(Neighbours); is {
		return unavailable(s.Announce(ctx, address, key, version))
	}
	return nil
}

// Gateways are those of the store, none if the store knows no others.
func (l *Log) Gateways(ctx context.Context) ([]Gateway, error) {
	if s, is := l.Store.(Neighbours); is {
		return orUnavailable(s.Gateways(ctx))
	}
	return nil, nil
}

// OwnerOf is that of the store, false if the store knows no other gateways.
func (l *Log) OwnerOf(ctx context.Context, session string) (Gateway, bool, error) {
	if s, is := l.Store.(Neighbours); is {
		g, owned, err := s.OwnerOf(ctx, session)
		return g, owned, unavailable(err)
	}
	return Gateway{}, false, nil
}

// Died is that of the store, nil if the store tells of no deaths.
func (l *Log) Died() <-chan struct{} {
	if s, is := l.Store.(DeathNotifier); is {
		return s.Died()
	}
	return nil
}

// Among is that of the store. A store that knows no others is alone.
func (l *Log) Among() Among {
	if s, is := l.Store.(Member); is {
		return s.Among()
	}
	return Among{Gateways: 1, Judges: true, Lease: math.MaxInt64, Outage: math.MaxInt64}
}
