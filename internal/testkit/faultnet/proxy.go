// Package faultnet has a TCP proxy with faults: it holds what goes one way, as a network does that
// loses packets of one direction.
package faultnet

import (
	"context"
	"fmt"
	"net"
	"sync"
)

// Proxy passes connections on to a target on loopback.
type Proxy struct {
	listener net.Listener
	target   string
	ctx      context.Context //nolint:containedctx // of the dialling, until Close
	end      context.CancelFunc
	running  sync.WaitGroup

	mu       sync.Mutex
	changed  chan struct{} // closed at the next change of what is held
	up, down bool
	open     map[net.Conn]struct{}
}

// New starts a proxy to the target, such as "127.0.0.1:5432". The caller closes it.
func New(ctx context.Context, target string) (*Proxy, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for the proxy: %w", err)
	}
	p := &Proxy{listener: l, target: target, changed: make(chan struct{}), open: map[net.Conn]struct{}{}}
	p.ctx, p.end = context.WithCancel(context.WithoutCancel(ctx))
	p.running.Go(p.accept)
	return p, nil
}

// Addr is the address that stands for the target.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Hold holds what goes to the target (up) and what comes from it (down), or lets it go on. A new
// connection waits while something is held.
func (p *Proxy) Hold(up, down bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.up, p.down = up, down
	close(p.changed)
	p.changed = make(chan struct{})
}

// Close ends all connections and waits.
func (p *Proxy) Close() {
	p.end()
	_ = p.listener.Close()
	p.mu.Lock()
	for c := range p.open {
		_ = c.Close()
	}
	p.mu.Unlock()
	p.running.Wait()
}

func (p *Proxy) accept() {
	for {
		c, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.running.Go(func() { p.pass(c) })
	}
}

// pass passes one connection on, both ways.
func (p *Proxy) pass(client net.Conn) {
	defer client.Close()
	if !p.keep(client) || !p.await(func() bool { return p.up || p.down }) {
		return
	}
	server, err := (&net.Dialer{}).DialContext(p.ctx, "tcp", p.target)
	if err != nil {
		return
	}
	defer server.Close()
	if !p.keep(server) {
		return
	}
	var back sync.WaitGroup
	back.Go(func() { p.copy(client, server, func() bool { return p.down }) })
	p.copy(server, client, func() bool { return p.up })
	back.Wait()
}

// keep notes a connection, so that Close ends it.
func (p *Proxy) keep(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open[c] = struct{}{}
	return p.ctx.Err() == nil
}

// copy copies one direction, and then ends both.
func (p *Proxy) copy(to, from net.Conn, held func() bool) {
	defer to.Close()
	defer from.Close()
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			if !p.await(held) {
				return
			}
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return // whatever it is, the direction has ended
		}
	}
}

// await waits while something is held, and reports false when the proxy closes.
func (p *Proxy) await(held func() bool) bool {
	for {
		p.mu.Lock()
		is, changed := held(), p.changed
		p.mu.Unlock()
		if !is {
			return true
		}
		select {
		case <-changed:
		case <-p.ctx.Done():
			return false
		}
	}
}
