package tributary_test

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// demandsFile has one promise, limit or rule of operation a line.
const demandsFile = "docs/internals/demands.txt"

// A demand is a promise, a limit, or a rule of operation.
type demand struct {
	id, text string
	also     string // pages and commands that are evidence, too
}

// TestEveryDemandHasItsEvidence: a test, a case, a page or a command holds each demand. With -v it
// lists them.
//
// A Go test names the ids of its demands in a directive of its doc comment, //evidence:for ID ID. A
// conformance case or a script has a comment "// evidence: ID ID" of its own; so has a test of a
// script, in the line before the test.
func TestEveryDemandHasItsEvidence(t *testing.T) {
	t.Parallel()
	held, all := holders(t), demands(t)
	for _, d := range all {
		if len(held[d.id]) == 0 {
			t.Errorf("no test holds the demand %s: name the id in a test (//evidence:for %s)", d.id, d.id)
		}
		t.Logf("%s: %s: %s %s", d.id, d.text, strings.Join(held[d.id], ", "), d.also)
	}
	for id, by := range held {
		if !slices.ContainsFunc(all, func(d demand) bool { return d.id == id }) {
			t.Errorf("%v names the demand %s, and %s has no such line", by, id, demandsFile)
		}
	}
}

// TestEveryLimitIsADemand: each limit of the reference page is a demand by its own words, so that it has its evidence.
func TestEveryLimitIsADemand(t *testing.T) {
	t.Parallel()
	all, limits := demands(t), 0
	for line := range strings.Lines(text(t, "docs/reference/limits.md")) {
		limit, _, row := strings.Cut(strings.TrimPrefix(line, "| "), " | ")
		if !row || !strings.HasPrefix(line, "| ") || strings.HasPrefix(limit, "limit") {
			continue
		}
		limits++
		if !slices.ContainsFunc(all, func(d demand) bool { return d.text == limit }) {
			t.Errorf("%s has no line for this limit of docs/reference/limits.md: %s", demandsFile, limit)
		}
	}
	if limits < 50 {
		t.Errorf("only %d limits were found", limits)
	}
}

func demands(t *testing.T) (all []demand) {
	t.Helper()
	_, list, _ := strings.Cut(text(t, demandsFile), "\n\n")
	for line := range strings.Lines(list) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "# ") {
			continue
		}
		var d demand
		var ok bool
		if d.id, d.text, ok = strings.Cut(line, " | "); !ok {
			t.Fatalf("%s: this line has no demand: %s", demandsFile, line)
		}
		d.text, d.also, _ = strings.Cut(d.text, " | ")
		if slices.ContainsFunc(all, func(o demand) bool { return o.id == d.id }) {
			t.Errorf("%s has two lines for %s", demandsFile, d.id)
		}
		all = append(all, d)
	}
	return all
}

// holders are the tests, cases and scripts of each demand.
func holders(t *testing.T) map[string][]string {
	t.Helper()
	held := map[string][]string{}
	err := fs.WalkDir(os.DirFS("."), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains([]string{"node_modules", "testdata", "recordings", "venv", ".git"}, d.Name()):
			return fs.SkipDir
		case strings.HasSuffix(name, "_test.go"), strings.HasPrefix(name, "test/conformance/") && path.Ext(name) == ".mjs":
			for id, holder := range named(name, text(t, name)) {
				held[id] = append(held[id], holder...)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return held
}

// named finds the ids in the directives of a file, and the test that follows each: the file itself where none does.
func named(name, source string) map[string][]string {
	directive := regexp.MustCompile(`(?m)^\s*(?://evidence:for|// evidence:) (.*)\n(?:func (\w+)\(|\s*test\('([^']*)')?`)
	found := map[string][]string{}
	for _, m := range directive.FindAllStringSubmatch(source, -1) {
		for id := range strings.FieldsSeq(m[1]) {
			found[id] = append(found[id], strings.TrimSpace(name+" "+m[2]+m[3]))
		}
	}
	return found
}
