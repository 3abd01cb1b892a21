package uistream

import (
	"context"
	"errors"
)

// This file says why a client lost its stream.

// Revocation is the cause of a context that ends a stream because its client has lost
// access. The gateway ended the stream, not the client.
type Revocation struct {
	// The client gets Code and Sentence.
	Code, Sentence string
	reason         string
}

func (r *Revocation) Error() string { return r.reason }

// ErrExpired ends the streams of a client whose token has expired, and ErrAccessRevoked
// those of a client that may no longer see the session.
var (
	ErrExpired       = &Revocation{"token_expired", "Your sign-in has expired: sign in again to see the rest of the answer.", "the client's token has expired"}
	ErrAccessRevoked = &Revocation{"foreign_session", "This session is not yours any more.", "the client may see the session no more"}
)

// Revoked reports whether, and why, the gateway has ended the context of a client's
// stream.
func Revoked(ctx context.Context) (*Revocation, bool) {
	return errors.AsType[*Revocation](context.Cause(ctx))
}
