package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

const secret = "outside: nobody may read this"

// layout makes
//
//	outside/secret, outside/dir/            what must not be reached
//	alias -> ws                             another name of the workspace
//	ws/a.txt, ws/sub/b.txt, ws/sub/deep/
//	ws/in -> sub/b.txt, ws/indir -> sub/deep     links that stay
//	ws/out -> ../outside/secret, ws/outdir -> ../outside
//	ws/abs -> <ws>/a.txt, ws/absout -> <outside>/secret
//	ws/gone -> nothing, ws/goneout -> ../outside/new
//	ws/loop -> loop, ws/sub/up -> ../.., ws/chain -> sub/up/outside/secret
func layout(t testing.TB) (Dir, string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("symlinks need a privilege there")
	}
	top := t.TempDir()
	ws := filepath.Join(top, "ws")
	for _, dir := range []string{"outside/dir", "ws/sub/deep", "ws2"} {
		must(t, os.MkdirAll(filepath.Join(top, dir), 0o755))
	}
	for name, content := range map[string]string{
		"outside/secret": secret, "ws2/secret": secret, "ws/a.txt": "a", "ws/sub/b.txt": "b",
	} {
		must(t, os.WriteFile(filepath.Join(top, name), []byte(content), 0o644))
	}
	for name, target := range map[string]string{
		"alias": "ws", "ws/in": "sub/b.txt", "ws/indir": "sub/deep", "ws/out": "../outside/secret", "ws/outdir": "../outside",
		"ws/abs": filepath.Join(ws, "a.txt"), "ws/absout": filepath.Join(top, "outside/secret"),
		"ws/gone": "nothing", "ws/goneout": "../outside/new", "ws/loop": "loop", "ws/sub/up": "../..",
		"ws/chain": "sub/up/outside/secret", "ws/root": "/proc/self/root", "ws/cwd": "/proc/self/cwd",
	} {
		must(t, os.Symlink(target, filepath.Join(top, name)))
	}
	d, err := Open(ws)
	must(t, err)
	t.Cleanup(func() { must(t, d.Close()) })
	return d, top
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestEscapes is the one rule, asked of every method.
//
//evidence:for promise-workspace
func TestEscapes(t *testing.T) {
	t.Parallel()
	d, top := layout(t)
	ws := filepath.Join(top, "ws")
	before := tree(t, filepath.Join(top, "outside"))
	long := strings.Repeat("x", 300)
	for _, path := range []string{
		"", "\x00", "a.txt\x00", "a.txt\x00/../../outside/secret", ws + "/\x00",
		"..", "../", "../outside/secret", "./../outside/secret", "sub/../../outside/secret", "sub/deep/../../../outside/secret",
		"../ws/a.txt", "..//outside/secret", strings.Repeat("../", 50) + "etc/passwd",
		"/", "/etc/passwd", "//etc/passwd", top, top + "/outside/secret", ws + "/../outside/secret", ws + "/../ws/a.txt",
		ws + "2/secret", ws + "2", ws[:len(ws)-1], "/proc/self/root/etc/passwd", "/proc/self/cwd/x", "/dev/null",
		"out", "outdir", "outdir/secret", "outdir/new", "outdir/new/deeper", "outdir/..", "outdir/../ws/a.txt", ws + "/out", ws + "/outdir/secret",
		"abs", "absout", "goneout", "sub/up", "sub/up/outside/secret", "sub/up/ws/a.txt", "chain",
		"root", "root/etc/passwd", "cwd", "cwd/x", "root/" + long,
		"../" + long, strings.Repeat("../", 20000),
	} {
		if _, _, err := d.ReadFile(path); !errors.Is(err, ErrOutside) {
			t.Errorf("ReadFile(%.80q): %v", path, err)
		}
		if err := d.WriteFile(path, []byte("evil")); !errors.Is(err, ErrOutside) {
			t.Errorf("WriteFile(%.80q): %v", path, err)
		}
		if _, err := d.List(path); !errors.Is(err, ErrOutside) {
			t.Errorf("List(%.80q): %v", path, err)
		}
		if _, err := d.Stat(path); !errors.Is(err, ErrOutside) {
			t.Errorf("Stat(%.80q): %v", path, err)
		}
		if d.Contains(path) {
			t.Errorf("Contains(%.80q)", path)
		}
	}
	if after := tree(t, filepath.Join(top, "outside")); !slices.Equal(before, after) {
		t.Errorf("outside was %v and is %v", before, after)
	}
}

// tree lists names and contents, to compare.
func tree(t testing.TB, dir string) []string {
	t.Helper()
	var found []string
	must(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		content := ""
		if e.Type().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			content = string(data)
		}
		found = append(found, path+"="+content)
		return nil
	}))
	return found
}

func TestContains(t *testing.T) {
	t.Parallel()
	d, top := layout(t)
	for path, want := range map[string]bool{
		".": true, "./": true, "a.txt": true, "./a.txt": true, "sub//b.txt": true, "sub/../a.txt": true, "sub/deep/": true,
		top + "/ws": true, top + "/ws/": true, top + "/ws/a.txt": true, top + "//ws/a.txt": false,
		"in": true, "indir": true, "indir/x": true, "indir/../b.txt": true, // the parent of deep is sub
		"new": true, "sub/new": true, "new/deeper/file": true, top + "/ws/new": true, "..new": true, "...": true,
		"new/../a.txt": false, "new/../out": false, "indir/../new": false,
		"gone": false, "gone/x": false, "loop": false, "loop/x": false, "a.txt/x": false,
		strings.Repeat("x", 300): false, strings.Repeat("d/", 5000) + "x": true,
		top + "/alias/a.txt": false, // another name than the one it was opened by
	} {
		if got := d.Contains(path); got != want {
			t.Errorf("Contains(%.80q) = %v", path, got)
		}
	}
	through, err := Open(filepath.Join(top, "alias"))
	must(t, err)
	defer through.Close()
	for _, path := range []string{top + "/alias/a.txt", top + "/ws/a.txt", "a.txt"} {
		if !through.Contains(path) {
			t.Errorf("opened by its alias, it does not contain %s", path)
		}
	}
	if want, err := filepath.EvalSymlinks(filepath.Join(top, "ws")); err != nil || through.Path() != want {
		t.Errorf("Path %s, want %s (%v)", through.Path(), want, err)
	}
}

func TestRel(t *testing.T) {
	t.Parallel()
	d, top := layout(t)
	ws := filepath.Join(top, "ws")
	for path, want := range map[string]string{
		".": ".", "./": ".", ws: ".", ws + "/": ".", ws + "//a/./b/": "a/b", "a.txt": "a.txt", "./a//b": "a/b",
		"a/..": "a/..", "indir/../b.txt": "indir/../b.txt", "..a": "..a", "a\\b": "a\\b", " ": " ", "~": "~", "é/日": "é/日",
	} {
		if got, err := d.Rel(path); err != nil || got != want {
			t.Errorf("Rel(%q) = %q, %v; want %q", path, got, err, want)
		}
	}
	for _, path := range []string{"", "..", "a/../..", "/", ws + "x", ws + "/..", "/a.txt", "a\x00"} {
		if got, err := d.Rel(path); !errors.Is(err, ErrOutside) || got != "" {
			t.Errorf("Rel(%q) = %q, %v", path, got, err)
		}
	}
	_, err := d.Rel("../x")
	if want := `find "../x": path is outside the workspace`; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	if _, err := d.Rel("/" + strings.Repeat("x", 1<<20)); err == nil || len(err.Error()) > 300 {
		t.Errorf("the error of a long path has %d bytes", len(err.Error()))
	}
}

func TestSlashAsWorkspace(t *testing.T) {
	t.Parallel()
	d, err := Open("/")
	must(t, err)
	defer d.Close()
	if rel, err := d.Rel("/etc/passwd"); err != nil || rel != "etc/passwd" {
		t.Errorf("%q, %v", rel, err)
	}
	if _, err := d.Rel("/.."); !errors.Is(err, ErrOutside) {
		t.Errorf("above the top: %v", err)
	}
}

// TestProcess has the kernel's magic links inside the workspace itself.
func TestProcess(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("no /proc")
	}
	d, err := Open("/proc/self")
	must(t, err)
	defer d.Close()
	for _, path := range []string{"root/etc/passwd", "root", "cwd", "cwd/dir_test.go", "exe", "task/../root/etc/passwd"} {
		if _, _, err := d.ReadFile(path); !errors.Is(err, ErrOutside) {
			t.Errorf("ReadFile(%s): %v", path, err)
		}
		if d.Contains(path) {
			t.Errorf("Contains(%s)", path)
		}
	}
	if data, _, err := d.ReadFile("comm"); err != nil || len(data) == 0 {
		t.Errorf("a file of size 0 with content: %q, %v", data, err)
	}
}

func TestOpenFails(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(file, nil, 0o644))
	for _, dir := range []string{file, file + ".no", "\x00"} {
		if d, err := Open(dir); err == nil || !strings.HasPrefix(err.Error(), "workspace ") {
			t.Errorf("Open(%q): %v, %v", dir, d, err)
		}
	}
}

func TestZeroAndClosed(t *testing.T) {
	t.Parallel()
	closed, err := Open(t.TempDir())
	must(t, err)
	must(t, closed.Close())
	must(t, closed.Close())
	for name, d := range map[string]Dir{"zero": {}, "closed": closed} {
		_, _, readErr := d.ReadFile("x")
		_, listErr := d.List(".")
		_, statErr := d.Stat(".")
		for _, err := range []error{readErr, listErr, statErr, d.WriteFile("x", nil)} {
			if err == nil || errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if d.Contains(".") || d.Contains("x") {
			t.Errorf("%s contains something", name)
		}
		must(t, d.Close())
	}
}
