package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"time"
)

// stalledClients is the number of clients that hold a stream and do not read. A turn of stalledWords
// fills their sockets.
const (
	stalledClients = 100
	stalledWords   = 40_000
	// stalledWindow is long enough for several garbage collections. In a window of two seconds, one
	// collection would decide the result.
	stalledWindow = 6 * time.Second
	// The gateway writes to stuck clients until their sockets are full, which is usual work. The
	// clients are stuck when the gateway uses less than a twentieth of a processor for a calmStep.
	calmStep  = 500 * time.Millisecond
	calmSteps = 30
)

// stalledKind is one of the two loads that are compared.
type stalledKind struct {
	figure  string
	clients int
}

// measureStalled measures how much later words come to other clients while some clients are stuck. The
// comparison also has the long turn, but no stuck clients, because the turn itself costs heap and
// log. The order of the two loads alternates.
func (b *bencher) measureStalled(ctx context.Context) error {
	servers, err := b.start.all(ctx, gateway)
	if err != nil {
		return err
	}
	defer endAll(servers)
	s := servers[0]
	l := load{streams: 100, pace: 20 * time.Millisecond, window: stalledWindow}
	for round := range max(8, b.scale.rounds) {
		fmt.Fprintf(os.Stderr, "  round %d\n", round+1)
		kinds := []stalledKind{{calmLatency, 0}, {stuckLatency, stalledClients}}
		if round%2 == 1 {
			slices.Reverse(kinds)
		}
		for _, kind := range kinds {
			free, err := stallClients(ctx, s, kind.clients)
			if err != nil {
				return err
			}
			loaded, err := l.run(ctx, s)
			free()
			if err != nil {
				return err
			}
			b.figures.add(kind.figure, s.name, milliseconds(percentile(loaded.late, 99)))
		}
	}
	return nil
}

// stallClients has clients ask for a turn and not read the answer, until the turn is over and their sockets
// are full. The returned function disconnects them.
func stallClients(ctx context.Context, s *server, clients int) (free func(), err error) {
	session, begun, over := newSession(), make(chan struct{}), make(chan error, 1)
	go func() {
		_, err := s.chat(ctx, request{session: session, words: stalledWords, begun: func() { close(begun) }})
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
	for range clients {
		c, err := net.Dial("tcp", strings.TrimPrefix(s.Base(), "http://")) //nolint:noctx // on this machine
		if err != nil {
			free()
			return nil, fmt.Errorf("connect to %s: %w", s.name, err)
		}
		stuck = append(stuck, c)
		if tcp, ok := c.(*net.TCPConn); ok {
			_ = tcp.SetReadBuffer(4 << 10)
		}
		_, err = fmt.Fprintf(c, "GET /api/chat/%s/stream HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n\r\n", session, c.RemoteAddr(), s.Token())
		if err != nil {
			free()
			return nil, fmt.Errorf("ask %s: %w", s.name, err)
		}
	}
	if err := <-over; err != nil {
		free()
		return nil, err
	}
	return free, untilCalm(ctx, s)
}

// untilCalm waits until the server is almost idle.
func untilCalm(ctx context.Context, s *server) error {
	before, err := s.cpu()
	if err != nil {
		return err
	}
	for range calmSteps {
		if err := pause(ctx, calmStep); err != nil {
			return err
		}
		now, err := s.cpu()
		if err != nil {
			return err
		}
		if now-before < calmStep/20 {
			return nil
		}
		before = now
	}
	return errors.New("the gateway is still busy with stuck clients")
}
