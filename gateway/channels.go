package gateway

import (
	"net/http"

	"github.com/tributary-dev/tributary/gateway/authz"
)

// This file has the route that lists channels.

// channels lists where a session's prompts came from, the default channel first. Only
// agents with several channels have more than that one.
func (g *gateway) channels(w http.ResponseWriter, r *http.Request) error {
	type channelView struct {
		ID      string `json:"id"`
		Default bool   `json:"default"`
	}
	channels := []channelView{{Default: true}}
	for _, id := range authz.Session(r.Context()).Channels {
		channels = append(channels, channelView{ID: id})
	}
	return writeJSON(w, http.StatusOK, map[string]any{"channels": channels})
}
