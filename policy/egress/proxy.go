package egress

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"sync"
	"syscall"
	"time"
)

// Bounds of one process. A connection over MaxConnections waits.
const (
	// MaxConnections bounds the connections at each address that the proxy listens at.
	MaxConnections = 256
	// ConnectWithin bounds the connection to a host.
	ConnectWithin = 30 * time.Second
	// HeaderWithin bounds the header of a request, in time and in bytes.
	HeaderWithin   = 30 * time.Second
	MaxHeaderBytes = 64 << 10
	// IdleAfter closes a connection without a byte in either direction.
	IdleAfter = 30 * time.Minute
)

// Proxy connects processes to the hosts that they may reach, and implements box.Network. It is for any
// number of processes.
type Proxy struct {
	Hosts Hosts
	// Other decides whether a host that is not among Hosts may be reached, and may wait for a person until
	// ctx ends. Nil refuses.
	Other func(ctx context.Context, t Target) bool
	// Refused is told of each connection that was refused, with the reason in half a sentence.
	Refused func(t Target, why string)

	connectWithin time.Duration // in tests; else ConnectWithin
}

// Listen implements box.Network.
func (p *Proxy) Listen() []string { return p.Hosts.Loopback() }

// Serve implements box.Network.
func (p *Proxy) Serve(listeners []net.Listener) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	s := &serving{Proxy: p, ctx: ctx}
	server := s.server()
	direct := p.Listen()
	for i, l := range listeners {
		l = &bounded{Listener: l, free: make(chan struct{}, MaxConnections), ctx: ctx}
		context.AfterFunc(ctx, func() { _ = l.Close() })
		if i == 0 {
			s.goes.Go(func() { _ = server.Serve(l) }) // until it is closed
			continue
		}
		s.goes.Go(func() { s.forward(l, direct[i-1]) })
	}
	return func() {
		cancel()
		_ = server.Close()
		s.goes.Wait()
	}
}

// serving is a Proxy for one process.
type serving struct {
	*Proxy
	ctx  context.Context //nolint:containedctx // the life of the process
	goes sync.WaitGroup
}

// refusedError says why a host was not reached.
type refusedError struct{ why string }

func (e *refusedError) Error() string { return e.why }

// permit says why a host may not be reached.
func (s *serving) permit(ctx context.Context, t Target) error {
	if s.Hosts.Allow(t) {
		return nil
	}
	if addr, err := netip.ParseAddr(t.Host); err == nil {
		if err := s.lead(addr, t.Port); err != nil { // no person is asked
			return err
		}
	}
	if s.Other != nil && s.Other(ctx, t) {
		return nil
	}
	return &refusedError{"it is not in the agent's egress"}
}

// lead says why an address may not be reached, to which a host leads.
func (s *serving) lead(addr netip.Addr, port uint16) error {
	if s.Hosts.listed(addr, port) || !private(addr) && !own(addr) {
		return nil
	}
	return &refusedError{fmt.Sprintf("%s is on this machine or in a private network, and not in the agent's egress", addr)}
}

// dial connects to a host that was permitted, if its address is one that may be reached.
func (s *serving) dial(ctx context.Context, network, address string) (net.Conn, error) {
	t, ok := target(address)
	if !ok {
		return nil, &refusedError{"it is no host"}
	}
	return s.reach(ctx, network, t.String(), func(_ context.Context, _, resolved string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(resolved)
		if err != nil {
			return err
		}
		return s.lead(at.Addr().WithZone("").Unmap(), t.Port)
	})
}

// reach connects within the bounds of time. control sees each address before.
func (s *serving) reach(ctx context.Context, network, address string, control func(context.Context, string, string, syscall.RawConn) error) (net.Conn, error) {
	d := net.Dialer{Timeout: cmp.Or(s.connectWithin, ConnectWithin), ControlContext: control}
	c, err := d.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return keepBusy(c), nil
}

// server is the proxy for HTTP.
func (s *serving) server() *http.Server {
	plain := &httputil.ReverseProxy{
		Rewrite:       func(*httputil.ProxyRequest) {}, // the request has the whole URL
		FlushInterval: -1,
		Transport: &http.Transport{
			DialContext: s.dial, DisableKeepAlives: true, // a connection is for one request: the next may be refused
			MaxResponseHeaderBytes: MaxHeaderBytes, DisableCompression: true,
		},
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			t, _ := target(withPort(r.URL.Host))
			s.fail(w, t, err)
		},
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug),
	}
	return &http.Server{
		ReadHeaderTimeout: HeaderWithin, MaxHeaderBytes: MaxHeaderBytes, IdleTimeout: IdleAfter,
		BaseContext: func(net.Listener) context.Context { return s.ctx }, ErrorLog: plain.ErrorLog,
		ConnState: func(_ net.Conn, state http.ConnState) {
			switch state {
			case http.StateNew:
				s.goes.Add(1)
			case http.StateClosed, http.StateHijacked:
				s.goes.Done()
			case http.StateActive, http.StateIdle:
			}
		},
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			text := r.Host
			if r.Method != http.MethodConnect {
				if text = withPort(r.URL.Host); r.URL.Scheme != "http" || r.URL.Host == "" {
					http.Error(w, "tributary: this is the proxy of an agent's network: send it CONNECT, or a request with a whole http:// address", http.StatusBadRequest)
					return
				}
			}
			t, ok := target(text)
			err := error(&refusedError{"it is no host"})
			if ok {
				err = s.permit(r.Context(), t)
			}
			switch {
			case err != nil:
				s.fail(w, t, err)
			case r.Method == http.MethodConnect:
				s.connect(r.Context(), w, t)
			default:
				plain.ServeHTTP(w, r)
			}
		}),
	}
}

// withPort adds the port of HTTP where there is none.
func withPort(host string) string {
	if _, _, err := net.SplitHostPort(host); err == nil {
		return host
	}
	return host + ":80"
}

// fail answers a request that has no connection.
func (s *serving) fail(w http.ResponseWriter, t Target, err error) {
	if r, is := errors.AsType[*refusedError](err); is {
		if s.Refused != nil {
			s.Refused(t, r.why)
		}
		http.Error(w, fmt.Sprintf("tributary: the agent may not reach %s: %s", t, r.why), http.StatusForbidden)
		return
	}
	http.Error(w, fmt.Sprintf("tributary: %s cannot be reached: %v", t, err), http.StatusBadGateway)
}

// connect makes a tunnel.
func (s *serving) connect(ctx context.Context, w http.ResponseWriter, t Target) {
	there, err := s.dial(ctx, "tcp", t.String())
	if err != nil {
		s.fail(w, t, err)
		return
	}
	s.goes.Add(1)
	defer s.goes.Done()
	here, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		_ = there.Close()
		http.Error(w, "tributary: a tunnel needs HTTP/1.1", http.StatusHTTPVersionNotSupported)
		return
	}
	_ = here.SetDeadline(time.Time{})
	if _, err = io.WriteString(here, "HTTP/1.1 200 Connection established\r\n\r\n"); err == nil {
		s.tunnel(here, there, io.MultiReader(io.LimitReader(buffered, int64(buffered.Reader.Buffered())), here))
		return
	}
	_, _ = here.Close(), there.Close()
}

// forward connects whoever comes to an address of the loopback device.
func (s *serving) forward(l net.Listener, address string) {
	for {
		here, err := l.Accept()
		if err != nil {
			return // it was closed
		}
		s.goes.Go(func() {
			there, err := s.reach(s.ctx, "tcp", address, nil)
			if err != nil {
				_ = here.Close()
				return
			}
			s.tunnel(here, there, here)
		})
	}
}
