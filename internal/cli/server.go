package cli

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/access/accessdb"
	"github.com/tributary-dev/tributary/config"
	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/eventlog/sqllog"
	"github.com/tributary-dev/tributary/gateway"
	"github.com/tributary-dev/tributary/gateway/cluster"
	"github.com/tributary-dev/tributary/gateway/metrics"
	"github.com/tributary-dev/tributary/internal/inflight"
	"github.com/tributary-dev/tributary/internal/procio"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/session/agentset"
	"github.com/tributary-dev/tributary/uistream"
	"github.com/tributary-dev/tributary/web"
)

// Bounds of the HTTP server. The gateway bounds bodies and answers: streams are long, and
// bound each write themselves.
const (
	readHeaderWithin = 10 * time.Second
	idleWithin       = 2 * time.Minute
	maxHeader        = 64 << 10
)

// Bounds of an orderly end, in its order.
const (
	drainWithin = 10 * time.Second // turns may finish, unless sessions.drain says how long
	quitWithin  = 15 * time.Second // turns are stopped and agents ended
	leaveWithin = 3 * time.Second  // responses get their last bytes
)

// instance is a running gateway.
type instance struct {
	logger  *slog.Logger
	log     *eventlog.Log
	hub     *session.Hub
	streams *uistream.Streams
	sockets inflight.Count
	server  *http.Server
	node    *cluster.Node // nil: there are no other gateways
	drain   time.Duration // how long running turns may take to finish at the end
	ending  atomic.Bool
}

// serve runs a gateway until ctx ends. As soon as the gateway takes requests, serve calls
// ready with the URL, and with the guard, which knows how to sign in.
func serve(ctx context.Context, c setup, logger *slog.Logger, ready func(bare string, guard *access.Guard)) (err error) {
	options, err := c.sessionOptions(logger) // first, because it changes nothing
	if err != nil {
		return err
	}
	if err := c.checkAuth(options.Agents); err != nil {
		return err
	}
	if err := cmp.Or(c.apart(options.Agents, logger), c.checkSecrets()); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(options.Agents)) {
		for _, warning := range c.warnings(name) {
			logger.Warn("an agent is not under the gateway's policy alone", "agent", name, "why", warning)
		}
	}
	noSessionChat, err := adapterOff()
	if err != nil {
		return err
	}
	signIn, err := c.signIn()
	if err != nil {
		return err
	}
	exporters, err := c.exporters(logger)
	if err != nil {
		return err
	}
	certificate, err := tlsConfig(c.TLS, logger)
	if err != nil {
		return err
	}
	c.warnOfClearText(logger)
	listener, err := listen(ctx, c.Listen, "--listen")
	if err != nil {
		return err
	}
	defer listener.Close() // the server closes it first, if it ever runs
	others, err := listenForGateways(ctx, c.Cluster)
	if err != nil {
		return err
	}
	defer others.close()
	s := &instance{logger: logger, drain: cmp.Or(c.Sessions.Drain, drainWithin)}
	meter, clients := metrics.New(slices.Collect(maps.Keys(options.Agents))...), newConnections(listener, c.Limits.Connections, logger)
	clients.measure(meter)
	stopMetrics, err := s.serveMetrics(ctx, c.MetricsListen, meter)
	if err != nil {
		return err
	}
	defer stopMetrics()
	defer boundHeap(agentset.GroupMemory())()
	defer reserveBallast()()
	if err := prepareDir(c.Data); err != nil {
		return err
	}
	backups, err := newBackups(c.Backup, c.Data, logger)
	if err != nil {
		return err
	}
	if s.log, err = openLog(ctx, c.Config, logger); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.closeLog()) }()
	endAgents(c.Data, logger)
	if err := noteStore(c.Data, c.DB); err != nil {
		return err
	}
	store, err := accessdb.Open(ctx, c.Data, c.DB, logger)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	if err := c.checkTokens(ctx, store); err != nil {
		return err
	}
	guard, err := c.guard(store, signIn, logger)
	if err != nil {
		return err
	}
	c.warnOfViewers(logger)
	stopExporters, err := startExporters(ctx, exporters, s.log)
	if err != nil {
		return err
	}
	defer stopExporters()
	options.Log, options.StateDir, options.Meter, options.Home = s.log, c.Data, meter.Count, others.home(s.log)
	if options.Workspaces, err = c.openWorkspaces(ctx, options.Agents); err != nil {
		return err
	}
	if s.hub, err = session.New(ctx, options); err != nil {
		return err
	}
	if s.node, err = others.node(s.hub, logger); err != nil {
		return err
	}
	if s.node != nil {
		if err := s.node.Announce(ctx, others.address); err != nil {
			at, once := context.WithCancel(context.WithoutCancel(ctx))
			once()
			return errors.Join(err, s.hub.Close(at))
		}
	}
	known := &probes{agents: options.Agents, box: s.hub.BoxRule, named: c.named, byDefault: c.DefaultAgent, logger: logger, found: map[string]gateway.Availability{}}
	s.streams = uistream.NewStreams(framing(c.Stream))
	s.server = s.newServer(c.TLS, certificate, gateway.New(gateway.Options{ //nolint:contextcheck // a gauge is read without a request
		Hub: s.hub, Cluster: s.node, Runners: runners{s.hub}, Sockets: &s.sockets, Streams: s.streams, Stream: streamOptions(c.Stream), Timing: timing(c.Stream), Guard: guard.Wrap, Person: guard.Person, Page: page(c.Config, logger), Widget: web.Loader(),
		Private: private(c.Auth), ForeignSession: c.Auth.ForeignSession, PassThrough: c.Auth.PassThrough, NoSessionChat: noSessionChat,
		RejectToolOutputs: c.Sessions.ClientToolOutput == config.RejectToolOutput,
		Permits:           c.Auth.Approver, Users: c.users(), Availability: known.of, Limits: gatewayLimits(c.Limits), Ready: s.ready, Logger: logger, Meter: meter, Version: version(), Exporters: exporters, Backup: backups.status(),
	}))
	background, stop := context.WithCancel(ctx)
	var tidy sync.WaitGroup
	defer tidy.Wait()
	defer stop()
	tidy.Go(func() { releaseIdleMemory(background) })
	if backups != nil {
		tidy.Go(func() { backups.keep(background) })
	}
	probed := make(chan struct{})
	tidy.Go(func() { known.keep(background, sync.OnceFunc(func() { close(probed) })) })
	failed := make(chan error, 2)
	go func() { failed <- s.listen(clients) }()
	among, part := context.WithCancel(context.WithoutCancel(ctx)) // until the turns have ended
	defer part()
	if s.node != nil {
		tidy.Go(func() {
			if err := s.node.Serve(among, others); err != nil {
				failed <- err
			}
		})
	}
	select {
	case <-probed:
	case <-time.After(probeWait): // the start of the gateway does not wait for a slow agent
	case <-ctx.Done():
	}
	logger.Info("ready", "listen", listener.Addr().String(), "data", c.Data, "cwd", c.Cwd, "agent", c.DefaultAgent, "version", version())
	scheme := "http"
	if certificate != nil {
		scheme = "https"
	}
	base := cmp.Or(c.PublicURL, baseURL(scheme, c.Listen, listener.Addr()))
	if c.App != "" {
		base = appURL(base, c.App)
	}
	ready(base, guard)
	select {
	case err = <-failed:
		err = fmt.Errorf("serve: %w", err)
	case <-s.log.Unusable():
		s.drain = 0 // nothing more comes on record
		if err = s.log.Reachable(); errors.Is(err, eventlog.ErrCopied) {
			err = usage("%w", err) // another start would end the other one
		}
	case <-ctx.Done():
		logger.Info("stopping: running turns have a moment to finish", "seconds", s.drain.Seconds())
	}
	s.end(context.WithoutCancel(ctx))
	return err
}

// listen answers connections until the server is closed.
func (s *instance) listen(l net.Listener) error {
	if s.server.TLSConfig != nil {
		return s.server.ServeTLS(l, "", "") // the files are in its configuration
	}
	return s.server.Serve(l)
}

func (s *instance) newServer(t *config.TLS, certificate *tls.Config, h http.Handler) *http.Server {
	return &http.Server{
		TLSConfig: certificate,
		Handler:   strictTransport(t, closing(h)), ConnContext: mark, ReadHeaderTimeout: readHeaderWithin, IdleTimeout: idleWithin, MaxHeaderBytes: maxHeader,
		ErrorLog: slog.NewLogLogger(s.logger.Handler(), slog.LevelDebug),
	}
}

func (s *instance) ready() error {
	if s.ending.Load() {
		return session.ErrClosing
	}
	return nil
}

// end ends everything but the log, in the order of dependencies. The gateway refuses new
// requests. The turns end, and the subscribers get the end of their turns, also those of turns that
// other gateways run, while there is time. Then the connections close.
func (s *instance) end(ctx context.Context) {
	s.ending.Store(true)
	draining, drained := context.WithTimeout(ctx, s.drain)
	defer drained()
	_ = s.bounded("turns and agents", s.drain+quitWithin, func() error { return s.hub.Close(draining) })
	s.node.EndStreams(draining)
	ctx, cancel := context.WithTimeout(ctx, leaveWithin)
	defer cancel()
	// The last bytes of the turns that ended just now are still on their way.
	if err := errors.Join(s.node.Shutdown(ctx), s.server.Shutdown(ctx)); err != nil {
		s.logger.Debug("connections that were still open are cut", "error", err)
	}
	if err := s.sockets.Wait(ctx); err != nil {
		s.logger.Debug("sockets that were still open are cut", "error", err)
	}
	_ = s.bounded("streams", leaveWithin, func() error {
		s.streams.Close()
		return nil
	})
	_ = s.server.Close()
}

func (s *instance) closeLog() error {
	return s.bounded("the log", quitWithin, s.log.Close)
}

// bounded waits for a part of the end, but not for ever.
func (s *instance) bounded(what string, limit time.Duration, do func() error) error {
	done := make(chan error, 1)
	go func() { done <- do() }()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case err := <-done:
		if err != nil {
			err = fmt.Errorf("close %s: %w", what, err)
			s.logger.Error("not closed", "what", what, "error", err)
		}
		return err
	case <-timer.C:
		s.logger.Error("a part of the gateway did not end in time", "what", what, "limit", limit)
		return fmt.Errorf("%s did not end within %s", what, limit)
	}
}

// listen takes the port that a setting names.
func listen(ctx context.Context, address, setting string) (*net.TCPListener, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("the address %s is in use by another program: end that one, or choose another with %s (port 0 is any free one)", address, setting)
	case errors.Is(err, syscall.EACCES):
		return nil, fmt.Errorf("this user may not listen on %s: choose a port above 1023 with %s", address, setting)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return nil, fmt.Errorf("this machine has no address %s: choose another with %s", address, setting)
	case err != nil:
		return nil, fmt.Errorf("cannot listen on %s: %w", address, err)
	}
	return l.(*net.TCPListener), nil //nolint:forcetypeassert,errcheck // it is asked for tcp
}

// prepareDir makes the data directory, closed to other users, and checks that it
// can be written.
func prepareDir(dir string) error {
	if err := writable(dir); err != nil {
		return fmt.Errorf("the data directory %s cannot be written: correct its permissions, or choose another with --data: %w", dir, reason(err))
	}
	return nil
}

// writable makes a directory and tries to write in it.
func writable(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".writable-*")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// reason is the part of an error about a file that does not name the file.
func reason(err error) error {
	if path, ok := errors.AsType[*os.PathError](err); ok {
		return path.Err
	}
	return err
}

func openLog(ctx context.Context, c config.Config, logger *slog.Logger) (*eventlog.Log, error) {
	store, err := sqllog.Open(ctx, sqllog.Options{Dir: c.Data, URL: c.DB, NoSync: c.Fsync == config.FsyncOff, Logger: logger})
	if err != nil {
		return nil, err
	}
	return eventlog.New(store), nil
}

// endAgents ends the agents that a killed gateway has left behind.
func endAgents(stateDir string, logger *slog.Logger) {
	n, err := procio.EndLeftovers(stateDir)
	if err != nil {
		logger.Error("agents that were left behind could not all be ended", "error", err)
	}
	if n > 0 {
		logger.Warn("ended agents that were left behind", "count", n)
	}
}

// faultOfAccess sorts an error of package access: a fault of the settings or of a file.
func faultOfAccess(err error) error {
	if _, ok := errors.AsType[*os.PathError](err); ok {
		return err
	}
	return usage("%w", err)
}

// page serves the pages of the app, or the built-in pages.
func page(c config.Config, logger *slog.Logger) http.Handler {
	if c.App == "" {
		return web.Handler(c.Widget.AllowOrigins)
	}
	u, _ := url.Parse(c.App) // it was checked
	return web.Proxy(u, logger)
}
