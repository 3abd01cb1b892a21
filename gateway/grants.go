package gateway

import "net/http"

// This file has the route that lists grants.

// grants lists what persons have allowed beforehand.
func (g *gateway) grants(w http.ResponseWriter, r *http.Request) error {
	all, err := g.Hub.Grants(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, map[string]any{"grants": all})
}

// revoke takes a grant away.
func (g *gateway) revoke(w http.ResponseWriter, r *http.Request) error {
	if err := g.authz.MayPermit(r); err != nil {
		return err
	}
	if err := g.Hub.Revoke(r.Context(), r.PathValue("id"), r.PathValue("grant")); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
