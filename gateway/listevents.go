package gateway

import (
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/gateway/authz"
	"github.com/tributary-dev/tributary/session"
)

// listEvents streams the sender's list of sessions: the newest page, then its changes.
func (g *gateway) listEvents(w http.ResponseWriter, r *http.Request) error {
	limit, err := listLimit(r)
	if err != nil {
		return err
	}
	choice, some := g.authz.Visible(r.Context())
	if !some {
		return authz.RoleTooSmall(0, access.Viewer)
	}
	choice.Archived = new(bool) // those that are not
	ctx, rd := g.reading(r.Context(), r)
	return follow(g, w, r, rd, g.Hub.WatchList(ctx, choice, limit), weighList, func(e session.ListEvent) (id string, data []byte, err error) {
		data, err = json.Marshal(g.listEvent(r, e))
		return "", data, err
	})
}

// weighList estimates the bytes of an event.
func weighList(e session.ListEvent) int {
	const typical = 1 << 10
	if e.Page != nil {
		return typical * len(e.Page.Sessions)
	}
	return typical
}

// listEvent is an event in JSON. Its keys depend on its type.
func (g *gateway) listEvent(r *http.Request, e session.ListEvent) map[string]any {
	switch {
	case e.Page != nil:
		event := map[string]any{"type": "list", "sessions": g.views(r, e.Page.Sessions)}
		if e.Page.Next != 0 {
			event["next"] = strconv.FormatInt(e.Page.Next, 10)
		}
		return event
	case e.Changed != nil:
		return map[string]any{"type": "session", "session": g.view(r, *e.Changed)}
	case e.Requests:
		return map[string]any{"type": "requests"}
	}
	return map[string]any{"type": "gone", "id": e.Gone}
}
