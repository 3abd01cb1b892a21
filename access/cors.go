package access

import (
	"net/http"
	"strings"
)

const (
	allowMethods = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"
	// exposeHeaders are what a client on another origin reads beside the body;
	// the two of the workflow transport are what it resumes by.
	exposeHeaders = "x-vercel-ai-ui-message-stream, Link, Retry-After, X-Tributary-Code, x-workflow-run-id, x-workflow-stream-tail-index"
	// preflightSeconds is how long a browser may remember a preflight: short
	// enough that a changed allow_origins is felt.
	preflightSeconds = "600"
	// maxAllowHeaders bounds what a preflight can make us repeat.
	maxAllowHeaders = 32
	maxHeaderName   = 64
)

// isPreflight reports whether r is a browser's question before a request.
func isPreflight(r *http.Request) bool {
	return r.Method == http.MethodOptions && r.Header.Get("Origin") != "" &&
		r.Header.Get("Access-Control-Request-Method") != ""
}

// share lets the page that sent r read the response. Credentials are never
// allowed: a page elsewhere has the bearer token or nothing.
func share(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", r.Header.Get("Origin"))
	h.Set("Access-Control-Expose-Headers", exposeHeaders)
}

// answerPreflight says yes: the origin has been checked, the request itself
// will be checked again.
func answerPreflight(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Del("Access-Control-Expose-Headers")
	h.Add("Vary", "Access-Control-Request-Method, Access-Control-Request-Headers")
	h.Set("Access-Control-Allow-Methods", allowMethods)
	h.Set("Access-Control-Allow-Headers", allowHeaders(r.Header.Values("Access-Control-Request-Headers")))
	h.Set("Access-Control-Max-Age", preflightSeconds)
	w.WriteHeader(http.StatusNoContent)
}

// allowHeaders repeats the header names that were asked for where they are
// plain tokens, after the two that every client needs.
func allowHeaders(requested []string) string {
	names := []string{"authorization", "content-type"}
	seen := map[string]bool{"authorization": true, "content-type": true}
	for _, value := range requested {
		for name := range strings.SplitSeq(value, ",") {
			name = strings.ToLower(strings.Trim(name, " \t"))
			if len(names) == maxAllowHeaders {
				return strings.Join(names, ", ")
			}
			if headerName(name) && !seen[name] {
				seen[name] = true
				names = append(names, name)
			}
		}
	}
	return strings.Join(names, ", ")
}

// headerName leaves out "*" too, which would mean every header.
func headerName(s string) bool {
	for _, c := range []byte(s) {
		if !alphanumeric(c) && c != '-' && c != '_' {
			return false
		}
	}
	return s != "" && len(s) <= maxHeaderName
}
