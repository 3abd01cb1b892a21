package gateway

import (
	"net/http"
	"time"

	"github.com/tributary-dev/tributary/gateway/refusal"
	"github.com/tributary-dev/tributary/policy/workspace/spaces"
)

// This file has the routes for the workspaces that sessions have of their own.

// workspaceView is a workspace in JSON.
type workspaceView struct {
	Session string      `json:"session"`
	Agent   string      `json:"agent"`
	Form    spaces.Form `json:"form"`
	Path    string      `json:"path"`
	Made    time.Time   `json:"made"`
	// State is clean, changed, commits, unknown or unfinished, and Holds says more.
	State string `json:"state"`
	Holds string `json:"holds,omitempty"`
	// LeftOver says that the session was deleted.
	LeftOver bool `json:"left_over"`
}

// workspaces lists the workspaces, with what would be lost with each.
func (g *gateway) workspaces(w http.ResponseWriter, r *http.Request) error {
	all, err := g.Hub.ListWorkspaces(r.Context())
	if err != nil {
		return err
	}
	views := make([]workspaceView, 0, len(all))
	for _, s := range all {
		v := workspaceView{s.Session, s.Agent, s.Form, s.Path(), s.Made, s.State(), s.Holding.String(), s.LeftOver}
		if !s.Ready {
			v.State = "unfinished"
		}
		views = append(views, v)
	}
	return writeJSON(w, http.StatusOK, map[string]any{"workspaces": views})
}

// removeWorkspace removes what a deleted session has left.
func (g *gateway) removeWorkspace(w http.ResponseWriter, r *http.Request) error {
	discard := r.URL.Query().Get("discard")
	switch discard {
	case "", "false", "true":
	default:
		return refusal.Malformed("`discard` must be true or false.")
	}
	return noContent(w, g.Hub.RemoveWorkspace(r.Context(), r.PathValue("session"), discard == "true"))
}
