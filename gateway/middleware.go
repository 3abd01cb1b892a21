package gateway

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/uistream"
)

// This file has the handlers around all routes.

// noStore says of every answer that no browser and no proxy may keep it. A stream and
// a file of the page say of themselves what holds for them.
func noStore(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}

// elsewhere answers a request that no route takes: the path has other methods only,
// or is unknown.
func (g *gateway) elsewhere(mux *http.ServeMux) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if allowed := methods(mux, r); len(allowed) > 0 {
			w.Header().Set("Allow", strings.Join(allowed, ", "))
			return &httpError{
				http.StatusMethodNotAllowed, "method_not_allowed",
				"This address does not take " + r.Method + ": send " + strings.Join(allowed, " or ") + ".",
			}
		}
		return nowhere(r)
	}
}

// nowhere says that no route takes a request.
func nowhere(r *http.Request) error {
	return &httpError{http.StatusNotFound, "not_found", "There is no " + r.Method + " " + r.URL.Path + " here: see the documentation for the routes."}
}

// methods lists what a path takes.
func methods(mux *http.ServeMux, r *http.Request) []string {
	var allowed []string
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		_, pattern := mux.Handler(&http.Request{Method: method, URL: r.URL, Host: r.Host})
		takes, _, named := strings.Cut(pattern, " ")
		if named && (takes == method || takes == http.MethodGet && method == http.MethodHead) {
			allowed = append(allowed, method)
		}
	}
	return allowed
}

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

// writeRevoked is the last event of a stream of records or events.
func writeRevoked(w *uistream.Writer, away *uistream.Revocation) {
	data, err := json.Marshal(struct {
		Error string `json:"error"`
		Code  string `json:"code"`
	}{away.Sentence, away.Code})
	if err == nil && w.Frames([]byte("data: "+string(data)+"\n\n")) == nil {
		_ = w.Flush() // its error says that the client has gone
	}
}
