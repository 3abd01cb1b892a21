package access

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
)

// Guest is what is known of somebody whose token this gateway does not know: nothing
// but the token, which an agent's own server is to judge. It is never printed.
type Guest struct{ bearer string }

// Bearer is the token itself, for the server that is to judge it.
func (g Guest) Bearer() string { return g.bearer }

// Digest stands for the token where the token itself must not be.
func (g Guest) Digest() [sha256.Size]byte { return sha256.Sum256([]byte(g.bearer)) }

// String keeps the token out of what is printed.
func (Guest) String() string { return "guest" }

// GoString keeps it out of what is printed with %#v.
func (Guest) GoString() string { return "guest" }

type guestKey struct{}

// WithGuest returns a context that carries a guest.
func WithGuest(ctx context.Context, g Guest) context.Context {
	return context.WithValue(ctx, guestKey{}, g)
}

// GuestOf returns the guest that sent the request that ctx belongs to, if one did.
func GuestOf(ctx context.Context) (Guest, bool) {
	g, ok := ctx.Value(guestKey{}).(Guest)
	return g, ok
}

// NewGuest makes a guest of a bearer token.
func NewGuest(bearer string) Guest { return Guest{bearer} }

// Known returns the guest as a principal of the side that judged it. The side's name
// goes in front, so that its names can be nobody's here. Until it has judged, or if it
// tells no name, a hash of the token is the name, and there is no role.
func (g Guest) Known(side, by string, role Role) Principal {
	id := GuestID(side, by)
	if !validID(id) || by == "" {
		digest := g.Digest()
		id = GuestID(side, "token-"+hex.EncodeToString(digest[:8]))
	}
	return Principal{ID: id, Name: id, Role: role}
}

// GuestID is the name here of somebody whom another side knows by a name.
func GuestID(side, by string) string { return side + ":" + by }
