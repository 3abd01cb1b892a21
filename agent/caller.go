package agent

import (
	"context"
	"errors"
	"log/slog"
)

// Caller holds what an agent that lives elsewhere needs of the sender of a prompt.
// A Caller is passed on. The trace gets only its Traceparent, and the log only the id in that.
type Caller struct {
	// Bearer is the sender's own token, where the other side checks it itself.
	Bearer string
	// Traceparent is the W3C Trace Context header of the request, or "". A header that
	// is not empty is well-formed and of version 00, so that it can be passed on as it
	// is.
	Traceparent string
}

// TraceID is the id of the trace that the request is part of, or "".
func (c Caller) TraceID() string {
	const from, to = len("00-"), len("00-") + 32
	if len(c.Traceparent) < to {
		return ""
	}
	return c.Traceparent[from:to]
}

// String keeps the token out of what is printed.
func (Caller) String() string { return "caller" }

// LogValue keeps the token out of logs.
func (c Caller) LogValue() slog.Value { return slog.StringValue(c.String()) }

// Errors that an AccessByToken may return.
var (
	// ErrUnauthorized says that the token counts for nothing on the other side.
	ErrUnauthorized = errors.New("the token is not valid there")
	// ErrNoSession says that the session does not exist on the other side, or not
	// for this caller: it does not tell which.
	ErrNoSession = errors.New("there is no such session there")
	// ErrForeign says that the session exists there, and not for the user who was
	// asked about. Only an AccessByUser tells.
	ErrForeign = errors.New("the session there is not for this user")
)

// ErrNotKnownThere is what a CallerAware returns of somebody for whom it has no token.
var ErrNotKnownThere = errors.New("the agent's server accepts an answer only from its own users, and you are not known there: sign in with a token of that server to answer")

// AccessByToken is a Runtime whose sessions exist elsewhere, with members of their own.
type AccessByToken interface {
	// Find says what the caller may do with a session of the other side, by the
	// caller's own token. It returns ErrUnauthorized, ErrNoSession, or an error that
	// says why the other side could not be asked.
	Find(ctx context.Context, sessionID string, c Caller) (Found, error)
}

// AccessByUser is a Runtime that knows the rights of a user on the other side who has no
// token there: it asks in the service's name. The service may see more than the user
// may. So the user's rights follow only from the role that the other side names for
// them.
type AccessByUser interface {
	// FindUser says what the user may do with a session of the other side. It returns
	// ErrForeign, ErrNoSession, also where it cannot be told, or an error that says why
	// the other side could not be asked.
	FindUser(ctx context.Context, sessionID, user string) (Found, error)
}

// Found is a session of the other side as one caller sees it.
type Found struct {
	// By names the caller as the other side knows it; "" if it does not say.
	By string
	// Role is viewer, collaborator or owner.
	Role  string
	Title string
	// Owner is the session's owner by the kind of name that an AccessByUser is asked by; "" if
	// that is not told.
	Owner string
	// Kind is orchestrator or workflow for a session that is its owner's alone, else "".
	Kind string
}
