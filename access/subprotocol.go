package access

import (
	"net/http"
	"strings"
)

// subprotocolPrefix begins the subprotocol that holds a token.
const subprotocolPrefix = "bearer."

// bearerSubprotocol returns the token that a WebSocket's opening request has among
// its subprotocols, and whether there is one. It counts as the header does, where there
// is none.
func bearerSubprotocol(r *http.Request) (token string, ok bool) {
	return subprotocol(r, subprotocolPrefix)
}

// subprotocol returns what follows a prefix in one of the subprotocols: a page cannot give
// the opening request of a WebSocket a header of its own.
func subprotocol(r *http.Request, prefix string) (secret string, ok bool) {
	if !Upgrades(r) {
		return "", false
	}
	for _, value := range r.Header.Values("Sec-WebSocket-Protocol") {
		for offered := range strings.SplitSeq(value, ",") {
			t, is := strings.CutPrefix(strings.TrimSpace(offered), prefix)
			if is && ok {
				return "", true // which one counts is anybody's guess: none does
			}
			if is {
				secret, ok = t, true
			}
		}
	}
	return secret, ok
}

// Upgrades reports whether r asks to become a WebSocket.
func Upgrades(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.EqualFold(strings.TrimSpace(r.Header.Get("Upgrade")), "websocket")
}
