package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/tributary-dev/tributary/adapter/agentops/wire"
	"github.com/tributary-dev/tributary/internal/testkit/launch"
	"github.com/tributary-dev/tributary/internal/wsconn"
)

// The sizes and times of the measurement of an agent on another server.
const (
	relayStreams = 100
	relayRow     = 1000 // requests, one after the other
	relayPool    = 200  // sessions that take requests in turn
	relayStep    = 3 * time.Second
	// relayRest is longer than an idle gateway needs to free its caches and to collect its garbage
	// a second time.
	relayRest = 2 * time.Minute
	// quickFirst bounds the p99 of the time to the first byte at a sustainable rate.
	quickFirst = 200 * time.Millisecond
)

// relay is two gateways. The agent of front is a session of remote. They talk as an Agent Ops
// browser and its session agent do.
type relay struct{ front, remote *server }

// unlimited lets one client stand for very many.
const unlimited = "limits: {prompts: none, requests: none, streams: none, clients: none}\n"

// relaySettings is the configuration of front.
const relaySettings = unlimited + `default_agent: remote
agents:
  remote: {adapter: agentops, url: %s, token_env: REMOTE_TOKEN}
`

func (s starter) relay(ctx context.Context) (relay, error) {
	remote, err := s.server(ctx, gateway, "")
	if err != nil {
		return relay{}, err
	}
	front, err := s.front(ctx, remote)
	if err != nil {
		remote.end()
		return relay{}, err
	}
	return relay{front, remote}, nil
}

func (s starter) front(ctx context.Context, remote *server) (*server, error) {
	file := filepath.Join(s.dir, "relay.yaml")
	err := os.WriteFile(file, fmt.Appendf(nil, relaySettings, remote.Base()), 0o600)
	var data string
	if err == nil {
		data, err = os.MkdirTemp(s.dir, "front")
	}
	if err != nil {
		return nil, fmt.Errorf("prepare a gateway: %w", err)
	}
	cmd := exec.Command(s.binary, "serve", "--config", file, "--listen", "127.0.0.1:0", "--data", data, "--cwd", s.dir, "--log-level", "warn") //nolint:noctx // it outlives the context of its start
	cmd.Env = append(os.Environ(), "REMOTE_TOKEN="+remote.Token())
	running, err := launch.Start(ctx, cmd)
	if err != nil {
		return nil, err
	}
	return newServer(running, "remote"), nil
}

// newServer is a gateway whose chats have an agent.
func newServer(running *launch.Server, agent string) *server {
	transport := &http.Transport{MaxIdleConnsPerHost: filesNeeded, DisableCompression: true}
	return &server{Server: running, name: gateway, agent: agent, client: &http.Client{Transport: transport}}
}

func (r relay) end() {
	r.front.end()
	r.remote.end()
}

// session makes a session of remote. The session must exist before front can use it.
func (r relay) session(ctx context.Context, pace time.Duration) (string, error) {
	id := newSession()
	body, err := json.Marshal(map[string]string{"id": id, "agent": agentFor(pace)})
	if err != nil {
		return "", err
	}
	res, err := r.remote.request(ctx, http.MethodPost, "/api/sessions", body)
	if err != nil {
		return "", err
	}
	return id, res.Body.Close()
}

// measureRelay measures a session on another server. The figures are the latency that the gateway
// adds to that server's own WebSocket, with many streams of one session, and the highest rate of
// requests with a quick first byte.
func (b *bencher) measureRelay(ctx context.Context) error {
	r, err := b.start.relay(ctx)
	if err != nil {
		return err
	}
	defer r.end()
	for round := range b.scale.rounds {
		fmt.Fprintf(os.Stderr, "  %d streams, round %d\n", relayStreams, round+1)
		if err := b.relayed(ctx, r); err != nil {
			return errors.Join(err, r.front.alive(), r.remote.alive())
		}
	}
	return errors.Join(b.steady(ctx, r), r.front.alive(), r.remote.alive())
}

// measureRow measures the heap after many requests in a row.
func (b *bencher) measureRow(ctx context.Context) error {
	r, err := b.start.relay(ctx)
	if err != nil {
		return err
	}
	defer r.end()
	fmt.Fprintf(os.Stderr, "  %d requests in a row\n", relayRow)
	return errors.Join(b.inARow(ctx, r), r.front.alive(), r.remote.alive())
}

// relayed has many streams of front read one session, beside one client on remote's WebSocket.
func (b *bencher) relayed(ctx context.Context, r relay) error {
	session, err := r.session(ctx, sharedPace)
	if err != nil {
		return err
	}
	direct, err := r.watch(ctx, session)
	if err != nil {
		return err
	}
	defer direct.close()
	through, err := readAlong(ctx, r.front, session, relayStreams, load{window: b.scale.window, background: direct.listen})
	if err != nil {
		return err
	}
	if len(direct.late) == 0 {
		return errors.New("the client on the WebSocket read no word")
	}
	b.figures.add(relayLatency50, gateway, milliseconds(percentile(through.late, 50)))
	b.figures.add(relayLatency99, gateway, milliseconds(percentile(through.late, 99)))
	b.figures.add(directLatency50, gateway, milliseconds(percentile(direct.late, 50)))
	b.figures.add(directLatency99, gateway, milliseconds(percentile(direct.late, 99)))
	return nil
}

// watcher is a client on remote's WebSocket.
type watcher struct {
	conn *wsconn.Conn
	late []time.Duration
}

func (r relay) watch(ctx context.Context, session string) (*watcher, error) {
	url := strings.Replace(r.remote.Base(), "http", "ws", 1) + "/api/sessions/" + session + "/ws?role=client"
	conn, err := wsconn.Dial(ctx, url, wsconn.Config{Header: http.Header{"Authorization": {"Bearer " + r.remote.Token()}}, MaxFrame: -1})
	if err != nil {
		return nil, fmt.Errorf("connect to the WebSocket: %w", err)
	}
	return &watcher{conn: conn}, nil
}

func (w *watcher) close() { w.conn.Cut() }

// listen reads words until the context ends. Words from before the call do not count.
func (w *watcher) listen(ctx context.Context, _ *server) error {
	began := time.Now()
	for {
		data, err := w.conn.Read(ctx)
		switch {
		case ctx.Err() != nil:
			return nil //nolint:nilerr // the window is over
		case err != nil:
			return fmt.Errorf("read the WebSocket: %w", err)
		}
		now := time.Now()
		frame, err := wire.Decode(wire.ToBrowser, data)
		if err != nil {
			return fmt.Errorf("read the WebSocket: %w", err)
		}
		chunk, ok := frame.(wire.Chunk)
		if !ok {
			continue
		}
		for said := range clocks([]byte(chunk.Content)) {
			if said.After(began) {
				w.late = append(w.late, now.Sub(said))
			}
		}
	}
}

// inARow sends one request after the other and measures the heap.
func (b *bencher) inARow(ctx context.Context, r relay) error {
	session, err := r.session(ctx, 0)
	if err != nil {
		return err
	}
	heap := func(requests int) (float64, error) {
		for range requests {
			if _, err := r.front.chat(ctx, request{session: session, words: 3}); err != nil {
				return 0, err
			}
		}
		if err := pause(ctx, relayRest); err != nil {
			return 0, err
		}
		return r.front.metric(ctx, "tributary_heap_live_bytes")
	}
	before, err := heap(relayRow) // the log's buffers grow to their size in these
	if err != nil {
		return err
	}
	after, err := heap(relayRow)
	b.figures.add(relayHeap, gateway, (after-before)/(1<<20))
	return err
}

// steady finds the highest rate of requests with a quick first byte.
func (b *bencher) steady(ctx context.Context, r relay) error {
	var pool []string
	for range relayPool {
		session, err := r.session(ctx, 0)
		if err != nil {
			return err
		}
		pool = append(pool, session)
		if _, err := r.front.chat(ctx, request{session: session, words: 1}); err != nil { // it is connected from here on
			return err
		}
	}
	for rate := 50; rate <= 1600; rate *= 2 {
		fmt.Fprintf(os.Stderr, "  %d requests a second\n", rate)
		firsts, err := r.at(ctx, rate, pool)
		if err != nil {
			return err
		}
		p99 := percentile(firsts, 99)
		if p99 >= quickFirst {
			break
		}
		b.figures[relayRate] = map[string][]float64{gateway: {float64(rate)}}
		b.figures[relayFirst] = map[string][]float64{gateway: {milliseconds(p99)}}
	}
	return nil
}

// at sends requests at a fixed rate, however long each takes.
func (r relay) at(ctx context.Context, rate int, pool []string) ([]time.Duration, error) {
	count := int(relayStep.Seconds() * float64(rate))
	firsts, faults := make([]time.Duration, count), make([]error, count)
	var wait sync.WaitGroup
	began := time.Now()
	for i := range count {
		if err := pause(ctx, time.Until(began.Add(time.Duration(i)*time.Second/time.Duration(rate)))); err != nil {
			break
		}
		wait.Go(func() {
			var h received
			h, faults[i] = r.front.chat(ctx, request{session: pool[i%len(pool)], words: 1})
			firsts[i] = h.first
		})
	}
	wait.Wait()
	return firsts, errors.Join(errors.Join(faults...), ctx.Err())
}
