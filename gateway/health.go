package gateway

import "net/http"

// This file has the routes for health checks.

func (g *gateway) healthy(w http.ResponseWriter, _ *http.Request) error {
	return writeJSON(w, http.StatusOK, map[string]string{"status": "ok"})
}

func (g *gateway) ready(w http.ResponseWriter, _ *http.Request) error {
	err := g.Hub.Ready()
	if g.Ready != nil && err == nil {
		err = g.Ready()
	}
	if err != nil {
		return &httpError{http.StatusServiceUnavailable, "not_ready", sentence(err.Error())}
	}
	// Damage of some sessions is no reason to refuse the others.
	damage := g.Hub.Damage()
	return writeJSON(w, http.StatusOK, struct {
		Status   string `json:"status"`
		Sessions int    `json:"damaged_sessions"`
		Files    int    `json:"damaged_files"`
	}{"ready", len(damage.Sessions), damage.Files})
}
