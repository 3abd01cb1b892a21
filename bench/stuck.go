package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"
)

// stuckClients is how many clients hold a stream and do not read, and stuckWords
// how long a turn is that fills their sockets.
const (
	stuckClients = 100
	stuckWords   = 40_000
	// afterwards the log writes, and the collector collects, what the turn has left:
	// that is the price of so fast a turn, and not of those who are stuck.
	afterwards = 5 * time.Second
)

// measureStuck is how much later words come to others while clients are stuck.
func (b *bencher) measureStuck(ctx context.Context) error {
	servers, err := b.start.all(ctx, gateway)
	if err != nil {
		return err
	}
	defer endAll(servers)
	s := servers[0]
	l := load{streams: 100, pace: 20 * time.Millisecond, window: b.scale.window}
	for round := range max(3, b.scale.rounds) {
		fmt.Fprintf(os.Stderr, "  round %d\n", round+1)
		calm, err := l.run(ctx, s)
		if err != nil {
			return err
		}
		_ = rest(ctx, afterwards)
		free, err := stick(ctx, s)
		if err != nil {
			return err
		}
		beside, err := l.run(ctx, s)
		free()
		if err != nil {
			return err
		}
		b.figures.add(calmLatency, s.name, milliseconds(percentile(calm.late, 99)))
		b.figures.add(stuckLatency, s.name, milliseconds(percentile(beside.late, 99)))
	}
	return nil
}

// stick has clients ask for a turn and not read what comes, until it is over and
// their sockets take no more. The function that it returns lets them go.
func stick(ctx context.Context, s *server) (free func(), err error) {
	session, begun, over := newSession(), make(chan struct{}), make(chan error, 1)
	go func() {
		_, err := s.chat(ctx, ask{session: session, words: stuckWords, begun: func() { close(begun) }})
		over <- err
	}()
	var stuck []net.Conn
	free = func() {
		for _, c := range stuck {
			_ = c.Close()
		}
	}
	select {
	case <-begun:
	case err := <-over:
		return free, errors.Join(errors.New("the turn for stuck clients did not begin"), err)
	}
	for range stuckClients {
		c, err := net.Dial("tcp", strings.TrimPrefix(s.base, "http://")) //nolint:noctx // on this machine
		if err != nil {
			free()
			return nil, fmt.Errorf("connect to %s: %w", s.name, err)
		}
		stuck = append(stuck, c)
		if tcp, ok := c.(*net.TCPConn); ok {
			_ = tcp.SetReadBuffer(4 << 10)
		}
		_, err = fmt.Fprintf(c, "GET /api/chat/%s/stream HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n\r\n", session, c.RemoteAddr(), s.token)
		if err != nil {
			free()
			return nil, fmt.Errorf("ask %s: %w", s.name, err)
		}
	}
	if err := <-over; err != nil {
		free()
		return nil, err
	}
	return free, rest(ctx, afterwards)
}
