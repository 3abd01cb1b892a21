package agentops

import (
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/gateway/refusal"
	"github.com/tributary-dev/tributary/internal/inflight"
	"github.com/tributary-dev/tributary/internal/wsconn"
	"github.com/tributary-dev/tributary/session"
)

// subprotocols are the names that the protocol of the socket has had, the present one first.
func subprotocols() []string { return []string{"valet", "agent-ops"} }

// The roles of the programs that connect by WebSocket.
const (
	roleClient = "client"
	roleRunner = "runner"
)

const (
	maxFrame     = 32 << 20 // as one message of a chat
	slowestFrame = 1 << 10  // bytes a second, as of a request's body
	stopping     = "the gateway is stopping"
)

// checkEvery is the time between two checks whether a connection may go on.
const checkEvery = 30 * time.Second

// Options configure a Server.
type Options struct {
	Hub     *session.Hub
	Gateway Gateway
	// Runners admits the runners of sessions; nil: there are none.
	Runners Runners
	// Sockets counts the WebSockets that are open. The HTTP server has handed their connections over, so its own end
	// does not wait for them: the caller that ends the gateway must. They end by themselves when the hub has closed.
	Sockets *inflight.Count
	// Read bounds the wait for a piece of a frame, and Write that for a frame to be written.
	Read, Write time.Duration
	// Ping is the time between two pings; 15 s if zero.
	Ping   time.Duration
	Logger *slog.Logger
}

// Server serves WebSockets to browsers and runners of Agent Ops.
type Server struct {
	Options
	mu      sync.Mutex
	clients map[string][]*client // by session, in the order in which they came
}

// New returns a Server without connections.
func New(o Options) *Server {
	if o.Ping <= 0 {
		o.Ping = 15 * time.Second
	}
	return &Server{Options: o, clients: map[string][]*client{}}
}

// ErrNotOffered answers the addresses that an Agent Ops server has beside its socket. The
// status makes the clients use the socket, as with an old server.
var ErrNotOffered = &refusal.Error{
	Status: http.StatusNotImplemented, Code: "not_offered",
	Sentence: "This gateway has no such address of Agent Ops: use the socket of the session.",
}

// Connect serves the WebSocket of the session that the path value "id" names. An error is
// for the caller to answer with.
func (s *Server) Connect(w http.ResponseWriter, r *http.Request) error {
	role := r.URL.Query().Get("role")
	switch {
	case !access.Upgrades(r):
		w.Header().Set("Upgrade", "websocket")
		return &refusal.Error{Status: http.StatusUpgradeRequired, Code: "upgrade_required", Sentence: "This address takes WebSockets only: connect with one."}
	case role == roleClient:
		return s.client(w, r)
	case role == roleRunner:
		return s.runner(w, r)
	}
	return refusal.Malformed("Say `role=client` or `role=runner`.")
}

// IsRunner reports whether a request is a runner's, which has a token of its own kind. The
// id of a session may end as the address does, so the address is parsed as a whole.
func IsRunner(r *http.Request) bool {
	rest, of := strings.CutPrefix(r.URL.EscapedPath(), "/api/sessions/")
	id, is := strings.CutSuffix(rest, "/ws")
	return access.Upgrades(r) && of && is && !strings.Contains(id, "/") && r.URL.Query().Get("role") == roleRunner
}

// accept makes a connection of a request whose Origin the gateway has checked. hold counts
// the memory of a large frame.
func (s *Server) accept(w http.ResponseWriter, r *http.Request, hold func(int64) error) (*wsconn.Conn, error) {
	return wsconn.Accept(w, r, wsconn.Config{
		Subprotocols: subprotocols(), Hold: hold,
		MaxFrame: maxFrame, PieceTime: s.Read, MinRate: slowestFrame,
		WriteTime: s.Write, PingEvery: s.Ping, PongTime: s.Write,
	})
}
