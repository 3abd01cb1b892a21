package tributary

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/eventlog/memlog"
	"github.com/tributary-dev/tributary/eventlog/sqllog"
	"github.com/tributary-dev/tributary/gateway"
	"github.com/tributary-dev/tributary/gateway/limit"
	"github.com/tributary-dev/tributary/internal/inflight"
	"github.com/tributary-dev/tributary/internal/procio"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/session/agentset"
	"github.com/tributary-dev/tributary/uistream"
)

// Options say which agents there are and who may use them.
type Options struct {
	// Sessions are the rules of sessions, and agents by their Runtime. New sets Log, StateDir and
	// Logger, and completes each agent by what its Runtime says of itself (agent.Describer). An
	// agent without a Cwd works in the current directory. Closed names the files with secrets
	// of your server, which no agent may read or write.
	Sessions session.Options
	// Agents are further agents, by their adapters, with the settings of a configuration.
	Agents map[string]agentset.Agent
	// SecretEnv names the environment variables with secrets of your server. The processes of
	// agents get few variables anyway, and never these.
	SecretEnv []string
	// Dir holds the log. Without a Dir the log is in memory and ends with the process.
	Dir string
	// DB is the URL of a PostgreSQL database (postgres://…) for the log. With it, Dir
	// holds only what belongs to this process.
	DB string
	// The gateway calls Who to learn the person who sends a request; false refuses the
	// request. Most people are a Collaborator: an Admin sees the sessions of all.
	Who func(*http.Request) (access.Principal, bool)
	// Permits are those who may answer permission requests; admins if empty.
	Permits []access.Who
	// Shared says that a session is for everybody; else it is for the person who made it
	// and for the members.
	Shared bool
	// Logger may be nil.
	Logger *slog.Logger
}

// Gateway is a gateway without a server. Mount it below a prefix with http.StripPrefix.
type Gateway struct {
	http.Handler
	// Hub has the sessions, for a program that prompts them itself.
	Hub *session.Hub

	log     *eventlog.Log
	streams *uistream.Streams
	sockets inflight.Count
}

// New opens the log and the sessions. The caller calls Close.
func New(ctx context.Context, o Options) (*Gateway, error) {
	if o.Who == nil {
		return nil, errors.New("tributary: Options.Who is missing: name the person of each request")
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if err := o.settle(); err != nil {
		return nil, fmt.Errorf("tributary: %w", err)
	}
	g := &Gateway{}
	if o.Dir == "" {
		g.log = eventlog.New(memlog.New())
	} else {
		store, err := sqllog.Open(ctx, sqllog.Options{Dir: o.Dir, URL: o.DB, Logger: o.Logger})
		if err != nil {
			return nil, fmt.Errorf("tributary: %w", err)
		}
		g.log = eventlog.New(store)
		if _, err := procio.EndLeftovers(o.Dir); err != nil {
			o.Logger.Error("agents that were left behind could not all be ended", "error", err)
		}
	}
	o.Sessions.Log, o.Sessions.StateDir, o.Sessions.Logger = g.log, o.Dir, o.Logger
	var err error
	if g.Hub, err = session.New(ctx, o.Sessions); err != nil {
		return nil, errors.Join(fmt.Errorf("tributary: %w", err), g.log.Close())
	}
	g.streams = uistream.NewStreams(uistream.Framing{})
	g.Handler = gateway.New(gateway.Options{ //nolint:contextcheck // a gauge is read without a request
		Hub: g.Hub, Streams: g.streams, Sockets: &g.sockets, Guard: o.guard, Private: !o.Shared, Permits: o.Permits, Limits: limit.Options{Memory: agentset.MemoryShare()}, Logger: o.Logger,
	})
	return g, nil
}

// guard lets requests of known people through. A page of another site may not send any in
// their name.
func (o Options) guard(next http.Handler) http.Handler {
	sites := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		probe := r
		if access.Upgrades(r) { // a WebSocket can change things
			probe = r.Clone(r.Context())
			probe.Method = http.MethodPost
		}
		if err := sites.Check(probe); err != nil {
			gateway.Refuse(w, r, http.StatusForbidden, "origin_not_allowed", "A page of another site has sent this request.")
			return
		}
		who, ok := o.Who(r)
		if !ok {
			gateway.Refuse(w, r, http.StatusUnauthorized, "unauthorized", "Sign in first.")
			return
		}
		next.ServeHTTP(w, r.WithContext(access.With(r.Context(), who)))
	})
}

// Close gives running turns until ctx ends to finish, ends the others, and closes the log.
// Close the HTTP server first if no request may be refused.
func (g *Gateway) Close(ctx context.Context) error {
	err := errors.Join(g.Hub.Close(ctx), g.sockets.Wait(ctx))
	g.streams.Close()
	return errors.Join(err, g.log.Close())
}
