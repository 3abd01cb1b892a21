package gateway

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/agentops/server"
	"github.com/tributary-dev/tributary/metrics"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/uistream"
)

// This file assembles the gateway.

// Options configure the gateway.
type Options struct {
	Hub *session.Hub
	// Streams are what the subscribers of one turn share.
	Streams *uistream.Broadcaster
	// Stream says how turns are translated when a request does not say.
	Stream uistream.Options
	// Timing says how streams are written.
	Timing uistream.Timing
	// Permits are those who may answer permission requests; admins if empty. In a session
	// whose people an agent's server names, its owner may too.
	Permits []access.Who
	// Users are those who may use an agent, by its name; everybody where there is no entry.
	Users map[string][]access.Who
	// Availability says whether an agent can start here; nil: nobody knows.
	Availability func(agent string) Availability
	// Private says that a session is for who made it and for its members; else the
	// role of each principal counts in all of them.
	Private bool
	// ForeignSession is the status for a session that is somebody else's: 404, as if
	// there were none, if zero; or 403.
	ForeignSession int
	// PassThrough names the agent whose server judges the tokens of guests.
	PassThrough string
	// RejectToolOutputs refuses outputs of tools that clients say they have run; else
	// nobody reads them.
	RejectToolOutputs bool
	// NoSessionChat leaves out the route of the RFC, and its resume.
	NoSessionChat bool
	// Read is how long the sender of a body may let a piece of it wait; 30 s if zero.
	Read time.Duration
	// Limits bound what one principal may have.
	Limits Limits
	// Guard lets requests through to the routes, with their Principal: the Wrap of
	// an access.Guard. Without one nobody has a role.
	Guard func(http.Handler) http.Handler
	// Sockets are the open WebSockets, so that the caller can wait for their end. If
	// nil, the gateway keeps its own.
	Sockets *server.Sockets
	// Runners admits runners that drive sessions; nil: none.
	Runners server.Runners
	// Page serves the web page at /; nil: none.
	Page http.Handler
	// Ready reports why the gateway cannot serve, or nil. The hub is asked too.
	Ready  func() error
	Logger *slog.Logger
	// Meter measures, for /metrics: this gateway only. One of its own if nil, which
	// knows no agent by name.
	Meter *metrics.Meter
	// Started is when the process began, for /metrics.
	Started time.Time
}

type gateway struct {
	Options
	limiter       *limiter
	aclCache      *aclCache
	agentsWithACL []string
}

// New returns the routes behind their guard. A client that the guard refuses is
// counted and paced like all others.
func New(o Options) http.Handler {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Meter == nil {
		o.Meter = metrics.New()
	}
	if o.Sockets == nil {
		o.Sockets = &server.Sockets{}
	}
	if len(o.Permits) == 0 {
		o.Permits = []access.Who{{Role: access.Admin}}
	}
	if o.Read <= 0 {
		o.Read = 30 * time.Second
	}
	if o.Timing.Write <= 0 {
		o.Timing.Write = 30 * time.Second
	}
	g := &gateway{Options: o, limiter: newLimiter(o.Limits), aclCache: newACLCache(), agentsWithACL: agentsWithACL(o.Hub)}
	g.measureAll()
	mux := http.NewServeMux()
	g.routes(func(pattern string, h handler) { mux.Handle(pattern, g.handle(g.within(h))) })
	g.openRoutes(func(pattern string, h handler) { mux.Handle(pattern, g.handle(h)) })
	for _, rest := range []string{"/api/", "/metrics", "/healthz", "/readyz"} {
		mux.Handle(rest, g.handle(g.within(g.elsewhere(mux))))
	}
	if o.Page != nil {
		mux.Handle("/", o.Page)
	}
	guarded := http.Handler(mux)
	if o.Guard != nil {
		guarded = o.Guard(mux)
	}
	return g.count(g.withTimeouts(noStore(guarded)))
}

// Public reports whether a request needs no token of a person. The page's own files and
// the health checks hold no data of a user. A runner has a token of its own.
func Public(r *http.Request) bool {
	if server.IsRunner(r) {
		return true
	}
	switch r.URL.Path {
	case "/metrics":
		return false
	case "/healthz", "/readyz":
		return true
	}
	return len(r.URL.Path) < 5 || r.URL.Path[:5] != "/api/"
}

// allow lets a request through whose sender has the role.
func (g *gateway) allow(need access.Role, h handler) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		p, ok := access.From(r.Context())
		if !ok || !p.Role.Allows(need) {
			return roleTooSmall(p.Role, need)
		}
		return h(w, r)
	}
}

func caller(r *http.Request) string {
	p, _ := access.From(r.Context())
	return p.ID
}
