package gateway

import (
	"net/http"

	"github.com/tributary-dev/tributary/gateway/refusal"
)

// This file has the routes for health checks.

func (g *gateway) healthy(w http.ResponseWriter, _ *http.Request) error {
	return writeJSON(w, http.StatusOK, map[string]string{"status": "ok"})
}

// notReady reports why the gateway cannot take prompts, or nil.
func (g *gateway) notReady() error {
	err := g.Hub.Ready()
	if g.Ready != nil && err == nil {
		err = g.Ready()
	}
	return err
}

func (g *gateway) ready(w http.ResponseWriter, _ *http.Request) error {
	if err := g.notReady(); err != nil {
		return &refusal.Error{Status: http.StatusServiceUnavailable, Code: "not_ready", Sentence: sentence(err.Error())}
	}
	// Damage of some sessions is no reason to refuse the others.
	damage := g.Hub.Damage()
	return writeJSON(w, http.StatusOK, struct {
		Status   string `json:"status"`
		Sessions int    `json:"damaged_sessions"`
		Files    int    `json:"damaged_files"`
	}{"ready", len(damage.Sessions), damage.Files})
}
