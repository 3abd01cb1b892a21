package workspace_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/policy/workspace"
	"github.com/tributary-dev/tributary/policy/workspace/workspacetest"
)

func user(t *testing.T, dir string, opts ...workspace.Option) workspacetest.User {
	t.Helper()
	d, err := workspace.Open(dir, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return workspacetest.User{
		Read: func(path string) (string, error) {
			data, _, err := d.ReadFile(path)
			return string(data), err
		},
		Write: func(path, content string) error { return d.WriteFile(path, []byte(content)) },
		List: func(path string) (names []string, err error) {
			entries, err := d.List(path)
			for _, e := range entries {
				names = append(names, e.Name)
			}
			return names, err
		},
		Contains: d.Contains,
	}
}

//evidence:for promise-workspace
func TestL05NoAttemptLeavesTheWorkspace(t *testing.T) {
	t.Parallel()
	if n := len(workspacetest.Attempts("/top")) + len(workspacetest.Literals()); n < 150 {
		t.Errorf("only %d attempts", n)
	}
	workspacetest.Run(t, func(t *testing.T, dir string) workspacetest.User { return user(t, dir) })
}

// A denied subtree takes another way through the package: it is attacked, too.
func TestNoAttemptLeavesAWorkspaceWithADeniedSubtree(t *testing.T) {
	t.Parallel()
	workspacetest.Run(t, func(t *testing.T, dir string) workspacetest.User {
		data := filepath.Join(dir, "data")
		if err := os.MkdirAll(data, 0o700); err != nil {
			t.Fatal(err)
		}
		return user(t, dir, workspace.Deny(data))
	})
}

func TestADeniedSubtreeIsOutside(t *testing.T) {
	t.Parallel()
	top := workspacetest.Layout(t)
	ws := filepath.Join(top, "ws")
	data := filepath.Join(ws, "data")
	for _, dir := range []string{data, filepath.Join(data, "nats")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{"tokens": "data/token", "state": "sub/../data", "sub/back": "../data"} {
		if err := os.Symlink(target, filepath.Join(ws, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(data, "token"), []byte(workspacetest.Secret), 0o600); err != nil {
		t.Fatal(err)
	}
	// The directory is denied by another name than its own, and one that does not exist is, too.
	d, err := workspace.Open(ws, workspace.Deny(filepath.Join(ws, "state")), workspace.Deny(filepath.Join(ws, "later")), workspace.Deny(filepath.Join(top, "outside")))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for _, path := range []string{
		"data", "data/", "data/token", "data/nats", "data/new", "data/new/deeper", "./data/token", "sub/../data/token", "tokens", "state", "state/token",
		"sub/back/token", "sub/back", data, data + "/token", "data/nats/../token", "indir/../../data/token", "later", "later/x", "data/..", "data/../a.txt",
	} {
		if d.Contains(path) {
			t.Errorf("Contains(%s)", path)
		}
		if data, _, err := d.ReadFile(path); err == nil || strings.Contains(string(data), workspacetest.Secret) {
			t.Errorf("ReadFile(%s): %q", path, data)
		}
		if err := d.WriteFile(path, []byte("evil")); !errors.Is(err, workspace.ErrOutside) {
			t.Errorf("WriteFile(%s): %v", path, err)
		}
		if _, err := d.List(path); err == nil {
			t.Errorf("List(%s) succeeds", path)
		}
		if _, err := d.Stat(path); err == nil {
			t.Errorf("Stat(%s) succeeds", path)
		}
	}
	if got, err := os.ReadFile(filepath.Join(data, "token")); err != nil || string(got) != workspacetest.Secret {
		t.Errorf("the token is %q, %v", got, err)
	}
	for _, path := range []string{"a.txt", "in", "sub/b.txt", "indir/../b.txt", "data2", "sub/data"} {
		if !d.Contains(path) {
			t.Errorf("%s is not inside any more", path)
		}
	}
	if err := d.WriteFile("sub/data", []byte("x")); err != nil {
		t.Errorf("a name like the denied one: %v", err)
	}
	for _, above := range []string{ws, top, "/"} {
		if d, err := workspace.Open(ws, workspace.Deny(above)); err == nil {
			t.Errorf("a workspace below the denied %s was opened: %v", above, d.Close())
		}
	}
}

func TestReadLines(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d, err := workspace.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if err := d.WriteFile("f", []byte("one\ntwo\r\nthree\n\nfive")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		line, limit int
		want        string
	}{
		{0, 0, "one\ntwo\r\nthree\n\nfive"},
		{1, 0, "one\ntwo\r\nthree\n\nfive"},
		{1, 1, "one\n"},
		{2, 1, "two\r\n"},
		{2, 2, "two\r\nthree\n"},
		{4, 1, "\n"},
		{5, 1, "five"},
		{5, 10, "five"},
		{6, 1, ""},
		{100, 0, ""},
		{-3, 2, "one\ntwo\r\n"},
		{3, 0, "three\n\nfive"},
		{2, -1, "two\r\nthree\n\nfive"},
	} {
		if data, cut, err := d.ReadLines("f", c.line, c.limit); err != nil || cut || string(data) != c.want {
			t.Errorf("from %d, %d lines: %q, %v, %v; want %q", c.line, c.limit, data, cut, err, c.want)
		}
	}
	long := strings.Repeat("é", workspace.MaxRead) + "\nend\n"
	if err := d.WriteFile("long", []byte(long)); err != nil {
		t.Fatal(err)
	}
	data, cut, err := d.ReadLines("long", 1, 1)
	if err != nil || !cut || string(data) != long[:workspace.MaxRead]+workspace.Marker {
		t.Errorf("a long line: %d bytes, %v, %v", len(data), cut, err)
	}
	if data, cut, err := d.ReadLines("long", 2, 5); err != nil || cut || string(data) != "end\n" {
		t.Errorf("after a long line: %q, %v, %v", data, cut, err)
	}
	if _, _, err := d.ReadLines("../x", 2, 1); !errors.Is(err, workspace.ErrOutside) {
		t.Errorf("outside: %v", err)
	}
}

// A mount whose server is gone holds an operation in the kernel. The operations
// after it fail in time, and work again when the kernel lets go.
func TestAHungFileSystemBlocksNoSession(t *testing.T) {
	t.Parallel()
	d, err := workspace.Open(t.TempDir(), workspace.Patience(50*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	release := workspace.Hang(d)
	defer release()
	begin := time.Now()
	_, _, readErr := d.ReadFile("a")
	_, listErr := d.List(".")
	_, statErr := d.Stat(".")
	for name, err := range map[string]error{"read": readErr, "write": d.WriteFile("a", nil), "list": listErr, "stat": statErr} {
		if !errors.Is(err, workspace.ErrSlow) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if d.Contains(".") {
		t.Error("a path that cannot be looked at is inside")
	}
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
	release()
	if err := d.WriteFile("a", []byte("x")); err != nil {
		t.Errorf("after the file system answers again: %v", err)
	}
}
