package gateway

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/gateway/agentops"
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
	// Waiting are the ids of the requests that wait for a person, the oldest first.
	Waiting []string `json:"waiting,omitempty"`
	// Held is how many prompts are held until somebody continues the queue.
	Held int `json:"held,omitempty"`
	// Outcome is how the newest turn ended, if one has, and LastTurn is that turn.
	Outcome  trace.Outcome `json:"outcome,omitempty"`
	LastTurn string        `json:"last_turn,omitempty"`
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
	// Archived says that the list leaves the session out.
	Archived bool `json:"archived,omitempty"`
	// Mode and Model are those that somebody chose for the agent.
	Mode  string `json:"mode,omitempty"`
	Model string `json:"model,omitempty"`
	// Damaged names the records of the session that are lost on disk, if any are.
	Damaged string `json:"damaged,omitempty"`
}

func (g *gateway) view(r *http.Request, s session.Summary) sessionView {
	v := sessionView{
		ID: s.ID, Agent: s.Agent, Title: s.Title, CreatedAt: s.CreatedAt.UTC(), UpdatedAt: s.UpdatedAt.UTC(),
		State: s.State, Owner: s.CreatedBy, Kind: s.Kind, Compat: s.Compat, AISDK: !s.NoChat, Waiting: s.Waiting, Held: len(s.Held()), Archived: s.Archived, Damaged: s.Damaged, Mode: s.Mode, Model: s.Model,
		Role: g.authz.RoleIn(r.Context(), s.Info),
	}
	if v.Role == access.Owner {
		v.Members = s.Members
	}
	if s.Turn != "" {
		v.Turn = &s.Turn
	}
	if s.Last != nil {
		v.Outcome, v.LastTurn = s.Last.Outcome, s.Last.ID
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
	choice, some := g.authz.Visible(r.Context())
	if err := choose(&choice, r.URL.Query()); err != nil {
		return err
	}
	if some {
		if sessions, next, err = g.Hub.List(r.Context(), choice, int64(before), limit); err != nil { //nolint:gosec // it is in range
			return err
		}
	}
	if next != 0 {
		link(w, r, "next", strconv.FormatInt(next, 10))
	}
	return writeJSON(w, http.StatusOK, map[string]any{"sessions": g.views(r, sessions)})
}

// mostSearched bounds the words of a search.
const mostSearched = 12

// choose adds to a selection what a request chooses.
func choose(c *session.Selection, query url.Values) error {
	c.Agent, c.State, c.Archived = query.Get("agent"), session.State(query.Get("state")), new(bool)
	switch c.State {
	case "", session.Idle, session.Running, session.Paused, session.Failed:
	default:
		return refusal.Malformed("`state` must be %s, %s, %s or %s.", session.Idle, session.Running, session.Paused, session.Failed)
	}
	if q := query.Get("q"); strings.TrimSpace(q) != "" {
		if c.Words = eventlog.Words(q); len(c.Words) == 0 || len(c.Words) > mostSearched {
			return refusal.Malformed("`q` must have 1 to %d words, of letters and digits.", mostSearched)
		}
	}
	switch archived := query.Get("archived"); archived {
	case "", "false":
	case "true":
		*c.Archived = true
	default:
		return refusal.Malformed("`archived` must be true or false.")
	}
	return nil
}

// listLimit is the number of sessions that a request asks for.
func listLimit(r *http.Request) (int, error) {
	const page, most = 100, 1000
	n, err := number("limit", r.URL.Query().Get("limit"), page, 1, most)
	return int(n), err //nolint:gosec // it is in range
}

func (g *gateway) views(r *http.Request, sessions []session.Summary) []sessionView {
	views := make([]sessionView, 0, len(sessions))
	for _, s := range sessions {
		views = append(views, g.view(r, s))
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
		Mode   string `json:"mode"`
		Model  string `json:"model"`
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
	if body.Mode != "" { // as in change
		if err := g.authz.MayPermit(r); err != nil {
			return err
		}
	}
	if body.Resume != "" {
		if err := g.authz.MayAdopt(r.Context(), body.Agent); err != nil {
			return err
		}
	}
	info, err := g.Hub.Create(r.Context(), session.Spec{
		ID: body.ID, Agent: body.Agent, Title: body.Title, By: caller(r), Kind: body.Kind, Compat: body.Compat, NoChat: body.AISDK != nil && !*body.AISDK,
		Resume: body.Resume, Mode: body.Mode, Model: body.Model,
	})
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusCreated, g.view(r, session.Summary{Info: info, State: session.Idle}))
}

func (g *gateway) get(w http.ResponseWriter, r *http.Request) error {
	s, err := g.Hub.Get(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	s.Damaged = g.Hub.Damage().Sessions[s.ID]
	answer := struct {
		sessionView
		Session   agentops.Session `json:"session"`
		Workspace string           `json:"workspace,omitempty"`
	}{sessionView: g.view(r, s), Session: agentops.SessionOf(s.Info)}
	if answer.Role.Allows(access.Collaborator) { // as for the names of files
		answer.Workspace = g.Hub.WorkspacePath(s.Info)
	}
	return writeJSON(w, http.StatusOK, answer)
}

func (g *gateway) remove(w http.ResponseWriter, r *http.Request) error {
	kept, err := g.Hub.Delete(r.Context(), r.PathValue("id"))
	switch {
	case err != nil:
		return err
	case kept != "":
		return writeJSON(w, http.StatusOK, map[string]string{"kept": sentence(kept)})
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
