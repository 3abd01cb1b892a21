package gateway

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/uistream"
)

// expiring ends the context of a request when the request's token expires. Work that
// goes on without the sender, such as their turn, must not depend on it.
func expiring(r *http.Request) (*http.Request, context.CancelFunc) {
	p, _ := access.From(r.Context())
	if p.Expires.IsZero() {
		return r, func() {}
	}
	ctx, cancel := context.WithDeadlineCause(r.Context(), p.Expires, uistream.ErrExpired)
	return r.WithContext(ctx), cancel
}

// tellDismissed is the last event of a stream of records or events.
func tellDismissed(w *uistream.Writer, away *uistream.Revocation) {
	data, err := json.Marshal(struct {
		Error string `json:"error"`
		Code  string `json:"code"`
	}{away.Sentence, away.Code})
	if err == nil && w.Frames([]byte("data: "+string(data)+"\n\n")) == nil {
		_ = w.Flush() // its error says that the client has gone
	}
}
