package access

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
)

// PassThrough is a bearer token that this gateway does not know. An agent's own server
// judges the token. A PassThrough is never printed.
type PassThrough struct{ bearer string }

// Bearer is the token itself, for the server that judges it.
func (t PassThrough) Bearer() string { return t.bearer }

// Digest identifies the token where the token itself must not be kept.
func (t PassThrough) Digest() [sha256.Size]byte { return sha256.Sum256([]byte(t.bearer)) }

// String keeps the token out of logs.
func (PassThrough) String() string { return "pass-through token" }

// GoString keeps the token out of logs that use %#v.
func (PassThrough) GoString() string { return "pass-through token" }

type passThroughKey struct{}

// WithPassThrough returns a context that carries a pass-through token.
func WithPassThrough(ctx context.Context, t PassThrough) context.Context {
	return context.WithValue(ctx, passThroughKey{}, t)
}

// PassThroughOf returns the pass-through token of the request that ctx belongs to, if it has
// one.
func PassThroughOf(ctx context.Context) (PassThrough, bool) {
	t, ok := ctx.Value(passThroughKey{}).(PassThrough)
	return t, ok
}

// NewPassThrough makes a PassThrough of a bearer token.
func NewPassThrough(bearer string) PassThrough { return PassThrough{bearer} }

// Known returns the holder of the token as a principal. side is the agent whose server
// judges the token, and by the name of the user there. The side's name is a prefix, so that
// its users have no names of users here. If the server has not named the user, the name is
// a hash of the token.
func (t PassThrough) Known(side, by string, role Role) Principal {
	id := PassThroughID(side, by)
	if !validID(id) || by == "" {
		digest := t.Digest()
		id = PassThroughID(side, "token-"+hex.EncodeToString(digest[:8]))
	}
	return Principal{ID: id, Name: id, Role: role}
}

// PassThroughID is the principal here of a user of another side.
func PassThroughID(side, by string) string { return side + ":" + by }
