package gateway

import "net/http"

// This file has the route for the files of a workspace.

// files finds files in the workspace of a session's agent.
func (g *gateway) files(w http.ResponseWriter, r *http.Request) error {
	const page, most = 20, 200
	q := r.URL.Query()
	limit, err := number("limit", q.Get("limit"), page, 1, most)
	if err != nil {
		return err
	}
	files, more, err := g.Hub.Files(r.Context(), r.PathValue("id"), q.Get("q"), int(limit)) //nolint:gosec // it is at most 200
	return writeResult(w, map[string]any{"files": files, "more": more}, err)
}
