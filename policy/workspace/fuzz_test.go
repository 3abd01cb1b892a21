package workspace

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var fuzzSeeds = []string{ // read only
	"", ".", "..", "a.txt", "sub/../a.txt", "out", "outdir/secret", "indir/../b.txt", "abs", "gone", "goneout", "loop/x", "chain",
	"sub/up/outside", "TOP/ws/a.txt", "TOP/ws/../outside/secret", "TOP/alias/a.txt", "new/file", "new/../x", "a\x00b", "//", "root/etc",
}

// FuzzInside asks the kernel, by filepath.EvalSymlinks, about what is said to be
// inside. TOP in a path stands for the directory around the workspace.
//
//evidence:for promise-workspace
func FuzzInside(f *testing.F) {
	for _, s := range fuzzSeeds {
		f.Add(s)
	}
	d, top := layout(f)
	top, err := filepath.EvalSymlinks(top)
	must(f, err)
	f.Fuzz(func(t *testing.T, path string) {
		path = strings.ReplaceAll(path, "TOP", top)
		rel, err := d.Rel(path)
		if err != nil {
			if !errors.Is(err, ErrOutside) || d.Contains(path) {
				t.Fatalf("Rel(%q): %v, contains %v", path, err, d.Contains(path))
			}
			return
		}
		if !filepath.IsLocal(rel) {
			t.Fatalf("Rel(%q) = %q", path, rel)
		}
		if again, err := d.Rel(rel); err != nil || again != rel {
			t.Fatalf("Rel(%q) = %q, whose Rel is %q, %v", path, rel, again, err)
		}
		if data, _, err := d.ReadFile(path); err == nil && bytes.Contains(data, []byte(secret)) {
			t.Fatalf("ReadFile(%q) reads outside", path)
		}
		if d.Contains(path) != d.Contains(rel) {
			t.Fatalf("Contains(%q) is not Contains(%q)", path, rel)
		}
		if d.Contains(path) && !resolvesInside(d.Path(), rel) {
			t.Fatalf("Contains(%q), and it leads elsewhere", path)
		}
	})
}

// resolvesInside follows the longest part of rel that exists. It joins by hand:
// filepath.Join would tidy "link/.." away.
func resolvesInside(ws, rel string) bool {
	for {
		real, err := resolve(ws + "/" + rel)
		if err == nil {
			return real == ws || strings.HasPrefix(real, ws+"/")
		}
		i := strings.LastIndexByte(rel, '/')
		if i < 0 {
			return true
		}
		rel = rel[:i]
	}
}

// resolve is filepath.EvalSymlinks without its first tidying: step by step.
func resolve(path string) (string, error) {
	at := "/"
	for step := range strings.SplitSeq(path, "/") {
		next, err := filepath.EvalSymlinks(filepath.Join(at, step))
		if err != nil {
			return "", err
		}
		at = next
	}
	return at, nil
}

// FuzzWriteFile: whatever is written, nothing outside changes.
func FuzzWriteFile(f *testing.F) {
	for _, s := range fuzzSeeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, path string) {
		d, top := layout(t)
		outside := filepath.Join(top, "outside")
		before := tree(t, outside)
		path = strings.ReplaceAll(path, "TOP", top)
		inside := d.Contains(path)
		err := d.WriteFile(path, []byte("evil"))
		if inside && errors.Is(err, ErrOutside) {
			t.Fatalf("Contains(%q), but WriteFile: %v", path, err)
		}
		if after := tree(t, outside); !slices.Equal(before, after) {
			t.Fatalf("WriteFile(%q): outside was %v and is %v", path, before, after)
		}
		if entries, err := os.ReadDir(top); err != nil || len(entries) != 4 {
			t.Fatalf("WriteFile(%q): around the workspace are %v, %v", path, entries, err)
		}
	})
}

// FuzzDenied: the two ways through the package agree on all paths that do not lead
// into the denied directory, and neither leads into it.
func FuzzDenied(f *testing.F) {
	for _, s := range fuzzSeeds {
		f.Add(s)
	}
	for _, s := range []string{"data/token", "link/token", "sub/../data", "data/../a.txt", "link/..", "indir/../../link/token"} {
		f.Add(s)
	}
	free, top := layout(f)
	data := filepath.Join(top, "ws", "data")
	must(f, os.MkdirAll(data, 0o755))
	must(f, os.WriteFile(filepath.Join(data, "token"), []byte(secret), 0o600))
	must(f, os.Symlink("data", filepath.Join(top, "ws", "link")))
	d, err := Open(filepath.Join(top, "ws"), Deny(data))
	must(f, err)
	f.Cleanup(func() { must(f, d.Close()) })
	f.Fuzz(func(t *testing.T, path string) {
		path = strings.ReplaceAll(path, "TOP", top)
		if got, _, err := d.ReadFile(path); err == nil && bytes.Contains(got, []byte(secret)) {
			t.Fatalf("ReadFile(%q) reads what is denied", path)
		}
		mentions := strings.Contains(path, "data") || strings.Contains(path, "link")
		if a, b := free.Contains(path), d.Contains(path); b && !a || a != b && !mentions {
			t.Fatalf("Contains(%q) is %v, and %v with a denied directory", path, a, b)
		}
	})
}
