package web

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// make web runs this test to learn whether the page must be built.
func TestThePageIsBuiltFromItsSources(t *testing.T) {
	t.Parallel()
	recorded, err := os.ReadFile("built.sha256")
	if err != nil {
		t.Fatal(err)
	}
	files := []string{"embed.html", "index.html", "package-lock.json", "tsconfig.json", "vite.config.js"}
	for _, dir := range []string{"src", "widget", "public", "dist", "../packages/chat/src"} {
		err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				files = append(files, strings.TrimSuffix(filepath.ToSlash(name), packedSuffix))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(files)
	var found strings.Builder
	for _, name := range files {
		dir, below := ".", name
		if rest, is := strings.CutPrefix(name, "../"); is { // an fs.FS has no way up
			dir, below = "..", rest
		}
		c, err := read(os.DirFS(dir), below)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(name, "dist/") && name != "dist/licenses.md" && c.packed == nil {
			t.Errorf("%s is not compressed: run `make page`", name)
		}
		fmt.Fprintf(&found, "%x  %s\n", sha256.Sum256(c.plain()), name)
	}
	if d := cmp.Diff(strings.Split(string(recorded), "\n"), strings.Split(found.String(), "\n")); d != "" {
		t.Errorf("web/dist is not the page of these sources: run `make web` and commit web/dist and web/built.sha256 (-recorded +found):\n%s", d)
	}
}
