package gateway

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/export/live"
	"github.com/tributary-dev/tributary/gateway/agentops"
	"github.com/tributary-dev/tributary/gateway/authz"
	"github.com/tributary-dev/tributary/gateway/chatrun"
	"github.com/tributary-dev/tributary/gateway/cluster"
	"github.com/tributary-dev/tributary/gateway/limit"
	"github.com/tributary-dev/tributary/gateway/metrics"
	"github.com/tributary-dev/tributary/internal/inflight"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/uistream"
)

// This file assembles the gateway.

// Options configure the gateway.
type Options struct {
	Hub *session.Hub
	// Streams are what the subscribers of one turn share.
	Streams *uistream.Streams
	// Stream has the options of streams whose request does not name others.
	Stream uistream.Options
	// Timing has the deadlines of streams.
	Timing uistream.Timing
	// Permits may answer permission requests; admins if empty. In a session whose people an
	// agent's server names, its owner may too.
	Permits []access.Who
	// Users may use an agent, by its name. An agent without an entry is for everybody.
	Users map[string][]access.Who
	// Availability says whether an agent can start here; nil: unknown.
	Availability func(agent string) Availability
	// Private says that a session is for its creator and its members; else the role of each
	// principal counts in all sessions.
	Private bool
	// ForeignSession is the status for a session of somebody else: 404, as if there were
	// none, if zero; or 403.
	ForeignSession int
	// PassThrough names the agent whose server judges pass-through tokens.
	PassThrough string
	// RejectToolOutputs refuses outputs of tools that clients say they have run; else they
	// are ignored.
	RejectToolOutputs bool
	// NoSessionChat leaves out the route of the RFC, and its resume.
	NoSessionChat bool
	// Read is the longest wait for a piece of a request's body; 30 s if zero.
	Read time.Duration
	// Limits bound what one principal may have.
	Limits limit.Options
	// Guard lets requests through to the routes, with their Principal: the Wrap of
	// an access.Guard. Without a guard no request has a role.
	Guard func(http.Handler) http.Handler
	// Person finds whom a name means, as access.Guard.Person does; nil: every name is taken as it is.
	Person func(ctx context.Context, name string) (id string, known bool, err error)
	// Cluster passes requests for sessions of other gateways on to these; nil: this gateway refuses them.
	Cluster *cluster.Node
	// Sockets are the open WebSockets, so that the caller can wait for their end. If
	// nil, the gateway keeps its own.
	Sockets *inflight.Count
	// Runners admits runners that drive sessions; nil: none.
	Runners agentops.Runners
	// Page serves the web page at /; nil: none.
	Page http.Handler
	// Widget serves the script of the widget, at /widget.js and below /widget/; nil: none. Pages
	// of every origin load the script, so no guard stands before it.
	Widget http.Handler
	// Ready reports why the gateway cannot serve, or nil. The hub is asked too.
	Ready  func() error
	Logger *slog.Logger
	// Version is that of the program, for the spans that it exports; empty is unknown.
	Version string
	// Meter measures, for /metrics: this gateway only. One of its own if nil, which
	// knows no agent by name.
	Meter *metrics.Meter
	// Exporters send turns to receivers of spans. The gateway tells how they are doing.
	Exporters []*live.Exporter
	// Backup tells how the back-ups are doing; nil: the gateway writes none.
	Backup func() BackupStatus
}

type gateway struct {
	Options
	limiter *limit.Limiter
	authz   *authz.Authorizer
	runs    *chatrun.Book[stream]
	carried *http.ServeMux // the routes that a frame of a WebSocket may get
}

// New returns the routes behind their guard. The counts and the timeouts hold for requests
// that the guard refuses, too.
func New(o Options) http.Handler {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Meter == nil {
		o.Meter = metrics.New()
	}
	if o.Sockets == nil {
		o.Sockets = &inflight.Count{}
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
	g := &gateway{Options: o, limiter: limit.New(o.Limits), runs: chatrun.NewBook[stream](), authz: authz.New(authz.Options{
		Hub: o.Hub, Private: o.Private, Foreign: o.ForeignSession, PassThrough: o.PassThrough, Approvers: o.Permits, Users: o.Users, Logger: o.Logger,
	})}
	g.measureAll()
	mux := http.NewServeMux()
	g.carried = http.NewServeMux()
	passed := http.NewServeMux() // what other gateways pass on: they have counted it, and let it through their guard
	g.routes(func(pattern string, h handler) {
		mux.Handle(pattern, g.handle(g.limited(g.toOwner(pattern, h))))
		if slices.Contains(streams(), pattern) {
			g.carried.Handle(pattern, g.handle(g.toOwner(pattern, h)))
		}
		if pattern != chatRoute {
			passed.Handle(pattern, g.handle(h))
		}
	})
	passed.Handle(chatRoute, g.handle(g.streaming(g.served(g.passedChat))))
	o.Cluster.Handle(g.count(noStore(passed)))
	g.carried.Handle("/", g.handle(func(_ http.ResponseWriter, r *http.Request) error { return nowhere(r) }))
	g.openRoutes(func(pattern string, h handler) { mux.Handle(pattern, g.handle(h)) })
	for _, rest := range []string{"/api/", "/metrics", "/healthz", "/readyz"} {
		mux.Handle(rest, g.handle(g.limited(g.elsewhere(mux))))
	}
	if o.Page != nil {
		mux.Handle("/", o.Page)
	}
	guarded := http.Handler(mux)
	if o.Guard != nil {
		guarded = o.Guard(mux)
	}
	if o.Widget != nil {
		guarded = inFront(o.Widget, guarded)
	}
	return g.count(limit.Timeouts(noStore(guarded), o.Read, o.Timing.Write))
}

// inFront sends requests for the script of the widget to it, and others on.
func inFront(widget, rest http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/widget.js" || strings.HasPrefix(r.URL.Path, "/widget/") {
			widget.ServeHTTP(w, r)
			return
		}
		rest.ServeHTTP(w, r)
	})
}

// Probe reports whether a request is a health check. A health check comes by any name or
// address of the machine: a kubelet asks for the address of the pod. The answer holds no data
// of a user, so Host and Origin are not checked.
func Probe(r *http.Request) bool {
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) && (r.URL.Path == "/healthz" || r.URL.Path == "/readyz")
}

// Public reports whether a request needs no token of a person. The page's own files hold no
// data of a user. A runner has a token of its own.
func Public(r *http.Request) bool {
	if agentops.IsRunner(r) {
		return true
	}
	return r.URL.Path != "/metrics" && !strings.HasPrefix(r.URL.Path, "/api/")
}
