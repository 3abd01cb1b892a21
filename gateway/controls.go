package gateway

import "net/http"

// This file has the route for what users can choose in a session.

// controls lists what the session's agent offers.
func (g *gateway) controls(w http.ResponseWriter, r *http.Request) error {
	c, err := g.Hub.Controls(r.Context(), r.PathValue("id"))
	return writeResult(w, c, err)
}
