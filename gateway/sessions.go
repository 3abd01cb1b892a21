package gateway

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/agentops/server"
	"github.com/tributary-dev/tributary/gateway/authz"
	"github.com/tributary-dev/tributary/gateway/refusal"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
)

// This file has the routes for sessions.

// sessionView is a session in JSON.
type sessionView struct {
	ID        string        `json:"id"`
	Agent     string        `json:"agent"`
	Title     string        `json:"title"`
	CreatedAt time.Time     `json:"created_at"`
	UpdatedAt time.Time     `json:"updated_at"`
	State     session.State `json:"state"`
	// Turn is the turn that runs, or null.
	Turn *string `json:"turn"`
	// Outcome is how the newest turn ended, if one has.
	Outcome trace.Outcome `json:"outcome,omitempty"`
	// Owner made the session. Role is the sender's role in it.
	Owner string       `json:"owner,omitempty"`
	Role  access.Role  `json:"role"`
	Kind  session.Kind `json:"kind,omitempty"`
	// Members are shown to owners only.
	Members map[string]string `json:"members,omitempty"`
	// AISDK is false where AI SDK clients may not use the session's own route.
	AISDK bool `json:"ai_sdk"`
	// Compat is `rfc` if the session was made with that setting.
	Compat string `json:"compat,omitempty"`
	// Damaged names the records of the session that are lost on disk, if any are.
	Damaged string `json:"damaged,omitempty"`
}

func (g *gateway) view(r *http.Request, info session.Info, state session.State, turn string) sessionView {
	p, _ := access.From(r.Context())
	v := sessionView{
		ID: info.ID, Agent: info.Agent, Title: info.Title, CreatedAt: info.CreatedAt.UTC(), UpdatedAt: info.UpdatedAt.UTC(),
		State: state, Owner: info.CreatedBy, Kind: info.Kind, Compat: info.Compat, AISDK: !info.NoChat,
		Role: g.authz.Role(p, info.ID, info.ACL()),
	}
	if authz.Admitted(r.Context()) { // to this session
		v.Role = p.Role
	}
	if v.Role == access.Owner {
		v.Members = info.Members
	}
	if turn != "" {
		v.Turn = &turn
	}
	if info.Last != nil {
		v.Outcome = info.Last.Outcome
	}
	return v
}

// list is a page of the sessions, the newest first. A Link header leads on.
func (g *gateway) list(w http.ResponseWriter, r *http.Request) error {
	const anyTime = 1<<63 - 1
	limit, err := listLimit(r)
	if err != nil {
		return err
	}
	before, err := number("before", r.URL.Query().Get("before"), 0, 1, anyTime)
	if err != nil {
		return err
	}
	var sessions []session.Summary
	var next int64
	if choice, some := g.authz.Visible(r.Context()); some {
		if sessions, next, err = g.Hub.List(r.Context(), choice, int64(before), limit); err != nil { //nolint:gosec // it is in range
			return err
		}
	}
	if next != 0 {
		link(w, r, "next", strconv.FormatInt(next, 10))
	}
	return writeJSON(w, http.StatusOK, map[string]any{"sessions": g.views(r, sessions)})
}

// listLimit is the number of sessions that a request asks for.
func listLimit(r *http.Request) (int, error) {
	const page, most = 100, 1000
	n, err := number("limit", r.URL.Query().Get("limit"), page, 1, most)
	return int(n), err //nolint:gosec // it is in range
}

func (g *gateway) viewOf(r *http.Request, s session.Summary) sessionView {
	v := g.view(r, s.Info, s.State, s.Turn)
	v.Damaged = s.Damaged
	return v
}

func (g *gateway) views(r *http.Request, sessions []session.Summary) []sessionView {
	views := make([]sessionView, 0, len(sessions))
	for _, s := range sessions {
		views = append(views, g.viewOf(r, s))
	}
	return views
}

func (g *gateway) create(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		ID    string       `json:"id"`
		Agent string       `json:"agent"`
		Title string       `json:"title"`
		Kind  session.Kind `json:"kind"`
		AISDK *bool        `json:"ai_sdk"`
		// Compat is `rfc` for streams as the RFC writes them.
		Compat string `json:"compat"`
		// Resume names a conversation of the agent's own.
		Resume string `json:"resume"`
	}
	if err := readJSON(w, r, &body); err != nil {
		return err
	}
	if body.Compat != "" && body.Compat != compatRFC {
		return refusal.Malformed("`compat` must be %s, or missing.", compatRFC)
	}
	if p, _ := access.From(r.Context()); !p.May(body.ID) {
		return authz.ErrBound
	}
	if err := g.authz.MayUse(r.Context(), body.Agent); err != nil {
		return err
	}
	if err := g.authz.MayCreate(r.Context(), body.Agent); err != nil {
		return err
	}
	if body.Resume != "" {
		if err := g.authz.MayAdopt(r.Context(), body.Agent); err != nil {
			return err
		}
	}
	info, err := g.Hub.Create(r.Context(), session.Spec{
		ID: body.ID, Agent: body.Agent, Title: body.Title, By: caller(r), Kind: body.Kind, Compat: body.Compat, NoChat: body.AISDK != nil && !*body.AISDK,
		Resume: body.Resume,
	})
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusCreated, g.view(r, info, session.Idle, ""))
}

func (g *gateway) get(w http.ResponseWriter, r *http.Request) error {
	info, state, turn, err := g.Hub.Get(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	v := g.view(r, info, state, turn)
	v.Damaged = g.Hub.Damage().Sessions[info.ID]
	return writeJSON(w, http.StatusOK, struct {
		sessionView
		Session server.Session `json:"session"`
	}{v, server.SessionOf(info)})
}

func (g *gateway) remove(w http.ResponseWriter, r *http.Request) error {
	if err := g.Hub.Delete(r.Context(), r.PathValue("id")); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// link leads to the page on the other side of a mark.
func link(w http.ResponseWriter, r *http.Request, relation, before string) {
	q := r.URL.Query()
	q.Set("before", before)
	w.Header().Set("Link", fmt.Sprintf(`<%s?%s>; rel="%s"`, r.URL.EscapedPath(), q.Encode(), relation))
}

// number reads a whole number that a request gives as text.
func number(name, text string, byDefault, least, most uint64) (uint64, error) {
	if text == "" {
		return byDefault, nil
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil || n < least || n > most {
		return 0, refusal.Malformed("`%s` must be a whole number from %d to %d.", name, least, most)
	}
	return n, nil
}
