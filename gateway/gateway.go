package gateway

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/uistream"
)

// Options configure the gateway.
type Options struct {
	Hub *session.Hub
	// Rings are the streams that readers of one turn share.
	Rings *uistream.Rings
	// Stream says how turns are translated when a request does not say.
	Stream uistream.Options
	// Timing says how streams are written.
	Timing uistream.Timing
	// Permits is the role that may answer permission requests; the owner's if empty.
	Permits access.Role
	// Read is how long the sender of a body may let a piece of it wait; 30 s if zero.
	Read time.Duration
	// Limits bound what one principal may have.
	Limits Limits
	// Guard lets requests through to the routes, with their Principal: the Wrap of
	// an access.Guard. Without one nobody has a role.
	Guard func(http.Handler) http.Handler
	// Runners takes runners that drive sessions; nil: none.
	Runners Runners
	// Page serves the web page at /; nil: none.
	Page http.Handler
	// Ready reports why the gateway cannot serve, or nil. The hub is asked too.
	Ready  func() error
	Logger *slog.Logger
	// Started is when the process began, for /metrics.
	Started time.Time
}

type gateway struct {
	Options
	meter    *meter
	limiter  *limiter
	audience *audience
}

// New returns the routes behind their guard. Who is refused by the guard is counted
// and paced as everybody else.
func New(o Options) http.Handler {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if !o.Permits.Allows(access.Viewer) {
		o.Permits = access.Owner
	}
	if o.Read <= 0 {
		o.Read = 30 * time.Second
	}
	if o.Timing.Write <= 0 {
		o.Timing.Write = 30 * time.Second
	}
	g := &gateway{Options: o, meter: &meter{}, limiter: newLimiter(o.Limits), audience: &audience{of: map[string][]*onlooker{}}}
	mux := http.NewServeMux()
	route := func(pattern string, need access.Role, h handler) {
		mux.Handle(pattern, g.handle(g.within(g.allow(need, h))))
	}
	route("POST /api/chat", access.Collaborator, sized(g.streaming(g.chat)))
	route("POST /api/sessions/{id}/chat", access.Collaborator, sized(g.streaming(g.chat)))
	route("GET /api/chat/{id}/stream", access.Viewer, g.streaming(g.resume))
	route("GET /api/chat", access.Viewer, g.streaming(g.resumeBehindQuery))
	route("GET /api/sessions/{id}/chat/stream", access.Viewer, g.streaming(g.resume))
	route("GET /api/sessions/{id}/chat/{chat}/stream", access.Viewer, g.streaming(g.resume))
	route("POST /api/chat/{id}/stop", access.Collaborator, g.stop)
	route("POST /api/sessions/{id}/stop", access.Collaborator, g.stop)
	route("GET /api/sessions", access.Viewer, g.list)
	route("POST /api/sessions", access.Collaborator, g.create)
	route("GET /api/sessions/{id}", access.Viewer, g.get)
	route("DELETE /api/sessions/{id}", access.Owner, g.remove)
	route("GET /api/sessions/{id}/messages", access.Viewer, g.messages)
	route("POST /api/sessions/{id}/permissions/{request}", o.Permits, g.permit)
	route("POST /api/sessions/{id}/questions/{request}", access.Collaborator, g.answer)
	route("GET /api/sessions/{id}/trace", access.Viewer, g.streaming(g.trace))
	route("GET /api/sessions/{id}/events", access.Viewer, g.streaming(g.events))
	route("GET /api/sessions/{id}/channels", access.Viewer, g.channels)
	route("GET /api/sessions/{id}/tools", access.Viewer, g.tools)
	mux.Handle("GET /api/sessions/{id}/ws", g.handle(g.within(g.ws)))
	route("GET /api/agents", access.Viewer, g.agents)
	route("GET /metrics", access.Viewer, g.metrics)
	mux.Handle("GET /healthz", g.handle(g.healthy))
	mux.Handle("GET /readyz", g.handle(g.ready))
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
	return g.meter.count(g.paced(unkept(guarded)))
}

// Public tells which requests need no token of a person: for the page's own files and
// the health checks, which hold nothing of anybody's, and a runner's, which has a token
// of its own.
func Public(r *http.Request) bool {
	if isRunner(r) {
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
			return &refusal{http.StatusForbidden, "forbidden", "Your role is " + p.Role.String() + "; this needs " + need.String() + "."}
		}
		if id := r.PathValue("id"); id != "" {
			g.Hub.Touch(id)
		}
		return h(w, r)
	}
}

func caller(r *http.Request) string {
	p, _ := access.From(r.Context())
	return p.ID
}
