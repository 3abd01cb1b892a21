//go:build unix

package realagent

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/internal/testkit/scriptedmodel"
	"github.com/tributary-dev/tributary/internal/testkit/scriptedmodel/modeltest"
)

// installTime is enough for a few hundred megabytes over a slow line.
const installTime = 5 * time.Minute

// Agent is a real agent that a test can start. The end of the test removes all files of the
// Agent. The test itself must end the processes that it starts.
type Agent struct {
	Kind
	Dirs

	Path     string            // of the command
	Env      []string          // the whole environment of the agent's processes
	Settings map[string]string // the same by name
	Model    *modeltest.Model  // what the agent takes for its provider
}

// HelloText is the content of hello.txt in every workspace.
const HelloText = "hello from a file\n"

// Claude returns Claude Code.
func Claude(tb testing.TB) Agent {
	tb.Helper()
	return Get(tb, "claude")
}

// Get returns the agent of that name, which is installed if it is not there.
// Two processes started with the same Agent share the home, so the second can
// resume the first one's sessions; it has to run in the same folder.
func Get(tb testing.TB, name string) Agent {
	tb.Helper()
	k, ok := KindOf(name)
	if !ok {
		tb.Fatalf("there is no agent %s", name)
	}
	a := Agent{Kind: k, Path: installed(tb, k.Package), Model: modeltest.Start(tb, scriptedmodel.Options{})}
	a.Dirs = Dirs{Home: tb.TempDir(), Dir: tb.TempDir(), Tmp: scratch(tb), URL: a.Model.URL}
	outsideRepositories(tb, a.Dir)
	a.Settings = k.Closed(a.Dirs, a.Path)
	a.Env = Pairs(a.Settings)
	if err := k.WriteFiles(a.Dirs); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(a.Dir+"/hello.txt", []byte(HelloText), 0o644); err != nil {
		tb.Fatal(err)
	}
	return a
}

// outsideRepositories checks that no folder above the workspace is a repository. Kimi, for
// one, asks nobody before it writes into a repository.
func outsideRepositories(tb testing.TB, dir string) {
	tb.Helper()
	for up := filepath.Dir(dir); ; up = filepath.Dir(up) {
		if _, err := os.Lstat(filepath.Join(up, ".git")); err == nil {
			tb.Fatalf("%s has a .git, so agents take the workspace of this test for a part of a repository: remove it, or set TMPDIR to another folder", up)
		}
		if up == filepath.Dir(up) {
			return
		}
	}
}

// installed returns the command of a package, which is installed if it is not there.
func installed(tb testing.TB, p Package) string {
	tb.Helper()
	if p.Name == "" {
		return ""
	}
	store, err := DefaultStore()
	if err != nil {
		tb.Fatal(err)
	}
	path, ok := store.Installed(p)
	if testing.Short() {
		tb.Skipf("a real %s takes some seconds", p)
	}
	if !ok {
		ctx, cancel := context.WithTimeout(context.Background(), installTime)
		defer cancel()
		if path, err = store.Install(ctx, p); err != nil {
			tb.Fatal(err)
		}
	}
	return path
}

// scratch returns a temporary folder with a short path: agents put sockets
// there, and the path of a socket has a limit that a test's folder can break.
func scratch(tb testing.TB) string {
	tb.Helper()
	dir, err := os.MkdirTemp("", "agent-") //nolint:usetesting // its path would be too long for a socket
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			tb.Logf("the agent's temporary folder is left behind: %v", err)
		}
	})
	return dir
}
