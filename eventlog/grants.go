package eventlog

import "context"

// Grants keeps what persons have allowed beforehand in all sessions with an agent. All gateways on
// the store have the same grants, and a change counts for each call that begins after it.
type Grants interface {
	// AddGrant keeps a document under an id, unless the id is there. Ids are in the order of time:
	// of the grants of the agent the most newest stay.
	AddGrant(ctx context.Context, agent, id string, doc []byte, most int) error
	// Grants returns the documents for an agent, the oldest first.
	Grants(ctx context.Context, agent string) ([][]byte, error)
	// RemoveGrant forgets a grant of the agent, and reports whether it was there.
	RemoveGrant(ctx context.Context, agent, id string) (bool, error)
}
