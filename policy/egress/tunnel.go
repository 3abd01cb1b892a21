package egress

import (
	"context"
	"io"
	"net"
	"sync"
	"time"
)

// tunnel copies bytes in both directions until both have ended, nothing came for IdleAfter, or the process has ended.
// from has what is read of here.
func (s *serving) tunnel(here, there net.Conn, from io.Reader) {
	end := func() { _, _ = here.Close(), there.Close() }
	defer end()
	defer context.AfterFunc(s.ctx, end)()
	idle := time.AfterFunc(IdleAfter, end)
	defer idle.Stop()
	var back sync.WaitGroup
	back.Go(func() { pipe(here, there, idle) })
	pipe(there, from, idle)
	back.Wait()
}

// pipe copies in one direction, and ends that direction.
func pipe(to net.Conn, from io.Reader, idle *time.Timer) {
	_, err := io.Copy(to, touching{from, idle})
	if half, is := to.(interface{ CloseWrite() error }); is && err == nil {
		_ = half.CloseWrite()
		return
	}
	_ = to.Close()
}

// touching puts off the end of an idle connection with each read.
type touching struct {
	io.Reader
	idle *time.Timer
}

func (t touching) Read(p []byte) (int, error) {
	n, err := t.Reader.Read(p)
	t.idle.Reset(IdleAfter)
	return n, err
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
func (c *counted) CloseWrite() error {
	if half, is := c.Conn.(interface{ CloseWrite() error }); is {
		return half.CloseWrite()
	}
	return c.Close()
}
