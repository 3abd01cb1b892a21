package gateway

import (
	"net/http"
	"strings"

	"github.com/coder/websocket"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/agentops"
)

// The subprotocols of Agent Ops, at present and in February, the better one first.
const (
	protocolHead = "valet"
	protocolFeb  = "agent-ops"
)

// The roles of who connects by WebSocket.
const (
	roleClient = "client"
	roleRunner = "runner"
)

// ws stands where an Agent Ops session agent stands: browsers look at a session by
// it and take part, and a runner drives one.
func (g *gateway) ws(w http.ResponseWriter, r *http.Request) error {
	role := r.URL.Query().Get("role")
	switch {
	case !access.Upgrades(r):
		w.Header().Set("Upgrade", "websocket")
		return &refusal{http.StatusUpgradeRequired, "upgrade_required", "This address takes WebSockets only: connect with one."}
	case role == roleClient:
		return g.client(w, r)
	case role == roleRunner:
		return g.runner(w, r)
	}
	return malformed("Say `role=client` or `role=runner`.")
}

// isRunner tells whether a request is a runner's, which has a token of its own kind. A
// session whose own name ends as the address does is not meant.
func isRunner(r *http.Request) bool {
	rest, of := strings.CutPrefix(r.URL.EscapedPath(), "/api/sessions/")
	id, is := strings.CutSuffix(rest, "/ws")
	return access.Upgrades(r) && of && is && !strings.Contains(id, "/") && r.URL.Query().Get("role") == roleRunner
}

// era is the time that a browser lives in, by what it says.
func era(r *http.Request) (agentops.Era, error) {
	switch said := r.URL.Query().Get("era"); said {
	case "head":
		return agentops.Head, nil
	case "march":
		return agentops.March, nil
	case "feb":
		return agentops.Feb, nil
	case "":
	default:
		return 0, malformed("`era` must be head, march or feb.")
	}
	offers := func(name string) bool {
		for _, value := range r.Header.Values("Sec-WebSocket-Protocol") {
			for offered := range strings.SplitSeq(value, ",") {
				if strings.EqualFold(strings.TrimSpace(offered), name) {
					return true
				}
			}
		}
		return false
	}
	if offers(protocolFeb) && !offers(protocolHead) {
		return agentops.Feb, nil
	}
	return agentops.Head, nil
}

// accept makes a WebSocket of a request. When it returns an error, the response has
// been written.
func accept(w http.ResponseWriter, r *http.Request) (*websocket.Conn, error) {
	return websocket.Accept(w, r, &websocket.AcceptOptions{
		Subprotocols:       []string{protocolHead, protocolFeb},
		InsecureSkipVerify: true, // the guard has looked at the origin
		CompressionMode:    websocket.CompressionDisabled,
	})
}

// notOffered answers the addresses that an Agent Ops server has beside its socket. The
// status makes the clients use the socket instead, as with an old server.
func notOffered(http.ResponseWriter, *http.Request) error {
	return &refusal{http.StatusNotImplemented, "not_offered", "This gateway has no such address of Agent Ops: use the socket of the session."}
}
