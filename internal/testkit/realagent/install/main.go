//go:build unix

// Command install installs agents that tests run, so that the tests need not:
// those of every test run, or all, or the named ones. It prints the name, the
// package and the path of each.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/tributary-dev/tributary/internal/testkit/realagent"
)

func main() {
	all := flag.Bool("all", false, "install every agent")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := install(ctx, *all, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "install:", err)
		os.Exit(1)
	}
}

func install(ctx context.Context, all bool, names []string) error {
	for _, name := range names {
		if _, ok := realagent.KindOf(name); !ok {
			return fmt.Errorf("there is no agent %s", name)
		}
	}
	store, err := realagent.DefaultStore()
	if err != nil {
		return err
	}
	for _, k := range realagent.Kinds() {
		if k.Package.Name == "" || !all && !slices.Contains(names, k.Name) && !(k.Everywhere && len(names) == 0) {
			continue
		}
		path, err := store.Install(ctx, k.Package)
		if err != nil {
			return err
		}
		fmt.Printf("%s %s %s\n", k.Name, k.Package, path)
	}
	return nil
}
