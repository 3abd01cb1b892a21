//go:build unix

package realagent_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/internal/testkit/realagent"
)

var pkg = realagent.Package{Name: "@scope/agent", Version: "1.2.3", Command: "agent", Lock: "claude"}

// executable writes a program. A process that started meanwhile would inherit the open file,
// and the program could not run.
func executable(t *testing.T, path, script string) {
	t.Helper()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
}

// fakeNPM returns an npm that notes each of its runs in a file and then does
// what the body says; $3 is the prefix that it is given.
func fakeNPM(t *testing.T, body string) (npm, runs string) {
	t.Helper()
	dir := t.TempDir()
	npm, runs = filepath.Join(dir, "npm"), filepath.Join(dir, "runs")
	script := fmt.Sprintf("#!/bin/sh\necho \"$@\" >> '%s'\n%s\n", runs, body)
	executable(t, npm, script)
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

var wheel = realagent.Package{Name: "agent", Version: "1.2.3", Command: "agent", Lock: "mistral-vibe", From: realagent.PyPI}

// fakePython returns a Python whose virtual environments get a pip that does what the
// body says; $dir is the environment.
func fakePython(t *testing.T, version int, body string) string {
	t.Helper()
	python := filepath.Join(t.TempDir(), "python")
	script := fmt.Sprintf(`#!/bin/sh
[ "$1" = -c ] && exit %d
mkdir -p "$3/bin"
printf '#!/bin/sh\ndir=%%s\n%%s\n' "$3" '%s' > "$3/bin/python"
chmod +x "$3/bin/python"
`, version, body)
	executable(t, python, script)
	return python
}

const goodPip = `printf "#!/bin/sh\necho 1.2.3 # $dir $*\n" > "$dir/bin/agent"; chmod +x "$dir/bin/agent"`

func TestAPythonAgentIsInstalledByItsDigests(t *testing.T) {
	t.Parallel()
	store := realagent.Store{Dir: filepath.Join(t.TempDir(), "agents"), Python: fakePython(t, 0, goodPip)}
	path, err := store.Install(t.Context(), wheel)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	venv := filepath.Dir(filepath.Dir(path))
	if !strings.Contains(string(text), venv+" -m pip install") || strings.Contains(string(text), ".installing-") {
		t.Errorf("the script does not name its own environment %s: %s", venv, text)
	}
	for _, want := range []string{"--require-hashes", "--no-deps", "--only-binary :all:", "-r requirements.txt"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("pip ran without %s: %s", want, text)
		}
	}
}

func TestAPythonAgentIsNotInstalled(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ python, want string }{
		"an old Python": {fakePython(t, 1, goodPip), "install Python 3.12 or later"},
		"no Python":     {filepath.Join(t.TempDir(), "python"), "install Python 3.12 or later"},
		"pip fails":     {fakePython(t, 0, "echo no such digest >&2; exit 1"), "no such digest"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := realagent.Store{Dir: t.TempDir(), Python: tc.python}
			if _, err := store.Install(t.Context(), wheel); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v; want an error with %q", err, tc.want)
			}
			if _, ok := store.Installed(wheel); ok {
				t.Error("a failed installation looks like a good one")
			}
		})
	}
}
