package cluster

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/internal/inflight"
)

// This file has the gateway's own place among the others.

// Store knows the gateways and which of them owns a session. An eventlog.Log is one.
type Store interface {
	// Self is this gateway.
	Self() eventlog.Gateway
	// Announce tells the others where this gateway is, and its key.
	Announce(ctx context.Context, address string, key []byte, version string) error
	// Gateways are those that run now.
	Gateways(ctx context.Context) ([]eventlog.Gateway, error)
	// OwnerOf is the running gateway that owns a session.
	OwnerOf(ctx context.Context, session string) (owner eventlog.Gateway, is bool, err error)
	// Owned is not 0 if this gateway owns the session. It reads memory only.
	Owned(session string) (term uint64)
}

// Options configure a Node.
type Options struct {
	Store Store
	// Version is that of the program.
	Version string
	// HomeOf is the name of the gateway that is to have a session while it has no owner; empty: any. Nil: any has any.
	HomeOf func(ctx context.Context, session string) (gateway string, err error)
	// Patience is how long a request waits for an owner that cannot be reached, until another gateway may
	// take the session; 20 s if zero.
	Patience time.Duration
	Logger   *slog.Logger
}

// Node is this gateway among those on one database. A Node is safe for concurrent use. A nil Node
// is alone.
type Node struct {
	store     Store
	version   string
	homeOf    func(context.Context, string) (string, error)
	patience  time.Duration
	logger    *slog.Logger
	identity  identity
	transport *http.Transport
	owner     http.Handler // answers requests that others pass on

	passed struct{ all, failed, continued atomic.Uint64 }

	server   *http.Server
	streams  inflight.Count  // of other gateways, that this one passes on
	stopping context.Context //nolint:containedctx // ends when their clients are told to come back
	stop     context.CancelFunc

	mu    sync.Mutex
	peers map[string]*peer // by ID
}

// Passed counts the requests that were passed on to other gateways.
type Passed struct {
	All       uint64
	Failed    uint64 // got no answer, or not all of it
	Continued uint64 // streams whose gateway ended, and that went on at the next one
}

// Passed counts since the start.
func (n *Node) Passed() Passed {
	if n == nil {
		return Passed{}
	}
	return Passed{n.passed.all.Load(), n.passed.failed.Load(), n.passed.continued.Load()}
}

// Cut counts a stream that was passed on and whose gateway ended.
func (n *Node) Cut(continued bool) {
	if continued {
		n.passed.continued.Add(1)
	} else {
		n.passed.failed.Add(1)
	}
}

// peer is another gateway with requests on their way.
type peer struct {
	context.Context //nolint:containedctx // ends when the gateway has ended
	end             context.CancelCauseFunc
}

// New makes a Node.
func New(o Options) (*Node, error) {
	id, err := newIdentity()
	if err != nil {
		return nil, err
	}
	n := &Node{
		store: o.Store, version: o.Version, homeOf: o.HomeOf, patience: cmp.Or(o.Patience, defaultPatience), identity: id, peers: map[string]*peer{},
		logger: cmp.Or(o.Logger, slog.New(slog.DiscardHandler)),
	}
	n.stopping, n.stop = context.WithCancel(context.Background())
	n.transport = &http.Transport{DialTLSContext: n.dial, MaxIdleConnsPerHost: mostIdle, IdleConnTimeout: time.Minute}
	n.server = &http.Server{
		Handler: http.HandlerFunc(n.answer), ReadHeaderTimeout: headerWithin, MaxHeaderBytes: mostHeader, IdleTimeout: 2 * time.Minute,
		TLSConfig: id.tls(n.isGateway), ErrorLog: slog.NewLogLogger(n.logger.Handler(), slog.LevelDebug),
	}
	return n, nil
}

// The bounds of connections between gateways.
const (
	dialWithin      = 2 * time.Second
	headerWithin    = 10 * time.Second
	mostIdle        = 64
	mostHeader      = 256 << 10 // the groups of a sender may be many
	defaultPatience = 20 * time.Second
	lookEvery       = time.Second
)

type dialedKey struct{}

// dial connects to the gateway that the request is for.
func (n *Node) dial(ctx context.Context, network, address string) (net.Conn, error) {
	to, _ := ctx.Value(dialedKey{}).(eventlog.Gateway)
	config := n.identity.tls(func(key []byte) bool { return len(to.Key) > 0 && string(key) == string(to.Key) })
	d := tls.Dialer{NetDialer: &net.Dialer{Timeout: dialWithin}, Config: config}
	ctx, cancel := context.WithTimeout(ctx, dialWithin)
	defer cancel()
	return d.DialContext(ctx, network, address) //nolint:wrapcheck // the caller tries again
}

// Handle sets what answers the requests that other gateways pass on.
func (n *Node) Handle(h http.Handler) {
	if n != nil {
		n.owner = h
	}
}

// Announce tells the other gateways the address of this one, before a client gives it a session that they ask it for.
func (n *Node) Announce(ctx context.Context, address string) error {
	if err := n.store.Announce(ctx, address, n.identity.key, n.version); err != nil {
		return fmt.Errorf("tell the other gateways the address of this one: %w", err)
	}
	return nil
}

// Serve answers other gateways at the listener until ctx ends. Then requests that are on their way are cut.
func (n *Node) Serve(ctx context.Context, l net.Listener) error {
	var all sync.WaitGroup
	defer all.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	all.Go(func() { n.watch(ctx) })
	all.Go(func() {
		<-ctx.Done()
		_ = n.server.Close()
		n.transport.CloseIdleConnections()
	})
	if err := n.server.Serve(tls.NewListener(l, n.server.TLSConfig)); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve other gateways: %w", err)
	}
	<-ctx.Done() // Shutdown may be waiting
	return nil
}

// answer answers a request that another gateway has passed on.
func (n *Node) answer(w http.ResponseWriter, r *http.Request) {
	session, err := url.QueryUnescape(r.Header.Get(sessionHeader))
	owner, is, failed := n.other(r.Context(), session)
	if err = errors.Join(err, failed); is || err != nil {
		n.logger.Debug("another gateway has the session", "owner", owner.Name, "error", err)
		w.WriteHeader(http.StatusMisdirectedRequest)
		return
	}
	r, err = withSender(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	n.owner.ServeHTTP(w, r)
}

// other is the running gateway that owns a session, or is to own it, if it is not this one.
func (n *Node) other(ctx context.Context, session string) (owner eventlog.Gateway, is bool, err error) {
	if n.store.Owned(session) != 0 {
		return owner, false, nil
	}
	owner, is, err = n.store.OwnerOf(ctx, session)
	if err == nil && !is && n.homeOf != nil && session != "" {
		owner, is, err = n.home(ctx, session)
	}
	return owner, is && owner.ID != n.store.Self().ID, err
}

// home is the running gateway that is to own a session that has no owner.
func (n *Node) home(ctx context.Context, session string) (home eventlog.Gateway, is bool, err error) {
	name, err := n.homeOf(ctx, session)
	if err != nil || name == "" || name == n.store.Self().Name {
		return home, false, err
	}
	all, err := n.store.Gateways(ctx)
	i := slices.IndexFunc(all, func(g eventlog.Gateway) bool { return g.Name == name && !g.Draining })
	if err != nil || i < 0 {
		return home, false, err
	}
	return all[i], true, nil
}

// errGone cuts a request whose owner does not run any more.
var errGone = errors.New("the gateway that had the session has ended")

// peer is a context that ends when a gateway has ended.
func (n *Node) peer(g eventlog.Gateway) context.Context {
	n.mu.Lock()
	defer n.mu.Unlock()
	p := n.peers[g.ID]
	if p == nil {
		p = &peer{}
		p.Context, p.end = context.WithCancelCause(context.Background())
		n.peers[g.ID] = p
	}
	return p
}

// watch cuts requests on their way to gateways that do not run any more: one that stands still closes no connection.
func (n *Node) watch(ctx context.Context) {
	again := time.NewTicker(lookEvery)
	defer again.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-again.C:
		}
		n.mu.Lock()
		some := len(n.peers) > 0
		n.mu.Unlock()
		if !some {
			continue
		}
		all, err := n.store.Gateways(ctx)
		if err != nil { // nobody is judged by a database that does not answer
			continue
		}
		running := map[string]bool{}
		for _, g := range all {
			running[g.ID] = true
		}
		n.mu.Lock()
		for id, p := range n.peers {
			if !running[id] {
				p.end(errGone)
				delete(n.peers, id)
			}
		}
		n.mu.Unlock()
	}
}
