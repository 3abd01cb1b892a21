package workspace

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestReadFile(t *testing.T) {
	t.Parallel()
	d, top := layout(t)
	for path, want := range map[string]string{
		"a.txt": "a", "sub/b.txt": "b", "in": "b", "indir/../b.txt": "b", "sub/../a.txt": "a",
		top + "/ws/sub/b.txt": "b", top + "/ws/in": "b",
	} {
		if data, cut, err := d.ReadFile(path); err != nil || cut || string(data) != want {
			t.Errorf("ReadFile(%s) = %q, %v, %v", path, data, cut, err)
		}
	}
	for path, want := range map[string]error{
		"nothing": fs.ErrNotExist, "gone": fs.ErrNotExist, "sub": errNotRegular, ".": errNotRegular,
	} {
		if _, _, err := d.ReadFile(path); !errors.Is(err, want) || errors.Is(err, ErrOutside) {
			t.Errorf("ReadFile(%s): %v", path, err)
		}
	}
	for _, path := range []string{"loop", strings.Repeat("x", 300), "a.txt/x"} {
		if _, _, err := d.ReadFile(path); err == nil || errors.Is(err, ErrOutside) {
			t.Errorf("ReadFile(%.20s): %v", path, err)
		}
	}
	if _, _, err := d.ReadFile("nothing"); err == nil || strings.Contains(err.Error(), top) {
		t.Errorf("the error names more than was asked: %v", err)
	}
}

func TestReadFileIsCut(t *testing.T) {
	t.Parallel()
	d, _ := layout(t)
	for _, c := range []struct {
		name string
		data string
		kept int // -1: all of it
	}{
		{"just fits", strings.Repeat("x", MaxRead), -1},
		{"one more", strings.Repeat("x", MaxRead+1), MaxRead},
		{"rune at the cut", strings.Repeat("x", MaxRead-2) + "日本", MaxRead - 2},
		{"rune ends at the cut", strings.Repeat("x", MaxRead-3) + "日本", MaxRead},
		{"four bytes", strings.Repeat("x", MaxRead-3) + "😀", MaxRead - 3},
		{"no text", strings.Repeat("\x80", MaxRead+5), MaxRead},
	} {
		must(t, d.WriteFile("big", []byte(c.data)))
		data, cut, err := d.ReadFile("big")
		if err != nil {
			t.Fatal(err)
		}
		want := c.data
		if c.kept >= 0 {
			want = c.data[:c.kept] + Marker
		}
		if cut != (c.kept >= 0) || string(data) != want {
			t.Errorf("%s: %d bytes, cut %v; want %d", c.name, len(data), cut, len(want))
		}
		if utf8.ValidString(c.data) && !utf8.Valid(data) {
			t.Errorf("%s: half a rune is left", c.name)
		}
	}
}

func TestWriteFile(t *testing.T) {
	t.Parallel()
	d, top := layout(t)
	ws := filepath.Join(top, "ws")
	must(t, os.Chmod(ws+"/a.txt", 0o755))
	for _, c := range []struct{ path, at string }{
		{"new", "new"},
		{"a.txt", "a.txt"},
		{"in", "sub/b.txt"},
		{"indir/x", "sub/deep/x"},
		{"indir/../y", "sub/y"},
		{"made/for/it", "made/for/it"},
		{ws + "/z", "z"},
		{"gone", "nothing"},
		{"indir/made/x", "sub/deep/made/x"},
	} {
		for _, content := range []string{"longer content", "short", ""} {
			if err := d.WriteFile(c.path, []byte(content)); err != nil {
				t.Errorf("WriteFile(%s): %v", c.path, err)
			}
			if got, err := os.ReadFile(filepath.Join(ws, c.at)); err != nil || string(got) != content {
				t.Errorf("WriteFile(%s): %s holds %q, %v", c.path, c.at, got, err)
			}
		}
	}
	if info, err := os.Stat(ws + "/a.txt"); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("the mode is lost: %v, %v", info.Mode(), err)
	}
	for _, path := range []string{".", "sub", "a.txt/x", "loop", "missing/../x", "missing/../made2/x", "indir/../made2/x", strings.Repeat("x", 300)} {
		if err := d.WriteFile(path, []byte("x")); err == nil || errors.Is(err, ErrOutside) {
			t.Errorf("WriteFile(%.20s): %v", path, err)
		}
	}
	for _, dir := range []string{"/missing", "/made2", "/sub/made2"} {
		if _, err := os.Lstat(ws + dir); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s was made for a path with ..", dir)
		}
	}
}

func TestListAndStat(t *testing.T) {
	t.Parallel()
	d, _ := layout(t)
	got, err := d.List("sub")
	want := []Entry{{"b.txt", 0}, {"deep", fs.ModeDir}, {"up", fs.ModeSymlink}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("List = %v, %v; want %v", got, err, want)
	}
	if got, err := d.List("indir"); err != nil || len(got) != 0 {
		t.Errorf("an empty directory: %v, %v", got, err)
	}
	if _, err := d.List("a.txt"); err == nil || errors.Is(err, ErrOutside) {
		t.Errorf("List of a file: %v", err)
	}
	if info, err := d.Stat("in"); err != nil || info.Size() != 1 || !info.Mode().IsRegular() {
		t.Errorf("Stat of a link: %v, %v", info, err)
	}
	if info, err := d.Stat("."); err != nil || !info.IsDir() {
		t.Errorf("Stat of the workspace: %v, %v", info, err)
	}
	if info, err := d.Stat("nothing"); !errors.Is(err, fs.ErrNotExist) || info != nil {
		t.Errorf("Stat of nothing: %v, %v", info, err)
	}
}

// TestMovedAway: the directory is what was opened, not what has its name now.
//
//evidence:for promise-workspace
func TestMovedAway(t *testing.T) {
	t.Parallel()
	d, top := layout(t)
	must(t, os.Rename(filepath.Join(top, "ws"), filepath.Join(top, "moved")))
	must(t, os.Symlink("outside", filepath.Join(top, "ws")))
	if data, _, err := d.ReadFile("a.txt"); err != nil || !bytes.Equal(data, []byte("a")) {
		t.Errorf("%q, %v", data, err)
	}
	if _, _, err := d.ReadFile("secret"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what took its name was read: %v", err)
	}
}
