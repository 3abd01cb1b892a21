package gateway

import (
	"net/http"
	"strings"

	"github.com/tributary-dev/tributary/gateway/cluster"
	"github.com/tributary-dev/tributary/gateway/refusal"
)

// This file reads the keys of requests that act once, also if they are sent twice.

// mostKey bounds a key, in bytes.
const mostKey = 255

// actsOnce are the routes that take a key.
func actsOnce() []string {
	return []string{
		chatRoute, "POST /api/sessions/{id}/chat", "POST /api/chat/{id}/stop", "POST /api/sessions/{id}/stop",
		"POST /api/sessions/{id}/permissions/{request}", "POST /api/sessions/{id}/questions/{request}",
	}
}

// requestKey is the key of a request, or "".
func requestKey(r *http.Request) (string, error) {
	key := r.Header.Get(cluster.KeyHeader)
	if len(key) > mostKey || strings.ContainsFunc(key, func(c rune) bool { return c < '!' || c > '~' }) {
		return "", refusal.Malformed("`%s` must be at most %d characters of printable ASCII, without spaces.", cluster.KeyHeader, mostKey)
	}
	return key, nil
}
