package gateway

import (
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/tributary-dev/tributary/session"
)

// This file has the route for the events of a session.

// events streams the events of a session, for tabs and lists that did not cause them.
func (g *gateway) events(w http.ResponseWriter, r *http.Request) error {
	after, err := mark(r)
	if err != nil {
		return err
	}
	ctx, rd := g.reading(r.Context(), r)
	events, err := g.Hub.Events(ctx, r.PathValue("id"), after)
	if err != nil {
		return err
	}
	goodbye, err := g.limiter.Client(r.PathValue("id"))
	if err != nil {
		return err
	}
	defer goodbye()
	return follow(g, w, r, rd, events, func(session.Event) int { return 0 }, func(e session.Event) (id string, data []byte, err error) {
		if !e.More {
			id = strconv.FormatUint(e.Seq, 10)
		}
		data, err = json.Marshal(e)
		return id, data, err
	})
}
