package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"
)

// exportEvery is the time between two turns that end, beside the streams.
const exportEvery = 40 * time.Millisecond

// measureExport measures the latency of a word while many turns end, in a gateway that sends each
// turn to a receiver of spans, and in one that does not. Both run at the same time, because the 99th
// percentile is mostly what else the machine does.
func (b *bencher) measureExport(ctx context.Context) (err error) {
	var requests atomic.Int64
	receiver := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		requests.Add(1)
		w.WriteHeader(http.StatusOK)
	})}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen as a receiver: %w", err)
	}
	var serving sync.WaitGroup
	serving.Go(func() { _ = receiver.Serve(listener) }) // until it is closed
	defer func() {
		err = errors.Join(err, receiver.Close())
		serving.Wait()
	}()
	exporting := b.start
	exporting.config = filepath.Join(b.start.dir, "exporting.yaml")
	text := settings + "exporters: {bench: {url: 'http://" + listener.Addr().String() + "'}}\n"
	if err := os.WriteFile(exporting.config, []byte(text), 0o600); err != nil {
		return fmt.Errorf("write the configuration of a gateway with an exporter: %w", err)
	}
	servers := map[string]*server{}
	for what, from := range map[string]starter{exportLatency: exporting, noExportLatency: b.start} {
		s, err := from.server(ctx, gateway, "")
		if err != nil {
			return err
		}
		defer s.end()
		servers[what] = s
	}
	l := load{streams: 50, pace: 20 * time.Millisecond, window: 3 * b.scale.window, background: func(ctx context.Context, s *server) error {
		return every(ctx, exportEvery, func() error {
			_, err := s.chat(ctx, request{session: newSession(), words: 1})
			return err
		})
	}}
	for round := range 2*b.scale.rounds + 1 {
		fmt.Fprintf(os.Stderr, "  round %d\n", round+1)
		var both sync.WaitGroup
		var results [2]loadResult
		var faults [2]error
		for i, what := range []string{noExportLatency, exportLatency} {
			both.Go(func() { results[i], faults[i] = l.run(ctx, servers[what]) })
		}
		both.Wait()
		if err := errors.Join(faults[:]...); err != nil {
			return err
		}
		for i, what := range []string{noExportLatency, exportLatency} {
			b.figures.add(what, gateway, milliseconds(percentile(results[i].late, 99)))
		}
	}
	fmt.Fprintf(os.Stderr, "  %d turns were exported\n", requests.Load())
	if requests.Load() == 0 {
		return errors.New("no turn was exported")
	}
	return nil
}
