package gateway

import (
	"net/http"

	"github.com/tributary-dev/tributary/gateway/agentops"
	"github.com/tributary-dev/tributary/gateway/authz"
	"github.com/tributary-dev/tributary/uistream"
)

// This file has the route for the history of a session.

// messages is a session's history as the stock client holds it: a plain
// UIMessage[]. A Link header leads to what came before. All failures happen before
// the first byte, and have their status.
func (g *gateway) messages(w http.ResponseWriter, r *http.Request) error {
	const page, most = 100, 1000
	opts, err := g.streamOptions(r)
	if err != nil {
		return err
	}
	limit, err := number("limit", r.URL.Query().Get("limit"), page, 1, most)
	if err != nil {
		return err
	}
	r, b, err := g.page(r)
	if err != nil {
		return err
	}
	defer b.Waits()
	info := authz.Session(r.Context())
	history, err := g.Hub.History(r.Context(), r.PathValue("id"), r.URL.Query().Get("before"), int(limit)) //nolint:gosec // it is at most 1000
	if err != nil {
		return err
	}
	if err := b.Reserve(downloadCost * int64(history.Bytes)); err != nil {
		return err
	}
	if after := r.URL.Query(); after.Has(agentops.After) {
		messages, err := agentops.Messages(info.ID, after.Get(agentops.After), history.Records)
		if err != nil {
			return err
		}
		return writeJSON(w, http.StatusOK, messages)
	}
	messages, err := uistream.History(history.Records, opts.of(info))
	if err != nil {
		return err
	}
	if lost := g.Hub.Damage().Sessions[info.ID]; lost != "" {
		messages = append([]uistream.Message{damageNotice(info.ID, lost)}, messages...)
	}
	if history.Before != "" {
		link(w, r, "prev", history.Before)
	}
	w.Header().Set("Content-Type", "application/json")
	_ = uistream.WriteMessages(w, messages) // its error says that the client has gone
	return nil
}

// damageNotice heads a history of which records are lost, for the people who read it.
func damageNotice(session, lost string) uistream.Message {
	return uistream.Message{
		ID: "damaged_" + session, Role: "system",
		Parts: []uistream.Part{{Type: "text", State: "done", Text: "Some of this conversation is lost: " + lost + "."}},
	}
}
