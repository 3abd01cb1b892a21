package gateway

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/tributary-dev/tributary/gateway/refusal"
	"github.com/tributary-dev/tributary/uistream"
)

// This file has the handlers around all routes.

// noStore forbids browsers and proxies to keep an answer. Streams and files of the page have
// headers of their own.
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
			return &refusal.Error{
				Status: http.StatusMethodNotAllowed, Code: "method_not_allowed",
				Sentence: "This address does not take " + r.Method + ": send " + strings.Join(allowed, " or ") + ".",
			}
		}
		return nowhere(r)
	}
}

// nowhere says that no route takes a request.
func nowhere(r *http.Request) error {
	return &refusal.Error{
		Status: http.StatusNotFound, Code: "not_found",
		Sentence: "There is no " + r.Method + " " + r.URL.Path + " here: see the documentation for the routes.",
	}
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
