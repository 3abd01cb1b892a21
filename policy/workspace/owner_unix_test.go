//go:build unix

package workspace_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/tributary-dev/tributary/policy/workspace"
)

// What the gateway makes in a directory of another user or group is for those who work there, also where the
// gateway's own umask closes it. What is there already stays as it is.
func TestNewFilesBelongToThoseWhoWorkInTheDirectory(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root has directories of others")
	}
	const agent, group = 64999, 64998
	for _, c := range []struct {
		name     string
		uid, gid int
		mode     fs.FileMode // of the directory
		more     fs.FileMode // of the group, beside what the umask lets through
	}{
		{"of the agent", agent, agent, 0o700, 0},
		{"shared with a group", 0, group, 0o770, 0o070},
		{"of a group that only reads", agent, group, 0o750, 0o050},
		{"of the gateway", 0, 0, 0o775, 0},
	} {
		dir := t.TempDir()
		file, sub := c.more&^0o010|umasked(t, 0o644), c.more|umasked(t, 0o755)
		old := filepath.Join(dir, "old")
		if err := errors.Join(os.WriteFile(old, nil, 0o600), os.Chown(dir, c.uid, c.gid), os.Chmod(dir, c.mode)); err != nil {
			t.Fatal(err)
		}
		w, err := workspace.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"old", "new", "a/b/deep"} {
			if err := w.WriteFile(name, []byte("x")); err != nil {
				t.Fatal(err)
			}
		}
		for name, want := range map[string]struct {
			uid, gid int
			mode     fs.FileMode
		}{
			"old": {0, 0, 0o600}, "new": {c.uid, c.gid, file}, "a": {c.uid, c.gid, sub}, "a/b": {c.uid, c.gid, sub}, "a/b/deep": {c.uid, c.gid, file},
		} {
			info, err := os.Stat(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			if s, is := info.Sys().(*syscall.Stat_t); !is || int(s.Uid) != want.uid || int(s.Gid) != want.gid || info.Mode().Perm() != want.mode {
				t.Errorf("%s: %s belongs to %d:%d with %v, want %+v", c.name, name, s.Uid, s.Gid, info.Mode().Perm(), want)
			}
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
}

// umasked is what the umask of this process leaves of a mode.
func umasked(t *testing.T, mode fs.FileMode) fs.FileMode {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(t.TempDir(), "f"), os.O_CREATE, mode)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode().Perm()
}
