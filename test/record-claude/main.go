//go:build unix

// Command record-claude records what the real Claude Code says on its
// standard streams, run against the scripted model, one file a case:
//
//	go run ./test/record-claude [-out DIR] [CASE…]
//
// A line of a recording is {"t":MS,"dir":DIR,…}: dir "in" and "out" carry a
// message as msg, "err" a line of the standard error, "meta" what the recorder
// has to say. The first line names version, command and environment; after the
// end of each turn an "expect" says what a right translation of it amounts to,
// as the model meant it: text and reasoning blocks in order, tool call → state,
// outcome.
//
// Paths of the machine are replaced, and catalogues are cut to two entries
// with a mark in place of the rest.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/tributary-dev/tributary/internal/testkit/realagent"
)

// caseTime is how long one case may take.
const caseTime = 90 * time.Second

func main() {
	out := flag.String("out", filepath.Join("testdata", "claude"), "folder for the recordings")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := record(ctx, *out, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "record-claude:", err)
		os.Exit(1)
	}
}

func record(ctx context.Context, out string, names []string) error {
	store, err := realagent.DefaultStore()
	if err != nil {
		return err
	}
	claude, err := store.Install(ctx, claudeCode().Package)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	var failed error
	for _, c := range cases() {
		if len(names) > 0 && !slices.Contains(names, c.name) {
			continue
		}
		if err := play(ctx, claude, out, c); err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", c.name, err))
		}
	}
	return failed
}

// play plays one case in a room of its own.
func play(ctx context.Context, claude, out string, c scenario) error {
	ctx, cancel := context.WithTimeout(ctx, caseTime)
	defer cancel()
	r, err := newRoom(claude, out)
	if err != nil {
		return err
	}
	defer r.close()
	return c.play(ctx, r)
}

// claudeCode is the agent that is recorded.
func claudeCode() realagent.Kind {
	k, _ := realagent.KindOf("claude")
	return k
}
