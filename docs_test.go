package tributary_test

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/tributary-dev/tributary/adapter/agentops/wire"
)

// pages are the texts of the documentation, by path.
func pages(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md", "test/conformance/README.md", "examples/*/README.md", "packages/*/README.md", "test/recordings/*/README.md"} {
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

// TestPagesNameWhatThereIs: the files and make targets that the documentation names exist. No page names
// a test.
func TestPagesNameWhatThereIs(t *testing.T) {
	t.Parallel()
	makefile := text(t, "Makefile")
	quoted := regexp.MustCompile("`([^`\n]+)`")
	test := regexp.MustCompile(`^(Test|Fuzz)[A-Z]\w+$`)
	file := regexp.MustCompile(`^[\w.-]+(/[\w.-]+)+\.(go|mjs|json|md|yaml)$`)
	target := regexp.MustCompile(`^make ([a-z-]+)( [A-Z]+=.*)?$`)
	for name, page := range pages(t) {
		for _, m := range quoted.FindAllStringSubmatch(proseOf(page), -1) {
			switch what := m[1]; {
			case test.MatchString(what):
				t.Errorf("%s names the test %s: give the test the id of a demand of %s instead", name, what, demandsFile)
			case file.MatchString(what) && !strings.HasPrefix(what, "github.com/") && !strings.Contains(what, "NAME"):
				if !there(what) && !there(path.Join(path.Dir(name), what)) {
					t.Errorf("%s names the file %s, and there is none", name, what)
				}
			case target.MatchString(what):
				if !strings.Contains(makefile, "\n"+target.FindStringSubmatch(what)[1]+":") {
					t.Errorf("%s names %s, and the Makefile has no such target", name, what)
				}
			}
		}
	}
}

// TestPagesOfTasksAreShort: a page that leads through a task has at most 900 words, so that people read it
// to its end. All words count, as wc -w does, for people read code too.
func TestPagesOfTasksAreShort(t *testing.T) {
	t.Parallel()
	const most = 900
	for name, page := range pages(t) {
		task := name == "README.md" || name == "CONTRIBUTING.md" || slices.Contains([]string{"docs/agents", "docs/deploy", "docs/guides"}, path.Dir(name))
		if n := len(strings.Fields(page)); task && name != "docs/deploy/security.md" && n > most {
			t.Errorf("%s has %d words: merge or cut until at most %d are left, or move what people look up to docs/reference", name, n, most)
		}
	}
}

// TestNothingIsInstalledThatIsNotReleased: what a page or an example has people install is there today. What a release
// will bring stands below the heading "After the first release".
func TestNothingIsInstalledThatIsNotReleased(t *testing.T) {
	t.Parallel()
	ours := regexp.MustCompile(`.*(\b(npm install|npx)\b.* @tributary|go (install|get) github\.com/tributary-dev|tributary_VERSION_|"@tributary[^"]*": "[\^~\d]).*`)
	texts := pages(t)
	manifests, err := fs.Glob(os.DirFS("."), "examples/*/package.json")
	if err != nil || len(manifests) == 0 {
		t.Fatalf("the examples have the manifests %q: %v", manifests, err)
	}
	for _, name := range manifests {
		texts[name] = text(t, name)
	}
	for name, page := range texts {
		for section := range strings.SplitSeq(page, "\n## ") {
			if line := ours.FindString(section); line != "" && !strings.HasPrefix(section, "After the first release\n") {
				t.Errorf("%s needs a release, and there is none: %s", name, line)
			}
		}
	}
}

func there(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// TestLinksLeadSomewhere: each link leads to a page or file that exists, and to a heading of it.
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

// TestF13_TheMappingNamesEveryFrame: the design page says what becomes of each frame that browsers and
// session agents get.
func TestF13_TheMappingNamesEveryFrame(t *testing.T) {
	t.Parallel()
	_, mapping, _ := strings.Cut(text(t, "docs/internals/agent-ops-design.md"), "\n## Mapping\n")
	mapping, _, _ = strings.Cut(mapping, "\n## ")
	for _, e := range wire.Events() {
		if (e.Direction == wire.ToBrowser || e.Direction == wire.FromRunner) && !strings.Contains(mapping, "`"+e.Type+"`") {
			t.Errorf("the mapping of docs/internals/agent-ops-design.md does not name %s (%s)", e.Type, e.Direction)
		}
	}
}

// TestA09_NoJavaScriptServesChats: the server is Go alone. JavaScript is in the page, in the package for clients,
// in examples, and in what tests, checks and compares.
func TestA09_NoJavaScriptServesChats(t *testing.T) {
	t.Parallel()
	err := fs.WalkDir(os.DirFS("."), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains([]string{"node_modules", "venv", ".git"}, d.Name()):
			return fs.SkipDir
		case d.Name() == "package.json" && !strings.HasPrefix(name, "examples/") && !strings.HasPrefix(name, "test/conformance/") && !strings.HasPrefix(name, "internal/testkit/realagent/locks/") && !slices.Contains([]string{"web", "packages/chat", "packages/chat/generate", "test/bench/peer", "test/bench/page", "test/readers/_promptfoo", "tools/picture", "tools/javascript"}, path.Dir(name)):
			t.Errorf("%s: the server is to need no package of npm", name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestBlocksOfCode: JSON parses, shell commands have a right syntax, and Go stands in an example, which is
// compiled and tested. The package internal/cli loads the blocks of YAML. The conformance suite runs those of JavaScript.
func TestBlocksOfCode(t *testing.T) {
	t.Parallel()
	flat := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	examples := flat(goExamples(t))
	blocks := 0
	for name, page := range pages(t) {
		for _, b := range codeOf(page) {
			blocks++
			switch b.language {
			case "json":
				for in := json.NewDecoder(strings.NewReader(b.text)); ; {
					var value any
					err := in.Decode(&value)
					if errors.Is(err, io.EOF) {
						break
					}
					if err != nil {
						t.Errorf("%s: %v in\n%s", name, err, b.text)
						break
					}
				}
			case "sh":
				check := exec.CommandContext(t.Context(), "bash", "-n")
				check.Stdin = strings.NewReader(regexp.MustCompile(`<[A-Z]+>`).ReplaceAllString(b.text, "VALUE"))
				if out, err := check.CombinedOutput(); err != nil {
					t.Errorf("%s: %v: %s in\n%s", name, err, out, b.text)
				}
			case "go":
				for piece := range strings.SplitSeq(b.text, "…") {
					if !strings.Contains(examples, flat(piece)) {
						t.Errorf("%s has Go that stands in no example; mark what is left out with a line “…”:\n%s", name, piece)
					}
				}
			}
		}
	}
	if blocks < 50 {
		t.Errorf("only %d blocks were found", blocks)
	}
}

// A block is code on a page.
type block struct{ language, text string }

// codeOf finds the blocks in fences, and the indented ones that begin with a command of a shell.
func codeOf(page string) (blocks []block) {
	for i, part := range strings.Split("\n"+page, "\n```") {
		if i%2 == 1 {
			info, code, _ := strings.Cut(part, "\n")
			language, _, _ := strings.Cut(info, " ")
			blocks = append(blocks, block{language, code})
		}
	}
	command := regexp.MustCompile(`^ {4}(tributary|curl|npm|npx|node|go|make|git|docker|systemctl|sudo|apt|export|psql|cd) `)
	indented := ""
	for line := range strings.Lines(proseOf(page) + "\n") {
		switch {
		case command.MatchString(line), indented != "" && strings.HasPrefix(line, "    "):
			indented += line
		case indented != "":
			blocks = append(blocks, block{"sh", indented})
			indented = ""
		}
	}
	return blocks
}

func goExamples(t *testing.T) (all string) {
	t.Helper()
	err := fs.WalkDir(os.DirFS("examples"), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && path.Ext(name) == ".go" {
			all += text(t, path.Join("examples", name))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestTheTutorialIsShort: the adapter that the tutorial builds stays below 150 lines.
func TestTheTutorialIsShort(t *testing.T) {
	t.Parallel()
	if lines := strings.Count(text(t, "examples/tutorial/adapter.go"), "\n"); lines >= 150 {
		t.Errorf("the tutorial's adapter has %d lines, and is to have fewer than 150", lines)
	}
}
