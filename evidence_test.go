package tributary_test

import (
	"cmp"
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// evidence is the page that TestEveryDemandHasItsEvidence writes.
const evidence = "docs/internals/evidence.md"

// A demand is a promise, a limit, or a row of a requirement document. docs/internals/demands.txt
// has one a line, below the heading of its section.
type demand struct {
	section, id, text string
	also              string // pages and commands that are evidence, too
}

// A holder is a test or a conformance case that fails where its demand is not met.
type holder struct {
	place string // the package, the script, or "case"
	name  string // empty for a whole script
}

// TestEveryDemandHasItsEvidence: a test, a case, a page or a command holds each demand, and
// docs/internals/evidence.md says which.
//
// A Go test names the ids of its demands at the head of its name (TestD07_H07_…), or in a directive
// of its doc comment. A conformance case or a script has a comment "// evidence: ID ID" of its own;
// so has a test of a script, in the line before the test.
func TestEveryDemandHasItsEvidence(t *testing.T) {
	t.Parallel()
	held := holders(t)
	all := demands(t)
	for _, d := range all {
		if len(held[d.id]) == 0 && d.also == "" {
			t.Errorf("no test holds the demand %s: name the id in a test (//evidence:for %s)", d.id, d.id)
		}
	}
	for id, by := range held {
		if !slices.ContainsFunc(all, func(d demand) bool { return d.id == id }) {
			t.Errorf("%v names the demand %s, and docs/internals/demands.txt has no such line", by, id)
		}
	}
	want := evidencePage(all, held)
	switch have, err := os.ReadFile(evidence); {
	case err == nil && string(have) == want:
	case *update:
		if err := os.WriteFile(evidence, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s is not what the tests and the demands make of it: run go test . -run %s -update", evidence, t.Name())
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
			t.Errorf("docs/internals/demands.txt has no line for this limit of docs/reference/limits.md: %s", limit)
		}
	}
	if limits < 50 {
		t.Errorf("only %d limits were found", limits)
	}
}

func demands(t *testing.T) (all []demand) {
	t.Helper()
	_, list, _ := strings.Cut(text(t, "docs/internals/demands.txt"), "\n\n")
	section := ""
	for line := range strings.Lines(list) {
		line = strings.TrimSpace(line)
		if title, ok := strings.CutPrefix(line, "# "); ok {
			section = title
			continue
		}
		if line == "" {
			continue
		}
		d := demand{section: section}
		var ok bool
		if d.id, d.text, ok = strings.Cut(line, " | "); !ok {
			t.Fatalf("docs/internals/demands.txt: this line has no demand: %s", line)
		}
		d.text, d.also, _ = strings.Cut(d.text, " | ")
		if slices.ContainsFunc(all, func(o demand) bool { return o.id == d.id }) {
			t.Errorf("docs/internals/demands.txt has two lines for %s", d.id)
		}
		all = append(all, d)
	}
	return all
}

// holders are the tests and cases of each demand, in order.
func holders(t *testing.T) map[string][]holder {
	t.Helper()
	held := map[string][]holder{}
	add := func(h holder, ids ...string) {
		for _, id := range ids {
			held[id] = append(held[id], h)
		}
	}
	err := fs.WalkDir(os.DirFS("."), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains([]string{"node_modules", "testdata", "recordings", "venv", ".git"}, d.Name()):
			return fs.SkipDir
		case strings.HasSuffix(name, "_test.go"):
			goTests(text(t, name), func(test string, ids []string) { add(holder{path.Dir(name), test}, ids...) })
		case strings.HasPrefix(name, "test/conformance/cases/") && path.Ext(name) == ".mjs":
			of := holder{"case", strings.TrimSuffix(strings.TrimPrefix(name, "test/conformance/cases/"), ".mjs")}
			scripts(text(t, name), func(_ string, ids []string) { add(of, ids...) })
		case strings.HasPrefix(name, "test/conformance/") && path.Ext(name) == ".mjs":
			scripts(text(t, name), func(test string, ids []string) { add(holder{name, test}, ids...) })
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for id, by := range held {
		slices.SortFunc(by, func(a, b holder) int { return cmp.Or(cmp.Compare(a.place, b.place), cmp.Compare(a.name, b.name)) })
		held[id] = slices.Compact(by)
	}
	return held
}

const (
	rowID     = `[A-M]\d\d`
	rowsAhead = `((?:` + rowID + `_?)+)`
)

// goTests yields the tests of a Go file that name demands.
func goTests(source string, yield func(test string, ids []string)) {
	declared := regexp.MustCompile(`^func ((?:Test|Fuzz|Benchmark)(?:` + rowsAhead + `)?\w*)\(`)
	var ids []string
	for line := range strings.Lines(source) {
		if list, ok := strings.CutPrefix(line, "//evidence:for "); ok {
			ids = strings.Fields(list)
			continue
		}
		if m := declared.FindStringSubmatch(line); m != nil {
			if ids = append(ids, regexp.MustCompile(rowID).FindAllString(m[2], -1)...); len(ids) > 0 {
				yield(m[1], ids)
			}
		}
		if !strings.HasPrefix(line, "//") {
			ids = nil
		}
	}
}

// scripts yields what a script of the conformance suite names: for a test of it, or for the whole script.
func scripts(source string, yield func(test string, ids []string)) {
	declared := regexp.MustCompile(`^\s*test\('(?:` + rowsAhead + `: )?([^']*)'`)
	var ids []string
	for line := range strings.Lines(source) {
		m := declared.FindStringSubmatch(line)
		if m != nil {
			ids = append(ids, regexp.MustCompile(rowID).FindAllString(m[1], -1)...)
		}
		if len(ids) > 0 && m != nil {
			yield(m[2], ids)
		} else if len(ids) > 0 {
			yield("", ids)
		}
		ids = nil
		if list, ok := strings.CutPrefix(strings.TrimSpace(line), "// evidence: "); ok {
			ids = strings.Fields(list)
		}
	}
}

func evidencePage(all []demand, held map[string][]holder) string {
	var out strings.Builder
	out.WriteString(`# Evidence

This page names, for each promise, each limit and each row of the requirement documents, the tests that fail where it is not met. A test writes the page from
[the list of demands](demands.txt) and from the tests themselves: ` + "`go test . -run TestEveryDemandHasItsEvidence -update`" + `. A new demand is a line in that list. Its test has the id in its name, or in
the line ` + "`//evidence:for ID`" + ` before it; in a script of the conformance suite the line is ` + "`// evidence: ID`" + `. A demand without evidence fails the test.

A name such as ` + "`TestD07_H07_AToolThatFails`" + ` is a Go test of the package before it. A *case* is one of the conformance suite (` + "`test/conformance/cases/`" + `): six releases of the real
client run it. ` + "`make test`" + ` runs all of them, except the benchmark. No test runs a real Agent Ops server; [the trials with one](real-server-trials.md) have a page of their own.
The sections *Reported elsewhere* list issues of other projects, as these read in autumn 2026; their tests fail here if this project has the same fault.
`)
	section := ""
	for _, d := range all {
		if d.section != section {
			section = d.section
			out.WriteString("\n## " + section + "\n\n| id | demand | evidence |\n|---|---|---|\n")
		}
		out.WriteString("| " + d.id + " | " + d.text + " | " + evidenceCell(d, held[d.id]) + " |\n")
	}
	return out.String()
}

// evidenceCell groups the holders by their place.
func evidenceCell(d demand, by []holder) string {
	places := map[string][]string{}
	for _, h := range by {
		name := "`" + h.name + "`"
		if strings.HasSuffix(h.place, ".mjs") {
			name = "“" + h.name + "”"
		}
		places[h.place] = append(places[h.place], name)
	}
	var groups []string
	for _, place := range slices.Sorted(maps.Keys(places)) {
		names := strings.Join(slices.DeleteFunc(places[place], func(n string) bool { return n == "“”" }), ", ")
		switch {
		case place == "case":
			groups = append(groups, "*case* "+names)
		case names == "":
			groups = append(groups, "`"+place+"`")
		default:
			groups = append(groups, "`"+place+"`: "+names)
		}
	}
	if d.also != "" {
		groups = append(groups, d.also)
	}
	return strings.Join(groups, "; ")
}

// TestTestsNameTheirDemands: in Go by the name and by the directive, in a script by the name and by the comment.
func TestTestsNameTheirDemands(t *testing.T) {
	t.Parallel()
	got := map[string]string{}
	take := func(test string, ids []string) { got[test] = strings.Join(ids, " ") }
	goTests("// A comment.\n//\n//evidence:for limit-x a/b#1\nfunc TestD07_H07_AToolThatFails(t *testing.T) {\n}\n\nfunc TestOther(t *testing.T) {\n//evidence:for lost\n\nfunc TestThird(", take)
	scripts("// evidence: A01\nimport x;\n  // evidence: limit-y\n  test('B17_H17: text', () => {\ntest('nothing', ", take)
	want := map[string]string{"TestD07_H07_AToolThatFails": "limit-x a/b#1 D07 H07", "": "A01", "text": "limit-y B17 H17"}
	if !maps.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
