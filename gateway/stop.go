package gateway

import (
	"errors"
	"net/http"

	"github.com/tributary-dev/tributary/gateway/refusal"
	"github.com/tributary-dev/tributary/session"
)

// This file has the route that stops a turn.

// stopBody is what a POST may say that stops a turn.
type stopBody struct {
	Turn string `json:"turn"`
	// Queue is what becomes of the prompts that wait: hold (the default), run or remove.
	Queue string `json:"queue"`
}

func (b stopBody) check() error {
	switch b.Queue {
	case "", "hold", "run", "remove":
		return nil
	}
	return refusal.Malformed("`queue` must be hold, run or remove.")
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
	if err := body.check(); err != nil {
		return err
	}
	key, err := requestKey(r)
	if err != nil {
		return err
	}
	did, err := g.Hub.Stop(r.Context(), r.PathValue("id"), session.StopRequest{
		Turn: body.Turn, By: caller(r), Hold: body.Queue != "run", Key: key,
	})
	if err == nil && body.Queue == "remove" && !did.Repeated { // else it would remove what came since
		err = g.withdrawn(r)
	}
	if errors.Is(err, session.ErrUnknownSession) {
		did, err = session.Stopped{}, nil // deleted just now: nothing runs there, and that is what was asked for
	}
	if err != nil {
		return err
	}
	answer := stopAnswer{Stopped: did.Done}
	if did.Turn != "" {
		answer.Turn = &did.Turn
	}
	return writeJSON(w, http.StatusOK, answer)
}

// stopNothing is stop where there is no session for the sender, so that nothing runs.
func stopNothing(w http.ResponseWriter, r *http.Request) error {
	var body stopBody
	if err := readJSON(w, r, &body); err != nil {
		return err
	}
	if err := body.check(); err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, stopAnswer{})
}
