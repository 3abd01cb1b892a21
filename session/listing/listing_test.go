package listing_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/internal/testkit/inmemory"
	"github.com/tributary-dev/tributary/policy/workspace"
	"github.com/tributary-dev/tributary/session/listing"
)

func TestMain(m *testing.M) {
	inmemory.Files()
	os.Exit(m.Run())
}

// tree makes a workspace of files. A path that ends in a slash is a directory.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		at := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func walk(t *testing.T, root string, opts ...workspace.Option) listing.Listing {
	t.Helper()
	dir, err := workspace.Open(root, opts...)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	l, err := listing.Walk(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestAListingHasTheFilesThatVersionControlWouldHave(t *testing.T) {
	t.Parallel()
	root := tree(t, map[string]string{
		".gitignore": "*.log\n# a comment\n/build/\n!keep.log\nsecret.txt\r\n", "main.go": "", "a.log": "", "keep.log": "", "build/out": "",
		"src/main.go": "", "src/build/x.go": "", "src/.gitignore": "*.tmp\n/local\n", "src/a.tmp": "", "src/local": "", "src/deep/local": "", "a.tmp": "",
		".git/config": "", "node_modules/x/index.js": "", "web/node_modules/y.js": "", "secret.txt": "", "src/secret.txt": "", "src/grüße.md": "",
	})
	l := walk(t, root)
	const want = ".gitignore a.tmp keep.log main.go src/.gitignore src/grüße.md src/main.go src/build/x.go src/deep/local"
	if got := strings.Join(l.Files, " "); got != want || l.More {
		t.Errorf("the files are %s (more: %v), want %s", got, l.More, want)
	}
}

func TestAListingStaysInTheWorkspace(t *testing.T) {
	t.Parallel()
	outside := tree(t, map[string]string{"password": "", "sub/password": ""})
	root := tree(t, map[string]string{"in.txt": "", "data/tributary.db": "", "sub/file": ""})
	for link, to := range map[string]string{"out": outside, "sub/out": filepath.Join(outside, "password"), "up": "..", "loop": ".", "sub/loop": "../sub"} {
		if err := os.Symlink(to, filepath.Join(root, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(filepath.Join(root, "in.txt")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(outside, "password"), filepath.Join(root, ".gitignore")); err != nil {
		t.Fatal(err)
	}
	l := walk(t, root, workspace.Deny(filepath.Join(root, "data")))
	if got := strings.Join(l.Files, " "); got != "sub/file" {
		t.Errorf("the files are %s", got)
	}
}

func TestAListingIsBounded(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for i := range listing.MostFiles/1000 + 1 {
		dir := filepath.Join(root, fmt.Sprintf("d%02d", i))
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for n := range 1000 {
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(n)), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	if l := walk(t, root); len(l.Files) > listing.MostFiles || !l.More {
		t.Errorf("%d files, more: %v", len(l.Files), l.More)
	}
	deep := tree(t, map[string]string{strings.Repeat("d/", listing.MostDepth+5) + "file": "", "file": ""})
	if l := walk(t, deep); len(l.Files) != 1 || !l.More {
		t.Errorf("of a deep tree: %q, more: %v", l.Files, l.More)
	}
	dir, err := workspace.Open(root)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if l, err := listing.Walk(ctx, dir); err != nil || len(l.Files) > 0 || !l.More {
		t.Errorf("without time: %q, %v", l.Files, err)
	}
}

func TestOneLargeDirectoryDoesNotOutlastTheTime(t *testing.T) {
	t.Parallel()
	const names = 5000
	files := map[string]string{}
	for i := range names {
		files[fmt.Sprintf("a-name-of-some-length-%d", i)] = ""
	}
	var patterns strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&patterns, "**/*a*b*c*%d*/**/x\n*n*m*l*%d\n", i, i)
	}
	files[".gitignore"] = patterns.String()
	dir, err := workspace.Open(tree(t, files))
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond) // all of it takes seconds
	defer cancel()
	if l, err := listing.Walk(ctx, dir); err != nil || len(l.Files) >= names || !l.More {
		t.Errorf("%d files, more: %v, %v", len(l.Files), l.More, err)
	}
}

func TestTheBestMatchComesFirst(t *testing.T) {
	t.Parallel()
	l := listing.Listing{Files: []string{"main.go", "docs/main.md", "src/domain.go", "src/remain/x.go", "a/mxaxixn", "m/a/i/n/y", "Main", "other"}}
	for text, want := range map[string]string{
		"main":    "Main main.go docs/main.md src/domain.go src/remain/x.go a/mxaxixn m/a/i/n/y",
		"MAIN.go": "main.go src/domain.go src/remain/x.go",
		"src/":    "src/domain.go src/remain/x.go",
		"zzz":     "",
		"":        strings.Join(l.Files, " "),
	} {
		files, more := l.Find(text, 10)
		if got := strings.Join(files, " "); got != want || more {
			t.Errorf("%q finds %s (more: %v), want %s", text, got, more, want)
		}
	}
	if files, more := l.Find("main", 2); len(files) != 2 || !more {
		t.Errorf("two are %q, more: %v", files, more)
	}
}
