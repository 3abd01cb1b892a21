package gateway

import (
	"context"
	"errors"
	"net/http"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/gateway/agentops"
	"github.com/tributary-dev/tributary/gateway/authz"
	"github.com/tributary-dev/tributary/gateway/limit"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/uistream"
)

// This file has the routes for clients of Agent Ops.

// agentOps mounts the addresses at which programs of Agent Ops look for a session agent.
func (g *gateway) agentOps(route func(pattern string, h handler)) {
	s := agentops.New(agentops.Options{
		Hub: g.Hub, Gateway: socketAccess{g}, Runners: g.Runners, Sockets: g.Sockets,
		Read: g.Read, Write: g.Timing.Write, Ping: g.Timing.Keepalive, Logger: g.Logger,
	})
	notOffered := func(http.ResponseWriter, *http.Request) error { return agentops.ErrNotOffered }
	route("GET /api/sessions/{id}/ws", s.Connect)
	route("GET /api/auth/me", g.me)
	route("GET /api/sessions/{id}/participants", g.member(access.Viewer, g.participants, nil))
	route("POST /api/sessions/{id}/prompt", sized(s.Prompt))
	for _, pattern := range []string{
		"GET /api/sessions/{id}/threads", "POST /api/sessions/{id}/threads", "GET /api/sessions/{id}/threads/active",
	} {
		route(pattern, g.member(access.Viewer, notOffered, nil))
	}
	for _, end := range []string{"approve", "deny"} {
		route("POST /api/action-invocations/{invocation}/"+end, g.allow(access.Viewer, notOffered))
	}
}

// me returns the sender's identity. A pass-through token gives none.
func (g *gateway) me(w http.ResponseWriter, r *http.Request) error {
	p, _ := access.From(r.Context())
	if _, passThrough := access.PassThroughOf(r.Context()); passThrough || p.ID == "" {
		return authz.RoleTooSmall(p.Role, access.Viewer)
	}
	return writeJSON(w, http.StatusOK, agentops.Me(p))
}

func (g *gateway) participants(w http.ResponseWriter, r *http.Request) error {
	p, _ := access.From(r.Context())
	return writeJSON(w, http.StatusOK, agentops.Participants(authz.Session(r.Context()), p))
}

// socketAccess admits connections to sessions.
type socketAccess struct{ g *gateway }

// Admit implements server.Gateway.
func (s socketAccess) Admit(r *http.Request, id string) (agentops.Admission, error) {
	admitted, err := s.g.authz.Authorize(r, id, access.Viewer)
	if err != nil {
		return agentops.Admission{}, err
	}
	p, _ := access.From(admitted.Context()) //nolint:contextcheck // it holds the role in the session
	info := authz.Session(admitted.Context())
	leave, err := s.g.limiter.Stream(p.ID)
	if err != nil {
		return agentops.Admission{}, err
	}
	goodbye, err := s.g.limiter.Client(id)
	if err != nil {
		leave()
		return agentops.Admission{}, err
	}
	life, cancel := expiring(admitted) // the guard ends the request of a credential that counts no more
	ctx, gone := s.g.authz.Watch(life.Context(), life, id)
	return agentops.Admission{
		User: p, Agent: info.Agent,
		Rights: &socketRights{
			g: s.g, ctx: ctx, r: admitted, info: info,
			upload: s.g.memory(admitted, limit.Upload, nil),
		},
		Leave: func() {
			gone()
			cancel()
			goodbye()
			leave()
		},
	}, nil
}

// AdmitRunner implements server.Gateway. The name of a runner is none that a person can have.
func (s socketAccess) AdmitRunner(id string) (hold func(int64) error, leave func(), err error) {
	name := "\x00runner of " + id
	leave, err = s.g.limiter.Stream(name)
	return s.g.limiter.Memory(name, limit.Upload, s.g.Read, nil).Reserve, leave, err
}

// socketRights are those of the sender of a request that opened a connection.
type socketRights struct {
	g      *gateway
	ctx    context.Context //nolint:containedctx // it is the life of the connection
	r      *http.Request   // admitted
	info   session.Info
	upload *limit.Memory
}

func (u *socketRights) Context() context.Context { return u.ctx }

// counts refuses a frame whose sender's credential has ended.
func (u *socketRights) counts() error {
	if !access.Counts(u.ctx) {
		return uistream.ErrExpired
	}
	return nil
}

func (u *socketRights) May(need access.Role) error {
	if err := u.counts(); err != nil {
		return err
	}
	_, err := u.g.authz.Check(u.r, u.info.ID, need)
	return err
}

func (u *socketRights) MayUse() error {
	if err := u.counts(); err != nil {
		return err
	}
	return u.g.authz.MayUse(u.r.Context(), u.info.Agent)
}

func (u *socketRights) MayPermit() error {
	if err := u.counts(); err != nil {
		return err
	}
	admitted, err := u.g.authz.Check(u.r, u.info.ID, access.Viewer)
	if err != nil {
		return err
	}
	return u.g.authz.MayPermit(admitted)
}

func (u *socketRights) Caller() agent.Caller     { return u.g.sender(u.r).Caller }
func (u *socketRights) Count() error             { return u.g.limiter.Request(caller(u.r)) }
func (u *socketRights) Upload(bytes int64) error { return u.upload.Reserve(promptCost * bytes) }

// Reading implements server.Rights.
func (u *socketRights) Reading(ctx context.Context) (_ context.Context, done func()) {
	ctx, rd := u.g.reading(ctx, u.r)
	return ctx, rd.Waits
}

func (u *socketRights) Explain(err error) string {
	if away, is := errors.AsType[*uistream.Revocation](err); is {
		return away.Sentence
	}
	_, _, text := u.g.describe(u.r, err)
	return text
}
