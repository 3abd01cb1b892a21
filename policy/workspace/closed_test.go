package workspace_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/tributary-dev/tributary/policy/workspace"
)

// closedLayout is a workspace with secrets in it: a file, and the links by which Kubernetes
// replaces a mounted secret.
func closedLayout(t *testing.T) (ws, outside string, deny []workspace.Option) {
	t.Helper()
	top := t.TempDir()
	ws, outside = filepath.Join(top, "ws"), filepath.Join(top, "outside-key")
	write(t, filepath.Join(ws, "sub", "token"), "secret")
	write(t, filepath.Join(ws, "fine.txt"), "fine")
	write(t, filepath.Join(ws, "mount", "..one", "key"), "secret")
	write(t, outside, "secret")
	for link, to := range map[string]string{"mount/..data": "..one", "mount/key": "..data/key", "link": "sub/token", "dir": "sub"} {
		if err := os.Symlink(to, filepath.Join(ws, link)); err != nil {
			t.Fatal(err)
		}
	}
	for hard, of := range map[string]string{"hard": filepath.Join(ws, "sub", "token"), "hard-outside": outside, "hard-key": filepath.Join(ws, "mount", "..one", "key")} {
		if err := os.Link(of, filepath.Join(ws, hard)); err != nil {
			t.Skipf("the file system has no hard links: %v", err)
		}
	}
	for _, p := range []string{filepath.Join(ws, "sub", "token"), filepath.Join(ws, "mount", "key"), outside, filepath.Join(ws, "tributary.yaml")} {
		deny = append(deny, workspace.Deny(p))
	}
	return ws, outside, deny
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// replace puts a new file in the place of another one, in one step.
func replace(t *testing.T, path, text string) {
	t.Helper()
	write(t, path+".new", text)
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

func TestADeniedFileIsOutsideByEveryNameThatItHas(t *testing.T) {
	t.Parallel()
	ws, _, deny := closedLayout(t)
	d, err := workspace.Open(ws, deny...)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	closed := []string{
		"sub/token", "./sub/token", "sub/../sub/token", "dir/token", "link", "hard", "hard-outside", "hard-key", filepath.Join(ws, "sub/token"),
		"mount/key", "mount/..data/key", "mount/..one/key", "tributary.yaml", "Tributary.YAML",
	}
	check := func(when string, paths ...string) {
		t.Helper()
		for _, path := range paths {
			if d.Contains(path) {
				t.Errorf("%s: Contains(%s)", when, path)
			}
			if data, _, err := d.ReadFile(path); err == nil {
				t.Errorf("%s: ReadFile(%s) is %q", when, path, data)
			}
			if err := d.WriteFile(path, []byte("evil")); !errors.Is(err, workspace.ErrOutside) {
				t.Errorf("%s: WriteFile(%s): %v", when, path, err)
			}
			if _, err := d.Stat(path); err == nil {
				t.Errorf("%s: Stat(%s) succeeds", when, path)
			}
		}
	}
	check("at first", closed...)
	if _, err := os.Lstat(filepath.Join(ws, "tributary.yaml")); err == nil {
		t.Error("the configuration was made")
	}

	// A file in its place is closed too, and so are the names that it gets.
	replace(t, filepath.Join(ws, "sub", "token"), "another secret")
	write(t, filepath.Join(ws, "tributary.yaml"), "listen: 127.0.0.1:1")
	write(t, filepath.Join(ws, "mount", "..two", "key"), "another secret")
	if err := os.Symlink("..two", filepath.Join(ws, "mount", "..new")); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(ws, "mount", "..new"), filepath.Join(ws, "mount", "..data")); err != nil {
		t.Fatal(err)
	}
	for hard, of := range map[string]string{"hard-again": "sub/token", "hard-config": "tributary.yaml"} {
		if err := os.Link(filepath.Join(ws, of), filepath.Join(ws, hard)); err != nil {
			t.Fatal(err)
		}
	}
	check("after they were replaced", "sub/token", "dir/token", "link", "hard-again", "tributary.yaml", "hard-config", "mount/key", "mount/..data/key", "mount/..two/key")
	if runtime.GOOS == "darwin" || runtime.GOOS == "windows" {
		check("in capital letters", "SUB/TOKEN", "TRIBUTARY.YAML")
	}

	for _, path := range []string{"fine.txt", "sub/new", "sub/token2", "new.yaml", "."} {
		if !d.Contains(path) {
			t.Errorf("%s is not inside any more", path)
		}
	}
	names := func(dir string) (all []string) {
		entries, err := d.List(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			all = append(all, e.Name)
		}
		return all
	}
	if got := names("dir"); len(got) != 0 {
		t.Errorf("a list shows %q", got)
	}
	if got := names("."); slices.Contains(got, "tributary.yaml") || !slices.Contains(got, "fine.txt") {
		t.Errorf("a list shows %q", got)
	}
}
