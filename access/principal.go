package access

import "context"

// Principal is who sent a request. ID is stable over restarts and unique among
// the principals of one gateway; Name is for people.
type Principal struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Role Role   `json:"role"`
}

// ownerID names the holder of the minted token, and everybody in mode none.
const ownerID = "owner"

func owner() Principal { return Principal{ID: ownerID, Name: ownerID, Role: Owner} }

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
