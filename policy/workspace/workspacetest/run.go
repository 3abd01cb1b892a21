package workspacetest

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// User is a user of the package: what reads, writes or judges paths.
type User struct {
	// Read returns the content of a file.
	Read func(path string) (string, error)
	// Write makes or replaces a file.
	Write func(path, content string) error
	// List returns the names in a directory.
	List func(path string) ([]string, error)
	// Contains judges a path.
	Contains func(path string) bool
}

// Run plays all attempts on users that open makes, each for its own workspace.
func Run(t *testing.T, open func(t *testing.T, dir string) User) {
	t.Helper()
	t.Run("attempts", func(t *testing.T) { attempts(t, open) })
	t.Run("literal names", func(t *testing.T) { literals(t, open) })
	t.Run("races", func(t *testing.T) { races(t, open) })
	t.Run("hard links are inside", func(t *testing.T) { hardLinks(t, open) })
}

func attempts(t *testing.T, open func(t *testing.T, dir string) User) {
	top := Layout(t)
	u := open(t, filepath.Join(top, "ws"))
	before := tree(t, top)
	for _, path := range Attempts(top) {
		if u.Contains != nil && u.Contains(path) {
			t.Errorf("Contains(%.80q)", path)
		}
		if u.Read != nil {
			if data, err := u.Read(path); err == nil {
				t.Errorf("read %.80q: %.40q", path, data)
			}
		}
		if u.List != nil {
			if names, err := u.List(path); err == nil {
				t.Errorf("list %.80q: %.5q", path, names)
			}
		}
		if u.Write != nil {
			if err := u.Write(path, "evil"); err == nil {
				t.Errorf("wrote %.80q", path)
			}
		}
	}
	if after := tree(t, top); !maps.Equal(before, after) {
		t.Errorf("outside was %v and is %v", before, after)
	}
}

func literals(t *testing.T, open func(t *testing.T, dir string) User) {
	top := Layout(t)
	u := open(t, filepath.Join(top, "ws"))
	before := tree(t, top)
	for _, path := range Literals() {
		if u.Contains != nil {
			_ = u.Contains(path) // either answer is right: the file would be inside
		}
		if u.Write != nil {
			_ = u.Write(path, "x")
			_ = u.Write("sub/"+path, "x")
		}
		if u.Read != nil {
			if data, err := u.Read(path); err == nil && strings.Contains(data, Secret) {
				t.Errorf("read %q: %q", path, data)
			}
		}
	}
	if after := tree(t, top); !maps.Equal(before, after) {
		t.Errorf("outside was %v and is %v", before, after)
	}
}

// races exchanges a file and a directory for links while they are used.
func races(t *testing.T, open func(t *testing.T, dir string) User) {
	top := Layout(t)
	ws := filepath.Join(top, "ws")
	u := open(t, ws)
	for _, dir := range []string{"real", "swap"} {
		must(t, os.MkdirAll(filepath.Join(ws, dir), 0o750))
		must(t, os.WriteFile(filepath.Join(ws, dir, "secret"), []byte("inside"), 0o600))
	}
	must(t, os.Symlink("../outside", filepath.Join(ws, "evil")))
	before := tree(t, top)
	var stop atomic.Bool
	var wg sync.WaitGroup
	wg.Go(func() {
		swap, evil, hold := filepath.Join(ws, "swap"), filepath.Join(ws, "evil"), filepath.Join(ws, "hold")
		for !stop.Load() {
			_ = os.Rename(swap, hold) // each may fail when a write made the name again
			_ = os.Rename(evil, swap)
			_ = os.Rename(swap, evil)
			_ = os.Rename(hold, swap)
		}
	})
	for end := time.Now().Add(300 * time.Millisecond); time.Now().Before(end); {
		if u.Read != nil {
			if data, err := u.Read("swap/secret"); err == nil && strings.Contains(data, Secret) {
				t.Error("a link that was exchanged was read")
				break
			}
		}
		if u.Write != nil {
			_ = u.Write("swap/secret", "inside")
			_ = u.Write("swap/made/new", "inside")
		}
		if u.Contains != nil {
			_ = u.Contains("swap/secret")
		}
	}
	stop.Store(true)
	wg.Wait()
	if after := tree(t, top); !maps.Equal(before, after) {
		t.Errorf("outside was %v and is %v", before, after)
	}
}

// hardLinks states the rule: a hard link is the file itself, and so is inside.
func hardLinks(t *testing.T, open func(t *testing.T, dir string) User) {
	top := Layout(t)
	ws := filepath.Join(top, "ws")
	must(t, os.Link(filepath.Join(top, "outside/secret"), filepath.Join(ws, "hard")))
	u := open(t, ws)
	if u.Contains != nil && !u.Contains("hard") {
		t.Error("a hard link is not inside")
	}
	if u.Read != nil {
		if data, err := u.Read("hard"); err != nil || !strings.Contains(data, Secret) {
			t.Errorf("a hard link: %q, %v", data, err)
		}
	}
}
