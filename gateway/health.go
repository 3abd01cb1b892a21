package gateway

import "net/http"

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
	return writeJSON(w, http.StatusOK, map[string]string{"status": "ready"})
}
