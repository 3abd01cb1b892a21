package gateway

import (
	"net/http"

	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
)

// This file has the route for messages into a running turn.

// steer puts a message into the running turn, for an agent that can take one.
func (g *gateway) steer(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		Text string `json:"text"`
	}
	if err := g.readAuthorizedJSON(w, r, &body); err != nil {
		return err
	}
	if body.Text == "" {
		return session.ErrEmptyPrompt
	}
	message := trace.UserMessage{Parts: []trace.InputPart{{Type: trace.InputText, Text: body.Text}}}
	err := g.Hub.Steer(r.Context(), r.PathValue("id"), session.Prompt{Message: message, By: caller(r), MayPermit: g.authz.MayPermit(r) == nil})
	if err != nil {
		return err
	}
	w.WriteHeader(http.StatusAccepted)
	return nil
}
