package cli

import (
	"context"
	"net"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/tributary-dev/tributary/config"
	"github.com/tributary-dev/tributary/gateway"
)

// connections bounds how many connections are open at once. Without a bound the process
// runs out of open files, and the log cannot write any more.
type connections struct {
	*net.TCPListener
	most int64 // negative: no bound
	open atomic.Int64
}

// surplus is how many connections beyond the bound get an answer that says why they are
// refused. The guard closes further connections without an answer.
const surplus = 100

// newConnections bounds the connections of a listener: as configured, or to 10,000
// if the process may open twice as many files, else to half of those.
func newConnections(l *net.TCPListener, asked config.Limit) *connections {
	const byDefault = 10_000
	most := int64(asked)
	if asked == 0 {
		most = byDefault
		if files, bounded := openFiles(); bounded && files/2 < byDefault {
			most = int64(files / 2) //nolint:gosec // it is less than 10,000
		}
	}
	return &connections{TCPListener: l, most: most}
}

// Accept implements net.Listener.
func (c *connections) Accept() (net.Conn, error) {
	for {
		conn, err := c.AcceptTCP()
		if err != nil {
			return nil, err
		}
		setUserTimeout(conn)
		n := c.open.Add(1)
		switch {
		case c.most < 0 || n <= c.most:
			return &connection{TCPConn: conn, of: c}, nil
		case n <= c.most+surplus:
			return &connection{TCPConn: conn, of: c, surplus: true}, nil
		}
		_ = conn.Close()
		c.open.Add(-1)
	}
}

// connection is counted until it is closed. A connection keeps all methods of a TCP
// connection: the server half-closes it after some refusals, so that clients read them.
type connection struct {
	*net.TCPConn
	of      *connections
	surplus bool
	closed  sync.Once
}

// Close implements net.Conn.
func (c *connection) Close() error {
	c.closed.Do(func() { c.of.open.Add(-1) })
	return c.TCPConn.Close()
}

type surplusKey struct{}

// mark is the server's ConnContext: it tells the handlers of connections that are
// too many.
func mark(ctx context.Context, conn net.Conn) context.Context {
	if under, ok := conn.(interface{ NetConn() net.Conn }); ok { // TLS
		conn = under.NetConn()
	}
	if c, ok := conn.(*connection); ok && c.surplus {
		return context.WithValue(ctx, surplusKey{}, true)
	}
	return ctx
}

func isSurplus(r *http.Request) bool { return r.Context().Value(surplusKey{}) != nil }

// closing closes connections that are too many after their first answer.
func closing(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isSurplus(r) {
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	})
}

// turnAway refuses a request on a surplus connection. The guard calls turnAway.
func turnAway(w http.ResponseWriter, r *http.Request) bool {
	if !isSurplus(r) {
		return false
	}
	w.Header().Set("Retry-After", "5")
	gateway.Refuse(w, r, http.StatusServiceUnavailable, "too_many_connections", "Too many connections to the gateway are open: try again in a moment.")
	return true
}
