package gateway

import (
	"net/http"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/gateway/authz"
	"github.com/tributary-dev/tributary/gateway/refusal"
	"github.com/tributary-dev/tributary/session"
)

// This file has the routes for members of a session.

// invite gives somebody a role in a session.
func (g *gateway) invite(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		Role string `json:"role"`
	}
	if err := g.readAuthorizedJSON(w, r, &body); err != nil {
		return err
	}
	role, err := access.ParseRole(body.Role)
	if err != nil {
		return refusal.Malformed("`role` must be viewer, collaborator or owner.")
	}
	now := authz.Session(r.Context())
	answer := membersAnswer{Principal: r.PathValue("principal")}
	known := true
	if _, is := now.Members[answer.Principal]; !is && g.Person != nil && !now.Hosted { // else the agent's server knows people
		if answer.Principal, known, err = g.Person(r.Context(), answer.Principal); err != nil {
			return err
		}
	}
	answer.Unknown = !known
	return g.setMember(w, r, answer, role.String())
}

// expel takes it away.
func (g *gateway) expel(w http.ResponseWriter, r *http.Request) error {
	return g.setMember(w, r, membersAnswer{Principal: r.PathValue("principal")}, "")
}

// membersAnswer has the members after a change.
type membersAnswer struct {
	Members map[string]string `json:"members"`
	// Principal is whom the change was about, by the name that the gateway has for them.
	Principal string `json:"principal"`
	// Unknown says that the gateway has not met that person yet.
	Unknown bool `json:"unknown,omitempty"`
}

func (g *gateway) setMember(w http.ResponseWriter, r *http.Request, answer membersAnswer, role string) error {
	info, err := g.Hub.SetMember(r.Context(), r.PathValue("id"), answer.Principal, role)
	if err != nil {
		return err
	}
	if answer.Members = info.Members; answer.Members == nil {
		answer.Members = map[string]string{}
	}
	return writeJSON(w, http.StatusOK, answer)
}

// change changes what a session is called, whether it is archived, and whether AI SDK clients
// may use it by its own route.
func (g *gateway) change(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		Title *string `json:"title"`
		AISDK *bool   `json:"ai_sdk"`
		Mode  *string `json:"mode"`
		Model *string `json:"model"`
		// Archived takes the session off the list, or brings it back.
		Archived *bool `json:"archived"`
	}
	if err := g.readAuthorizedJSON(w, r, &body); err != nil {
		return err
	}
	if body.Mode != nil { // a mode may be one in which the agent asks less
		if err := g.authz.MayPermit(r); err != nil {
			return err
		}
	}
	if body.Mode != nil || body.Model != nil {
		if err := g.authz.MayUse(r.Context(), authz.Session(r.Context()).Agent); err != nil {
			return err
		}
	}
	change := session.Change{Title: body.Title, Chat: body.AISDK, Mode: body.Mode, Model: body.Model, Archived: body.Archived}
	if _, err := g.Hub.Change(r.Context(), r.PathValue("id"), change); err != nil {
		return err
	}
	return g.get(w, r)
}
