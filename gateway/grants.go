package gateway

import "net/http"

// This file has the route that lists grants.

// grants lists what persons have allowed beforehand.
func (g *gateway) grants(w http.ResponseWriter, r *http.Request) error {
	all, err := g.Hub.Grants(r.Context(), r.PathValue("id"))
	return writeResult(w, map[string]any{"grants": all}, err)
}

// revoke takes a grant away.
func (g *gateway) revoke(w http.ResponseWriter, r *http.Request) error {
	if err := g.authz.MayPermit(r); err != nil {
		return err
	}
	return noContent(w, g.Hub.Revoke(r.Context(), r.PathValue("id"), r.PathValue("grant")))
}
