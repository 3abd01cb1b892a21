//go:build unix

package spaces_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/internal/testkit/inmemory"
	"github.com/tributary-dev/tributary/policy/workspace/spaces"
)

// TestMain is also the process that the test of kills kills.
func TestMain(m *testing.M) {
	if form := os.Getenv("SPACES_MAKE"); form != "" {
		ctx, w := context.Background(), spaces.Wanted{Name: os.Getenv("SPACES_NAME"), Session: "one", Agent: "claude", Form: spaces.Form(form), Source: os.Getenv("SPACES_SOURCE")}
		maker, err := spaces.Open(ctx, os.Getenv("SPACES_DIR"))
		if err == nil {
			_, err = maker.Make(ctx, w)
		}
		if err == nil && os.Getenv("SPACES_REMOVE") != "" {
			err = maker.Remove(ctx, w.Name, false)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	inmemory.Files()
	os.Exit(m.Run())
}

// TestAKilledProcess kills a process while it makes a workspace, or removes one, at each moment that
// can be seen from outside. The next process makes the workspace, and nothing else is left.
func TestAKilledProcess(t *testing.T) {
	t.Parallel()
	for _, form := range forms() {
		b := newBench(t)
		for i := range 100 {
			write(t, filepath.Join(b.source, fmt.Sprint("d", i%20), fmt.Sprint("f", i)), fmt.Sprint(i))
		}
		b.repository()
		name := b.wanted(form, "one").Name
		home := filepath.Join(b.workspaces, name)
		there := func(pattern string) func() bool {
			return func() bool {
				found, err := filepath.Glob(filepath.Join(home, pattern))
				return err == nil && len(found) > 0
			}
		}
		wasThere := false
		for _, moment := range []struct {
			name   string
			remove string
			seen   func() bool
		}{
			{"its directory", "", there("")},
			{"its note", "", there("space.json")},
			{"a part of the copy", "", there(".partial-*")},
			{"its top", "", there("project")},
			{"the link to the repository", "", there("project/.git")},
			{"some files", "", there("project/d7/f7")},
			{"all files", "", there("project/sub/b.txt")},
			{"the removal", "yes", func() bool {
				_, err := os.Stat(filepath.Join(home, "project", "a.txt"))
				wasThere = wasThere || err == nil
				return wasThere && errors.Is(err, fs.ErrNotExist)
			}},
		} {
			wasThere = false
			cmd := exec.CommandContext(t.Context(), os.Args[0])
			cmd.Env = append(os.Environ(), "SPACES_MAKE="+string(form), "SPACES_NAME="+name, "SPACES_DIR="+b.workspaces, "SPACES_SOURCE="+b.source, "SPACES_REMOVE="+moment.remove)
			must(t, cmd.Start())
			ended := make(chan error, 1)
			go func() { ended <- cmd.Wait() }()
			for over := false; !over && !moment.seen(); {
				select {
				case err := <-ended:
					over = true
					ended <- err
				case <-time.After(100 * time.Microsecond):
				}
			}
			_ = cmd.Process.Kill() // it may have ended
			<-ended
			s := b.make(form, "one")
			if got := git(t, s.Path(), "status", "--porcelain"); got != "" {
				t.Errorf("%s, killed at %s: the status is %q", form, moment.name, got)
			}
			if read(t, filepath.Join(s.Path(), "d19", "f99")) != "99" {
				t.Errorf("%s, killed at %s: a file is missing", form, moment.name)
			}
			b.holds(s, "clean", "")
			b.removed(s, false)
			if left := names(t, b.workspaces); len(left) > 0 {
				t.Errorf("%s, killed at %s: left: %q", form, moment.name, left)
			}
		}
	}
}

// A git that hangs ends with the caller's context, and leaves nothing.
//
//evidence:for limit-workspace-time
func TestAGitThatHangs(t *testing.T) {
	b := newBench(t).repository()
	bin := t.TempDir()
	write(t, filepath.Join(bin, "git"), "#!/bin/sh\nexec sleep 1000\n")
	must(t, os.Chmod(filepath.Join(bin, "git"), 0o755))
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := b.maker.Make(ctx, b.wanted(spaces.OwnWorktree, "one")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the error is %v", err)
	}
	if left := names(t, b.workspaces); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}

// A start removes what a process has left long ago, and not what another one is making.
func TestAStartRemovesWhatIsUnfinished(t *testing.T) {
	t.Parallel()
	b := newBench(t).repository()
	s := b.make(spaces.OwnWorktree, "one")
	note := filepath.Join(b.workspaces, s.Name, "space.json")
	write(t, note, `{"form":"worktree","session":"one","source":"`+b.source+`","top":"project"}`)
	_, err := spaces.Open(t.Context(), b.workspaces)
	must(t, err)
	if _, err := os.Stat(note); err != nil {
		t.Error("a workspace that another process could be making is gone:", err)
	}
	if _, err := b.maker.Find(s.Name); !errors.Is(err, spaces.ErrGone) {
		t.Errorf("a workspace that is not ready is found: %v", err)
	}
	hourAgo := time.Now().Add(-time.Hour)
	must(t, os.Chtimes(note, hourAgo, hourAgo))
	_, err = spaces.Open(t.Context(), b.workspaces)
	must(t, err)
	b.removed(s, false)
}
