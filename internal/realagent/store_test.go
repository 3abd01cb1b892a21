//go:build unix

package realagent_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/internal/realagent"
)

var pkg = realagent.Package{Name: "@scope/agent", Version: "1.2.3", Command: "agent", Lock: "claude"}

// fakeNPM returns an npm that notes each of its runs in a file and then does
// what the body says; $3 is the prefix that it is given.
func fakeNPM(t *testing.T, body string) (npm, runs string) {
	t.Helper()
	dir := t.TempDir()
	npm, runs = filepath.Join(dir, "npm"), filepath.Join(dir, "runs")
	script := fmt.Sprintf("#!/bin/sh\necho \"$@\" >> '%s'\n%s\n", runs, body)
	if err := os.WriteFile(npm, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return npm, runs
}

const good = `mkdir -p "$3/node_modules/.bin"; printf '#!/bin/sh\necho 1.2.3\n' > "$3/node_modules/.bin/agent"; chmod +x "$3/node_modules/.bin/agent"`

func TestInstallDoesItOnce(t *testing.T) {
	t.Parallel()
	npm, runs := fakeNPM(t, "sleep 0.2; "+good)
	store := realagent.Store{Dir: filepath.Join(t.TempDir(), "agents"), NPM: npm}
	if _, ok := store.Installed(pkg); ok {
		t.Fatal("an empty folder holds an agent")
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			path, err := store.Install(t.Context(), pkg)
			if want := filepath.Join("node_modules", ".bin", "agent"); err != nil || !strings.HasPrefix(path, store.Dir) || !strings.HasSuffix(path, want) || !strings.Contains(path, "agent@1.2.3") {
				t.Errorf("Install = %q, %v; want %q below %s", path, err, want, store.Dir)
			}
		})
	}
	wg.Wait()
	got, err := os.ReadFile(runs)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(got), "\n"); n != 1 || !strings.HasPrefix(string(got), "install ") {
		t.Errorf("npm ran %d times:\n%s", n, got)
	}
	if left, _ := filepath.Glob(filepath.Join(store.Dir, "@scope", ".installing-*")); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestInstallFails(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, npm, want string }{
		{"npm fails", "echo no such registry >&2; exit 1", "no such registry"},
		{"npm installs nothing", "true", "does not start on this machine"},
		{"the agent does not run", `mkdir -p "$3/node_modules/.bin"; printf '#!/bin/sh\nexit 3\n' > "$3/node_modules/.bin/agent"; chmod +x "$3/node_modules/.bin/agent"`, "does not start on this machine"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			npm, _ := fakeNPM(t, tc.npm)
			store := realagent.Store{Dir: t.TempDir(), NPM: npm}
			_, err := store.Install(t.Context(), pkg)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v; want an error with %q", err, tc.want)
			}
			if _, ok := store.Installed(pkg); ok {
				t.Error("a failed installation looks like a good one")
			}
			repaired, _ := fakeNPM(t, good)
			store.NPM = repaired
			if _, err := store.Install(t.Context(), pkg); err != nil {
				t.Errorf("the next attempt: %v", err)
			}
		})
	}
	t.Run("no npm", func(t *testing.T) {
		t.Parallel()
		store := realagent.Store{Dir: t.TempDir(), NPM: filepath.Join(t.TempDir(), "npm")}
		if _, err := store.Install(t.Context(), pkg); err == nil || !strings.Contains(err.Error(), "install Node.js") {
			t.Errorf("got %v; want an error that says what to install", err)
		}
	})
}

func TestInstallStopsWithItsContext(t *testing.T) {
	t.Parallel()
	npm, runs := fakeNPM(t, "sleep 600")
	store := realagent.Store{Dir: t.TempDir(), NPM: npm}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer cancel()
		for {
			if _, err := os.Stat(runs); err == nil {
				return
			}
			time.Sleep(time.Millisecond)
		}
	}()
	if _, err := store.Install(ctx, pkg); err == nil {
		t.Error("Install came to an end without an error")
	}
}
