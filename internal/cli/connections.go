package cli

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tributary-dev/tributary/config"
	"github.com/tributary-dev/tributary/gateway"
	"github.com/tributary-dev/tributary/gateway/metrics"
)

// connections bounds how many connections are open at once. Without a bound the process
// runs out of open files, and the log cannot write any more.
type connections struct {
	*net.TCPListener
	most    int64 // negative: no bound
	logger  *slog.Logger
	open    atomic.Int64
	refused atomic.Int64 // connections beyond the bound since the start
	told    time.Time    // when the log said last that all are taken

	mu    sync.Mutex
	spare map[bool][]*connection // those beyond the bound, the oldest first: from this machine, and from others
}

const (
	// surplus is how many connections beyond the bound are open at once, for health checks and for
	// answers that say why others are refused. This machine has as many for itself. The next one takes
	// the place of the oldest, so that clients that send nothing keep no health check out.
	surplus = 100
	// takenEvery is how often the log says that all connections are taken.
	takenEvery = time.Minute
)

// newConnections bounds the connections of a listener: as configured, or to 10,000
// if the process may open twice as many files, else to half of those.
func newConnections(l *net.TCPListener, asked config.Limit, logger *slog.Logger) *connections {
	const byDefault = 10_000
	most := int64(asked)
	if asked == 0 {
		most = byDefault
		if files, bounded := openFiles(); bounded && files/2 < byDefault {
			most = int64(files / 2) //nolint:gosec // it is less than 10,000
		}
	}
	return &connections{TCPListener: l, most: most, logger: logger, spare: map[bool][]*connection{}}
}

// measure counts the connections.
func (c *connections) measure(m *metrics.Meter) {
	m.Gauge("tributary_connections", "Connections of clients that are open.", func() float64 { return float64(c.open.Load()) })
	m.Counter("tributary_connections_refused_total", "Connections that came while all were taken.", func() float64 { return float64(c.refused.Load()) })
}

// Accept implements net.Listener.
func (c *connections) Accept() (net.Conn, error) {
	conn, err := c.AcceptTCP()
	if err != nil {
		return nil, err
	}
	setUserTimeout(conn)
	taken := &connection{TCPConn: conn, of: c}
	if n := c.open.Add(1); c.most < 0 || n <= c.most {
		return taken, nil
	}
	c.refused.Add(1)
	if now := time.Now(); now.Sub(c.told) >= takenEvery {
		c.told = now
		c.logger.Warn("all connections are taken: further ones get health checks and refusals only", "limit", c.most, "refused", c.refused.Load())
	}
	c.keepSpare(taken)
	return taken, nil
}

// keepSpare keeps a connection beyond the bound, and closes the oldest one if there are too many.
func (c *connections) keepSpare(taken *connection) {
	taken.surplus = true
	at, _ := taken.RemoteAddr().(*net.TCPAddr)
	taken.local = at != nil && at.IP.IsLoopback()
	c.mu.Lock()
	c.spare[taken.local] = append(c.spare[taken.local], taken)
	var oldest *connection
	if all := c.spare[taken.local]; len(all) > surplus {
		oldest = all[0]
	}
	c.mu.Unlock()
	if oldest != nil {
		_ = oldest.Close()
	}
}

// connection is counted until it is closed. A connection keeps all methods of a TCP
// connection: the server half-closes it after some refusals, so that clients read them.
type connection struct {
	*net.TCPConn
	of      *connections
	surplus bool
	local   bool // of a surplus connection: it comes from this machine
	closed  sync.Once
}

// Close implements net.Conn.
func (c *connection) Close() error {
	c.closed.Do(func() {
		c.of.open.Add(-1)
		if c.surplus {
			c.of.mu.Lock()
			defer c.of.mu.Unlock()
			c.of.spare[c.local] = slices.DeleteFunc(c.of.spare[c.local], func(other *connection) bool { return other == c })
		}
	})
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
