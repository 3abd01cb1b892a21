package agentops

import (
	"context"
	"net/http"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/agent"
)

// Gateway decides who may connect to a session, and counts the connections.
type Gateway interface {
	// Admit admits the sender of a request to a session, as a viewer at least.
	Admit(r *http.Request, session string) (Admission, error)
	// AdmitRunner counts the connection of a session's runner until leave is called. The
	// token of the runner has been checked. hold counts the memory of a large frame.
	AdmitRunner(session string) (hold func(bytes int64) error, leave func(), err error)
}

// Admission is the access that a connection has to a session.
type Admission struct {
	Rights
	User  access.Principal
	Agent string // of the session
	// Leave ends the Admission.
	Leave func()
}

// Rights are what the user of a connection may do at the moment. A connection lives long,
// so rights are checked for each frame.
type Rights interface {
	// Context outlives the request, and ends when the user's token expires or the user loses
	// access to the session. Explain takes its cause.
	Context() context.Context
	// May returns why the user may not act in this role, or nil.
	May(need access.Role) error
	// MayUse returns why the user may not use the session's agent, or nil.
	MayUse() error
	// MayPermit returns why the user may not answer permission requests, or nil.
	MayPermit() error
	// Caller identifies the user to the agent's own server.
	Caller() agent.Caller
	// Count counts a frame as a request; the error says that there are too many.
	Count() error
	// Upload counts bytes that the user's data takes up in memory, 0 at the end.
	Upload(bytes int64) error
	// Reading returns a context in which one goroutine reads the log: the records that it reads
	// count among those that are in memory for the user. The function that it returns ends that.
	Reading(ctx context.Context) (_ context.Context, done func())
	// Explain returns an error as a sentence for the user.
	Explain(err error) string
}
