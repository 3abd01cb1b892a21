package workspacetest

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// Secret is the content of every file outside the workspace.
const Secret = "outside: nobody may read this"

// Layout makes a workspace at TOP/ws with links that lead out of it, and TOP/outside,
// TOP/ws2 beside it. It returns TOP, without symlinks.
func Layout(t testing.TB) (top string) {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	ws := filepath.Join(top, "ws")
	for _, dir := range []string{"outside/dir", "ws/sub/deep", "ws2"} {
		must(t, os.MkdirAll(filepath.Join(top, dir), 0o750))
	}
	for name, content := range map[string]string{
		"outside/secret": Secret, "ws2/secret": Secret, "ws/a.txt": "a", "ws/sub/b.txt": "b",
	} {
		must(t, os.WriteFile(filepath.Join(top, name), []byte(content), 0o600))
	}
	for name, target := range map[string]string{
		"in": "sub/b.txt", "indir": "sub/deep", "out": "../outside/secret", "outdir": "../outside",
		"abs": filepath.Join(ws, "a.txt"), "absdir": filepath.Join(ws, "sub"), "absout": filepath.Join(top, "outside/secret"),
		"gone": "nothing", "goneout": "../outside/new", "loop": "loop", "sub/up": "../..", "dots": "sub/../..",
		"chain": "sub/up/outside/secret", "chain2": "chain", "chain3": "./chain2", "chain4": "sub/../chain3", "chain5": "indir/../../chain4",
		"dirchain": "sub/up/outside", "root": "/proc/self/root", "cwd": "/proc/self/cwd", "fd": "/proc/self/fd", "environ": "/proc/self/environ",
		"etc": "/etc", "home": "/root", "device": "/dev/urandom", "null": "/dev/null", "zero": "/dev/zero",
	} {
		must(t, os.Symlink(target, filepath.Join(ws, name)))
	}
	return top
}

// tree lists what is outside the workspace, with contents.
func tree(t testing.TB, top string) map[string]string {
	t.Helper()
	all := map[string]string{}
	must(t, filepath.WalkDir(top, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path == filepath.Join(top, "ws"):
			return fs.SkipDir
		case e.IsDir():
			all[path] = "a directory"
			return nil
		}
		data, err := os.ReadFile(path) //nolint:gosec // it is the test's own
		all[path] = string(data)
		return err
	}))
	return all
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
