package gateway

import (
	"errors"
	"net/http"

	"github.com/tributary-dev/tributary/session"
)

// This file has the route that stops a turn.

// stopBody is what a POST may say that stops a turn.
type stopBody struct {
	Turn string `json:"turn"`
}

// stopAnswer tells which turn was meant, and whether it was this request that ended it.
type stopAnswer struct {
	Turn    *string `json:"turn"`
	Stopped bool    `json:"stopped"`
}

// stop ends the turn named, or the running one, for everybody.
func (g *gateway) stop(w http.ResponseWriter, r *http.Request) error {
	var body stopBody
	if err := g.readAuthorizedJSON(w, r, &body); err != nil {
		return err
	}
	id, stopped, err := g.Hub.StopTurn(r.Context(), r.PathValue("id"), body.Turn, caller(r))
	if errors.Is(err, session.ErrUnknownSession) {
		id, stopped, err = "", false, nil // deleted just now: nothing runs there, and that is what was asked for
	}
	if err != nil {
		return err
	}
	answer := stopAnswer{Stopped: stopped}
	if id != "" {
		answer.Turn = &id
	}
	return writeJSON(w, http.StatusOK, answer)
}

// stopNothing is stop where there is no session for the sender, so that nothing runs.
func stopNothing(w http.ResponseWriter, r *http.Request) error {
	if err := readJSON(w, r, &stopBody{}); err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, stopAnswer{})
}
