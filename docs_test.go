package tributary_test

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/tributary-dev/tributary/agentops"
)

// pages are the texts of the documentation, by path.
func pages(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md", "conformance/README.md"} {
		names, err := fs.Glob(os.DirFS("."), pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			found[name] = text(t, name)
		}
	}
	return found
}

func text(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestPagesNameWhatThereIs: the tests, files and targets that the documentation
// names are there, and on the page of promises the cases too.
func TestPagesNameWhatThereIs(t *testing.T) {
	t.Parallel()
	tests := testNames(t)
	makefile := text(t, "Makefile")
	quoted := regexp.MustCompile("`([^`\n]+)`")
	test := regexp.MustCompile(`^(Test|Fuzz|Benchmark)\w+$`)
	file := regexp.MustCompile(`^[\w.-]+(/[\w.-]+)+\.(go|mjs|json|md|yaml)$`)
	target := regexp.MustCompile(`^make ([a-z-]+)( [A-Z]+=.*)?$`)
	word := regexp.MustCompile(`^[a-z-]+(/[a-z-]+)?$`)
	said := regexp.MustCompile("`(conformance/[a-z.]+\\.test\\.mjs)` \\(\"([^\"]+)\"\\)")
	for name, page := range pages(t) {
		prose := proseOf(page)
		for _, m := range quoted.FindAllStringSubmatch(prose, -1) {
			switch what := m[1]; {
			case test.MatchString(what):
				if !tests[what] {
					t.Errorf("%s names the test %s, and there is none", name, what)
				}
			case file.MatchString(what) && !strings.HasPrefix(what, "github.com/") && !strings.Contains(what, "NAME"):
				if !there(what) && !there(path.Join(path.Dir(name), what)) {
					t.Errorf("%s names the file %s, and there is none", name, what)
				}
			case target.MatchString(what):
				if !strings.Contains(makefile, "\n"+target.FindStringSubmatch(what)[1]+":") {
					t.Errorf("%s names %s, and the Makefile has no such target", name, what)
				}
			case name == "docs/internals/promises.md" && word.MatchString(what):
				if !there("conformance/cases/" + what + ".mjs") {
					t.Errorf("%s names the case %s, and there is none", name, what)
				}
			}
		}
		for _, m := range said.FindAllStringSubmatch(prose, -1) {
			if !strings.Contains(text(t, m[1]), "'"+m[2]+"'") {
				t.Errorf("%s says that %s has a test %q, and it has none", name, m[1], m[2])
			}
		}
	}
}

func there(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// testNames are the names of all Go tests.
func testNames(t *testing.T) map[string]bool {
	t.Helper()
	named := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark)\w+)\(`)
	found := map[string]bool{}
	err := fs.WalkDir(os.DirFS("."), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || d.Name() == "testdata"):
			return fs.SkipDir
		case strings.HasSuffix(name, "_test.go"):
			for _, m := range named.FindAllStringSubmatch(text(t, name), -1) {
				found[m[1]] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestPagesShowTheirTests: no limit, no promise and no failure elsewhere stands
// there without the test that shows it.
func TestPagesShowTheirTests(t *testing.T) {
	t.Parallel()
	shows := regexp.MustCompile("`(Test|Fuzz)\\w+`|case `|`make |`conformance/")
	for name, head := range map[string]string{"docs/reference/limits.md": "| limit |", "docs/internals/promises.md": "| issue |"} {
		rows := 0
		for line := range strings.Lines(text(t, name)) {
			if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, head) {
				continue
			}
			rows++
			if !shows.MatchString(line) {
				t.Errorf("%s names no test for %.60s…", name, line)
			}
		}
		if rows < 25 {
			t.Errorf("%s has only %d rows", name, rows)
		}
	}
	promises, _, _ := strings.Cut(text(t, "docs/internals/promises.md"), "\n# Known failures elsewhere")
	paragraphs := strings.Split(promises, "\n\n")
	for i, p := range paragraphs {
		if strings.HasPrefix(p, "**") && (i+1 == len(paragraphs) || !strings.HasPrefix(paragraphs[i+1], "- *Shown by* ") || !shows.MatchString(paragraphs[i+1])) {
			t.Errorf("nothing shows the promise %.60s…", p)
		}
	}
}

// TestLinksLeadSomewhere: each link from page to page, and to a heading.
func TestLinksLeadSomewhere(t *testing.T) {
	t.Parallel()
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	all := pages(t)
	for name, from := range all {
		for _, m := range link.FindAllStringSubmatch(proseOf(from), -1) {
			to, heading, _ := strings.Cut(m[1], "#")
			if strings.Contains(to, "://") || strings.Contains(to, "…") {
				continue
			}
			page := name
			if to != "" {
				page = path.Join(path.Dir(name), to)
			}
			switch target, known := all[page]; {
			case !there(page):
				t.Errorf("%s links to %s, which is not there", name, m[1])
			case heading != "" && known && !slices.Contains(anchors(target), heading):
				t.Errorf("%s links to %s, and %s has no such heading", name, m[1], page)
			}
		}
	}
}

// proseOf is a page without its blocks of code.
func proseOf(page string) (prose string) {
	for i, part := range strings.Split("\n"+page, "\n```") {
		if i%2 == 0 {
			prose += part + "\n"
		}
	}
	return prose
}

// anchors are the names that GitHub gives to the headings of a page.
func anchors(page string) (names []string) {
	for line := range strings.Lines(proseOf(page)) {
		title := strings.TrimLeft(line, "#")
		if len(title) == len(line) || !strings.HasPrefix(title, " ") {
			continue
		}
		var name strings.Builder
		for _, r := range strings.ToLower(strings.TrimSpace(title)) {
			switch {
			case r == ' ':
				name.WriteRune('-')
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				name.WriteRune(r)
			}
		}
		names = append(names, name.String())
	}
	return names
}

// TestI15_I18_TheAgentOpsPageHasItsPoints: what the RFC wants of its design document
// is there, each point under a heading of its own.
func TestI15_I18_TheAgentOpsPageHasItsPoints(t *testing.T) {
	t.Parallel()
	page := text(t, "docs/agents/agent-ops.md")
	for _, point := range []string{
		"Recommendation", "Alternatives rejected", "Mapping", "State model", "Access and roles", "Errors", "Risks",
		"Rollout", "Observability", "Files", "Test plan", "Follow-ups", "Decisions", "Non-goals", "Limits", "Surfaces", "The client",
	} {
		_, section, ok := strings.Cut(page, "\n## "+point+"\n")
		section, _, _ = strings.Cut(section, "\n## ")
		if !ok || len(section) < 100 {
			t.Errorf("docs/agents/agent-ops.md says nothing under %s", point)
		}
	}
}

// TestF13_AgentOpsPageNamesEveryFrame: whatever browsers and session agents are
// told stands on the page, so that nothing is left out in silence.
func TestF13_AgentOpsPageNamesEveryFrame(t *testing.T) {
	t.Parallel()
	_, mapping, _ := strings.Cut(text(t, "docs/agents/agent-ops.md"), "\n## Mapping\n")
	mapping, _, _ = strings.Cut(mapping, "\n## ")
	for _, e := range agentops.Events() {
		if (e.Direction == agentops.ToBrowser || e.Direction == agentops.FromRunner) && !strings.Contains(mapping, "`"+e.Type+"`") {
			t.Errorf("the mapping of docs/agents/agent-ops.md does not name %s (%s)", e.Type, e.Direction)
		}
	}
}

// group is a run of demands whose rows have numbers: A01, A02 and so on.
type group struct {
	name        string
	first, last int
}

// TestI18_EveryRowOfTheRFCIsHeld: no demand of the RFC is missing from its page, and
// each has a test, a case, a target or a section there, or is said to be open.
func TestI18_EveryRowOfTheRFCIsHeld(t *testing.T) {
	t.Parallel()
	rowsAreHeld(t, "docs/internals/agent-ops-rows.md", []group{
		{"A", 1, 13},
		{"B", 1, 17},
		{"C", 1, 10},
		{"D", 1, 18},
		{"E", 1, 8},
		{"E", 20, 38},
		{"F", 1, 13},
		{"G", 1, 10},
		{"H", 1, 30},
		{"I", 1, 18},
		{"J", 1, 6},
	})
}

func TestEveryRowOfOpenHarnessAndConversaitionIsHeld(t *testing.T) {
	t.Parallel()
	rowsAreHeld(t, "docs/internals/source-rows.md", []group{{"K", 1, 18}, {"M", 1, 12}, {"H", 31, 31}, {"H", 35, 35}})
}

// rowsAreHeld checks that a page has the rows of the groups, and that each names what
// holds it.
func rowsAreHeld(t *testing.T, page string, groups []group) {
	t.Helper()
	var want []string
	for _, g := range groups {
		for n := g.first; n <= g.last; n++ {
			want = append(want, fmt.Sprintf("%s%02d", g.name, n))
		}
	}
	quoted := regexp.MustCompile("`([^`]+)`")
	shows := regexp.MustCompile("`(Test|Fuzz|Benchmark)\\w+`|cases? `|`make |`conformance/|\\]\\([a-z./-]+\\.md|^open: ")
	var got []string
	for line := range strings.Lines(text(t, page)) {
		cells := strings.Split(strings.Trim(line, "| \n"), " | ")
		if len(cells) != 3 || !regexp.MustCompile(`^[A-M]\d\d$`).MatchString(cells[0]) {
			continue
		}
		got = append(got, cells[0])
		if !shows.MatchString(cells[2]) {
			t.Errorf("nothing holds the row %s", cells[0])
		}
		for _, m := range quoted.FindAllStringSubmatch(cells[2], -1) {
			if regexp.MustCompile(`^[a-z-]+(/[a-z-]+)?$`).MatchString(m[1]) && !there("conformance/cases/"+m[1]+".mjs") {
				t.Errorf("the row %s names the case %s, and there is none", cells[0], m[1])
			}
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("the rows are %v, want %v", got, want)
	}
}

// TestA09_NoJavaScriptServesChats: the server is Go alone. JavaScript is in the page, in examples,
// and in what tests and compares.
func TestA09_NoJavaScriptServesChats(t *testing.T) {
	t.Parallel()
	err := fs.WalkDir(os.DirFS("."), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains([]string{"node_modules", "venv", ".git"}, d.Name()):
			return fs.SkipDir
		case d.Name() == "package.json" && !strings.HasPrefix(name, "examples/") && !strings.HasPrefix(name, "conformance/") && !strings.HasPrefix(name, "internal/realagent/locks/") && !slices.Contains([]string{"web", "bench/peer", "scripts/picture"}, path.Dir(name)):
			t.Errorf("%s: the server is to need no package of npm", name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestTheTutorialShowsTheAdapterAsItIs: the Go blocks of the tutorial stand in the
// example, which is compiled and tested.
func TestTheTutorialShowsTheAdapterAsItIs(t *testing.T) {
	t.Parallel()
	sources := text(t, "examples/tutorial/adapter.go") + text(t, "examples/tutorial/adapter_test.go")
	flat := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(text(t, "docs/agents/write-an-adapter.md"), -1)
	if len(blocks) < 5 {
		t.Errorf("the tutorial has only %d blocks of Go", len(blocks))
	}
	for _, b := range blocks {
		if !strings.HasPrefix(b[1], "package main") && !strings.Contains(flat(sources), flat(b[1])) {
			t.Errorf("this block of the tutorial is not in the example:\n%s", b[1])
		}
	}
	if lines := strings.Count(text(t, "examples/tutorial/adapter.go"), "\n"); lines >= 150 {
		t.Errorf("the tutorial's adapter has %d lines, and is to have fewer than 150", lines)
	}
}
