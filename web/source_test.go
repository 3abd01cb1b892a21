package web

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The page reads streams and histories of one form, whatever form the server or the
// session gives to those who do not say.
func TestThePageAsksForTheFormItReads(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("src/*.ts*")
	if err != nil || len(files) == 0 {
		t.Fatalf("no sources: %v", err)
	}
	form, asks := "", 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			if m := regexp.MustCompile(`export const PROFILE = '(.*)';`).FindStringSubmatch(line); m != nil {
				form = m[1]
			}
			if regexp.MustCompile("/api/chat[`'?]|/messages").MatchString(line) {
				if asks++; !strings.Contains(line, "?${PROFILE}") {
					t.Errorf("%s does not say in which form: %s", file, line)
				}
			}
		}
	}
	if form != "client=7&compat=none" || asks < 2 {
		t.Errorf("%d addresses ask for %q", asks, form)
	}
}

// make web runs this test to learn whether the page must be built.
func TestThePageIsBuiltFromItsSources(t *testing.T) {
	t.Parallel()
	recorded, err := os.ReadFile("built.sha256")
	if err != nil {
		t.Fatal(err)
	}
	files := []string{"index.html", "package-lock.json", "tsconfig.json", "vite.config.js"}
	for _, dir := range []string{"src", "public", "dist"} {
		err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				files = append(files, filepath.ToSlash(name))
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
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&found, "%x  %s\n", sha256.Sum256(data), name)
	}
	if d := cmp.Diff(strings.Split(string(recorded), "\n"), strings.Split(found.String(), "\n")); d != "" {
		t.Errorf("web/dist is not the page of these sources: run `make web` and commit web/dist and web/built.sha256 (-recorded +found):\n%s", d)
	}
}
