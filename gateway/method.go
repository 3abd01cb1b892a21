package gateway

import (
	"net/http"
	"strings"
)

// elsewhere answers a request that no route takes: the path has other methods only,
// or is unknown.
func (g *gateway) elsewhere(mux *http.ServeMux) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if allowed := methods(mux, r); len(allowed) > 0 {
			w.Header().Set("Allow", strings.Join(allowed, ", "))
			return &refusal{
				http.StatusMethodNotAllowed, "method_not_allowed",
				"This address does not take " + r.Method + ": send " + strings.Join(allowed, " or ") + ".",
			}
		}
		return nowhere(r)
	}
}

// nowhere says that no route takes a request.
func nowhere(r *http.Request) error {
	return &refusal{http.StatusNotFound, "not_found", "There is no " + r.Method + " " + r.URL.Path + " here: see the documentation for the routes."}
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
