//go:build unix

// Command install installs the agents that tests run, so that the tests need
// not.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/tributary-dev/tributary/internal/realagent"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	store, err := realagent.DefaultStore()
	for _, p := range realagent.Pinned() {
		var path string
		if err == nil {
			path, err = store.Install(ctx, p)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "install:", err)
			os.Exit(1)
		}
		fmt.Printf("%s %s\n", p, path)
	}
}
