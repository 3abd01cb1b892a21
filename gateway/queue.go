package gateway

import (
	"net/http"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/session"
)

// This file has the routes for the queue of prompts.

// queuedView is a queued prompt in JSON.
type queuedView struct {
	session.QueuedPrompt
	// Mine says that the sender of the request sent the prompt, too.
	Mine bool `json:"mine"`
}

func queuedViewOf(r *http.Request, q session.QueuedPrompt) queuedView {
	return queuedView{q, q.By == caller(r)}
}

// queueUser is the sender as somebody who changes the queue of the session.
func (g *gateway) queueUser(r *http.Request) session.QueueUser {
	p, _ := access.From(r.Context())
	return session.QueueUser{By: p.ID, Owner: p.Role == access.Owner, MayPermit: g.authz.MayPermit(r) == nil, Caller: g.sender(r).Caller}
}

// queue lists the prompts that wait.
func (g *gateway) queue(w http.ResponseWriter, r *http.Request) error {
	r, rd, err := g.page(r)
	if err != nil {
		return err
	}
	defer rd.Waits()
	all, err := g.Hub.Queue(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	views := make([]queuedView, 0, len(all))
	for _, q := range all {
		views = append(views, queuedViewOf(r, q))
	}
	return writeJSON(w, http.StatusOK, map[string]any{"queue": views})
}

// editQueued changes the text of a prompt that waits.
func (g *gateway) editQueued(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		Text string `json:"text"`
	}
	if err := g.readAuthorizedJSON(w, r, &body); err != nil {
		return err
	}
	r, rd, err := g.page(r)
	if err != nil {
		return err
	}
	defer rd.Waits()
	q, err := g.Hub.EditQueued(r.Context(), r.PathValue("id"), r.PathValue("turn"), body.Text, g.queueUser(r))
	return writeResult(w, queuedViewOf(r, q), err)
}

// withdraw removes a prompt that waits.
func (g *gateway) withdraw(w http.ResponseWriter, r *http.Request) error {
	return noContent(w, g.Hub.Withdraw(r.Context(), r.PathValue("id"), r.PathValue("turn"), g.queueUser(r)))
}

// withdrawAll removes the prompts that wait and that the sender may remove.
func (g *gateway) withdrawAll(w http.ResponseWriter, r *http.Request) error {
	return noContent(w, g.withdrawn(r))
}

func (g *gateway) withdrawn(r *http.Request) error {
	return g.Hub.WithdrawAll(r.Context(), r.PathValue("id"), g.queueUser(r))
}

// continueQueue lets the prompts run that a stop has held.
func (g *gateway) continueQueue(w http.ResponseWriter, r *http.Request) error {
	return noContent(w, g.Hub.ContinueQueue(r.Context(), r.PathValue("id"), g.sender(r)))
}

// promote lets a prompt that waits run now.
func (g *gateway) promote(w http.ResponseWriter, r *http.Request) error {
	return noContent(w, g.Hub.Promote(r.Context(), r.PathValue("id"), r.PathValue("turn"), g.queueUser(r)))
}
