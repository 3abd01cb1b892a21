// Command scripted-model serves a deterministic stand-in for a model provider
// on loopback; package scriptedmodel says what it answers.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/tributary-dev/tributary/internal/testkit/scriptedmodel"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "scripted-model:", err)
		os.Exit(1)
	}
}

func run() error {
	addr := flag.String("listen", "127.0.0.1:4010", "loopback address; port 0 is any free one")
	logTo := flag.String("log", "", "append every request to this file, as JSON lines")
	toolless := flag.Bool("play-without-tools", false, "play scripts for requests without tools too")
	flag.Parse()

	opts := scriptedmodel.Options{PlayWithoutTools: *toolless}
	if *logTo != "" {
		f, err := os.OpenFile(*logTo, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return fmt.Errorf("the log cannot be opened: %w", err)
		}
		defer f.Close()
		var mu sync.Mutex
		out := json.NewEncoder(f)
		opts.Observe = func(r scriptedmodel.Request) {
			mu.Lock()
			defer mu.Unlock()
			r.Header = nil // it holds the key
			if err := out.Encode(r); err != nil {
				fmt.Fprintln(os.Stderr, "scripted-model: the log cannot be written:", err)
			}
		}
	}
	l, err := scriptedmodel.Listen(*addr)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	server := &http.Server{Handler: scriptedmodel.New(opts), ReadHeaderTimeout: 10 * time.Second}
	done := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer done()
	fmt.Printf("http://%s/\n", l.Addr())
	if err := server.Serve(l); err != nil && ctx.Err() == nil {
		return err
	}
	return nil
}
