package spaces_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/policy/workspace/spaces"
)

func write(t testing.TB, path, text string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(t, os.WriteFile(path, []byte(text), 0o644))
}

func must(t testing.TB, err error, but ...error) {
	t.Helper()
	if err != nil && !slices.ContainsFunc(but, func(b error) bool { return errors.Is(err, b) }) {
		t.Fatal(err)
	}
}

func read(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	must(t, err)
	return string(data)
}

// tree tells of each name in a directory what it is.
func tree(t testing.TB, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	must(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		must(t, err)
		info, err := e.Info()
		must(t, err)
		name, err := filepath.Rel(dir, path)
		must(t, err)
		all[name] = info.Mode().String()
		switch {
		case info.Mode().IsRegular():
			all[name] += fmt.Sprint(" ", info.ModTime(), " ", read(t, path))
		case info.Mode()&fs.ModeSymlink != 0:
			leads, err := os.Readlink(path)
			must(t, err)
			all[name] += " " + leads
		}
		return nil
	}))
	return all
}

// names lists a directory.
func names(t testing.TB, dir string) (all []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must(t, err)
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

func TestACopyHasFilesModesTimesAndLinks(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	source, target := filepath.Join(top, "source"), filepath.Join(top, "target")
	write(t, filepath.Join(top, "outside", "secret"), "secret")
	write(t, filepath.Join(source, "a.txt"), "a")
	write(t, filepath.Join(source, "sub", "deep", "run.sh"), "#!/bin/sh\n")
	write(t, filepath.Join(source, "closed", "key"), "key")
	write(t, filepath.Join(source, ".hidden"), "")
	must(t, os.Mkdir(filepath.Join(source, "empty"), 0o750))
	for name, leads := range map[string]string{
		"in": "sub/deep", "out": "../outside/secret", "dir": "../outside", "gone": "nothing", "loop": "loop", "absolute": filepath.Join(top, "outside"),
	} {
		must(t, os.Symlink(leads, filepath.Join(source, name)))
	}
	must(t, os.Chmod(filepath.Join(source, "sub", "deep", "run.sh"), 0o755))
	must(t, os.Chmod(filepath.Join(source, "closed", "key"), 0o400))
	must(t, os.Chtimes(filepath.Join(source, "a.txt"), time.Time{}, time.Unix(1_700_000_000, 0)))
	must(t, os.Chmod(filepath.Join(source, "closed"), 0o500))
	t.Cleanup(func() { must(t, spaces.RemoveAll(target)); must(t, os.Chmod(filepath.Join(source, "closed"), 0o700)) })

	must(t, spaces.Copy(t.Context(), source, target))
	want, got := tree(t, source), tree(t, target)
	for name := range want {
		if got[name] != want[name] {
			t.Errorf("%s is %q in the copy, want %q", name, got[name], want[name])
		}
	}
	if len(got) != len(want) {
		t.Errorf("the copy has %d names, the source %d", len(got), len(want))
	}
	if all := names(t, top); !slices.Equal(all, []string{"outside", "source", "target"}) {
		t.Errorf("beside the copy there are %q", all)
	}
	write(t, filepath.Join(target, "a.txt"), "changed")
	if read(t, filepath.Join(source, "a.txt")) != "a" {
		t.Error("the copy shares a file with its source")
	}
}

func TestACopyOfALinkedDirectoryIsOne(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	write(t, filepath.Join(top, "source", "a"), "a")
	must(t, os.Symlink("source", filepath.Join(top, "alias")))
	must(t, spaces.Copy(t.Context(), filepath.Join(top, "alias"), filepath.Join(top, "target")))
	if read(t, filepath.Join(top, "target", "a")) != "a" {
		t.Error("the copy lacks a file")
	}
}

//evidence:for limit-copy
func TestACopyIsRefused(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	source := filepath.Join(top, "source")
	write(t, filepath.Join(source, "sub", "a"), "12345")
	write(t, filepath.Join(source, "b"), "12345")
	write(t, filepath.Join(top, "file"), "")
	write(t, filepath.Join(top, "deep", strings.Repeat("d/", 201), "a"), "")
	must(t, os.Symlink("source/sub", filepath.Join(top, "alias")))
	must(t, os.Mkdir(filepath.Join(top, "there"), 0o755))
	for _, c := range []struct {
		name, source, target, says string
		bytes                      int64
		entries                    int
	}{
		{"the target exists", source, filepath.Join(top, "there"), "exists already", 10, 999},
		{"the target is a file", source, filepath.Join(top, "file"), "exists already", 10, 999},
		{"the target is the source", source, source, "exists already", 10, 999},
		{"the target is inside the source", source, filepath.Join(source, "copy"), "is inside of it", 10, 999},
		{"the target is deep inside", source, filepath.Join(source, "sub", "copy"), "is inside of it", 10, 999},
		{"the target is inside by a link", source, filepath.Join(top, "alias", "copy"), "is inside of it", 10, 999},
		{"the source is no directory", filepath.Join(top, "file"), filepath.Join(top, "copy"), "not a directory", 10, 999},
		{"the source does not exist", filepath.Join(top, "nothing"), filepath.Join(top, "copy"), "no such file", 10, 999},
		{"the parent of the target does not exist", source, filepath.Join(top, "nothing", "copy"), "no such file", 10, 999},
		{"too many bytes", source, filepath.Join(top, "copy"), "more than 9 bytes", 9, 3},
		{"too many files", source, filepath.Join(top, "copy"), "more than 2 files", 10, 2},
		{"too deep", filepath.Join(top, "deep"), filepath.Join(top, "copy"), "nested deeper than 200", 10, 999},
	} {
		if runtime.GOOS == "windows" && strings.Contains(c.says, "no such file") {
			c.says = ""
		}
		before := tree(t, source)
		err := spaces.CopyWithin(t.Context(), c.source, c.target, c.bytes, c.entries)
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", c.name, err, c.says)
		}
		if after := tree(t, source); len(after) != len(before) {
			t.Errorf("%s: the source has changed: %v", c.name, after)
		}
		if all := names(t, top); !slices.Equal(all, []string{"alias", "deep", "file", "source", "there"}) {
			t.Fatalf("%s: left behind: %q", c.name, all)
		}
	}
	must(t, spaces.CopyWithin(t.Context(), source, filepath.Join(top, "copy"), 10, 3))
}

func TestACopyEndsWithItsContext(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	write(t, filepath.Join(top, "source", "a"), "a")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := spaces.Copy(ctx, filepath.Join(top, "source"), filepath.Join(top, "copy")); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
	if all := names(t, top); !slices.Equal(all, []string{"source"}) {
		t.Errorf("left behind: %q", all)
	}
}

// A directory that a hostile process exchanges for a link, again and again, never leads the copy
// out of the source.
func TestACopyNeverLeavesASourceThatChanges(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	source := filepath.Join(top, "source")
	write(t, filepath.Join(top, "outside", "f"), "secret")
	write(t, filepath.Join(source, "d", "f"), "fine")
	must(t, os.Symlink(filepath.Join(top, "outside"), filepath.Join(source, "l")))
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-done:
				return
			default:
			}
			for _, names := range [][2]string{{"d", "x"}, {"l", "d"}, {"d", "l"}, {"x", "d"}} {
				_ = os.Rename(filepath.Join(source, names[0]), filepath.Join(source, names[1]))
			}
		}
	}()
	for i := range 200 {
		target := filepath.Join(top, fmt.Sprint("copy", i))
		if err := spaces.Copy(t.Context(), source, target); err != nil {
			continue
		}
		must(t, filepath.WalkDir(target, func(path string, e fs.DirEntry, err error) error {
			if err == nil && e.Type().IsRegular() && read(t, path) != "fine" {
				t.Errorf("%s has the content of a file outside", path)
			}
			return err
		}))
	}
	close(done)
	<-ended
}

func TestDirectoriesThatNobodyMayWriteToAreRemoved(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	write(t, filepath.Join(top, "outside", "a"), "a")
	write(t, filepath.Join(top, "tree", "mod", "pkg", "a.go"), "a")
	must(t, os.Symlink("../../outside", filepath.Join(top, "tree", "mod", "link")))
	must(t, os.Chmod(filepath.Join(top, "tree", "mod", "pkg"), 0o500))
	must(t, os.Chmod(filepath.Join(top, "tree", "mod"), 0o500))
	must(t, os.Chmod(filepath.Join(top, "outside"), 0o755))
	must(t, spaces.RemoveAll(filepath.Join(top, "tree")))
	must(t, spaces.RemoveAll(filepath.Join(top, "tree")))
	if all := names(t, top); !slices.Equal(all, []string{"outside"}) || read(t, filepath.Join(top, "outside", "a")) != "a" {
		t.Errorf("left: %q", all)
	}
}
