package access

import (
	"context"
	"slices"
	"time"
	"unicode"
	"unicode/utf8"
)

// Principal is the sender of a request. ID is stable over restarts and unique among the
// principals of one gateway; Name is for people.
type Principal struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Role Role   `json:"role"`
	// Groups are the groups that the principal belongs to.
	Groups []string `json:"groups,omitempty"`
	// Expires is the time at which the principal's token ends; zero: never.
	Expires time.Time `json:"expires,omitzero"`
	// Bound are the sessions that the token is good for; nil: all.
	Bound *Bound `json:"-"`
}

// Bound is a list of sessions.
type Bound struct {
	Sessions []string `json:"sessions"`
}

// NewBound lists sessions.
func NewBound(sessions ...string) *Bound { return &Bound{sessions} }

// May reports whether the principal's token is good for a session.
func (p Principal) May(session string) bool {
	return p.Bound == nil || slices.Contains(p.Bound.Sessions, session)
}

// operatorID is the principal of the minted token, and of every request in mode none.
const operatorID = "operator"

// maxID is the longest id of a principal, in bytes.
const maxID = 200

func operator() Principal { return Principal{ID: operatorID, Name: operatorID, Role: Admin} }

// validID reports whether an id from elsewhere can be the id of a principal.
func validID(id string) bool {
	if id == "" || len(id) > maxID || !utf8.ValidString(id) {
		return false
	}
	for _, r := range id {
		if !unicode.IsPrint(r) {
			return false
		}
	}
	return true
}

type principalKey struct{}

// With returns a context that carries p.
func With(ctx context.Context, p Principal) context.Context {
	return context.WithValue(ctx, principalKey{}, p)
}

// From returns the principal of the request that ctx belongs to. There is none
// on a public path that was asked for without valid credentials; the zero
// Principal it then returns has a role that allows nothing.
func From(ctx context.Context) (Principal, bool) {
	p, ok := ctx.Value(principalKey{}).(Principal)
	return p, ok
}
