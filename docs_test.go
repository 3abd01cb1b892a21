package tributary_test

import (
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestLimitsAreShown: the page of limits names a test for each, and the test is
// there.
func TestLimitsAreShown(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("docs/limits.md")
	if err != nil {
		t.Fatal(err)
	}
	var tests strings.Builder
	err = fs.WalkDir(os.DirFS("."), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && (d.Name() == "node_modules" || d.Name() == "testdata") {
			return fs.SkipDir
		}
		if err == nil && strings.HasSuffix(name, "_test.go") {
			var data []byte
			data, err = os.ReadFile(name)
			tests.Write(data)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	names := regexp.MustCompile("`(Test[A-Za-z0-9_]+)`").FindAllStringSubmatch(string(page), -1)
	if len(names) < 30 {
		t.Errorf("only %d tests are named", len(names))
	}
	for _, name := range names {
		if !strings.Contains(tests.String(), "func "+name[1]+"(") {
			t.Errorf("docs/limits.md names %s, and there is no such test", name[1])
		}
	}
	for line := range strings.Lines(string(page)) {
		if strings.HasPrefix(line, "| ") && !strings.HasPrefix(line, "| limit |") && !strings.Contains(line, "`Test") {
			t.Errorf("no test is named for %.60s…", line)
		}
	}
}
