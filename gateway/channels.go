package gateway

import "net/http"

// This file has the route that lists channels.

// channels lists where a session's prompts came from, the default channel first. Only
// agents with several channels have more than that one.
func (g *gateway) channels(w http.ResponseWriter, r *http.Request) error {
	type channelView struct {
		ID      string `json:"id"`
		Default bool   `json:"default"`
	}
	info, err := g.Hub.Get(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	channels := []channelView{{Default: true}}
	for _, id := range info.Channels {
		channels = append(channels, channelView{ID: id})
	}
	return writeJSON(w, http.StatusOK, map[string]any{"channels": channels})
}
