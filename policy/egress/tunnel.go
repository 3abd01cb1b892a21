package egress

import (
	"context"
	"io"
	"net"
	"sync"
	"time"
)

// tunnel copies bytes in both directions until both have ended, or the process has ended. from has what is read of here.
func (s *serving) tunnel(here, there net.Conn, from io.Reader) {
	end := func() { _, _ = here.Close(), there.Close() }
	defer end()
	defer context.AfterFunc(s.ctx, end)()
	var back sync.WaitGroup
	back.Go(func() { pipe(here, there) })
	pipe(there, from)
	back.Wait()
}

// pipe copies in one direction, and ends that direction.
func pipe(to net.Conn, from io.Reader) {
	_, err := io.Copy(to, from)
	if err == nil {
		_ = closeWrite(to)
		return
	}
	_ = to.Close()
}

// busy is a connection to a host. It is closed when no byte went in either direction for IdleAfter.
type busy struct {
	net.Conn
	idle *time.Timer
}

func keepBusy(c net.Conn) *busy {
	return &busy{c, time.AfterFunc(IdleAfter, func() { _ = c.Close() })}
}

func (b *busy) Read(p []byte) (int, error)  { return b.went(b.Conn.Read(p)) }
func (b *busy) Write(p []byte) (int, error) { return b.went(b.Conn.Write(p)) }

func (b *busy) went(n int, err error) (int, error) {
	if err == nil {
		b.idle.Reset(IdleAfter)
	}
	return n, err
}

func (b *busy) Close() error {
	b.idle.Stop()
	return b.Conn.Close()
}

// CloseWrite ends one direction.
func (b *busy) CloseWrite() error { return closeWrite(b.Conn) }

func closeWrite(c net.Conn) error {
	if half, is := c.(interface{ CloseWrite() error }); is {
		return half.CloseWrite()
	}
	return c.Close()
}

// bounded lets a number of connections in at once. The others wait in the kernel.
type bounded struct {
	net.Listener
	free chan struct{}
	ctx  context.Context //nolint:containedctx // the life of the listener
}

func (b *bounded) Accept() (net.Conn, error) {
	select {
	case b.free <- struct{}{}:
	case <-b.ctx.Done():
		return nil, net.ErrClosed
	}
	c, err := b.Listener.Accept()
	if err != nil {
		<-b.free
		return nil, err
	}
	return &counted{Conn: c, free: sync.OnceFunc(func() { <-b.free })}, nil
}

// counted is a connection that makes room for another.
type counted struct {
	net.Conn
	free func()
}

func (c *counted) Close() error {
	defer c.free()
	return c.Conn.Close()
}

// CloseWrite ends one direction.
func (c *counted) CloseWrite() error { return closeWrite(c.Conn) }
