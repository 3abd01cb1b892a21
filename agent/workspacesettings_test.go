package agent_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/policy/workspace"
)

// Which files of a workspace count as settings.
func TestFindSettings(t *testing.T) {
	t.Parallel()
	all := []agent.SettingsFile{
		{Path: "a.json", Harmless: []string{"model"}},
		{Path: ".x/plugin/*"},
		{Path: ".x/*/it.json"},
		{Path: ".x/*"},
		{Path: "agents/**/*", Harmless: []string{"name", "tools"}},
	}
	for name, c := range map[string]struct {
		files map[string]string // with a leading -> a link
		want  string
	}{
		"nothing":                               {nil, ""},
		"other files":                           {map[string]string{"b.json": "{}", ".x.json": "{}"}, ""},
		"harmless keys":                         {map[string]string{"a.json": `{"model": {"run": 1}}`}, ""},
		"an empty file":                         {map[string]string{"a.json": " \n"}, ""},
		"another key":                           {map[string]string{"a.json": `{"model": 1, "run": 1}`}, "a.json"},
		"a key twice":                           {map[string]string{"a.json": `{"run": 1, "model": 1, "run": 1}`}, "a.json"},
		"a key in other letters":                {map[string]string{"a.json": `{"Model": 1}`}, "a.json"},
		"comments":                              {map[string]string{"a.json": "{} // x"}, "a.json"},
		"words that OpenCode replaces":          {map[string]string{"a.json": `{"model":"{env:","model":{"a":"}"}}`}, "a.json"},
		"links in a circle":                     {map[string]string{"agents/a": "-> .", "agents/b": "-> .", "agents/c": "-> .", "agents/d": "-> .", "agents/e": "-> ."}, "many"},
		"two objects":                           {map[string]string{"a.json": `{}{"run": 1}`}, "a.json"},
		"no object":                             {map[string]string{"a.json": "[]"}, "a.json"},
		"text":                                  {map[string]string{"agents/a.md": "mcpServers: x", "agents/b.md": "\n"}, ""},
		"a frontmatter":                         {map[string]string{"agents/a.md": "---\nname: a\ntools:\n- b\n  c\n---\nmcpServers: x"}, ""},
		"one with another key":                  {map[string]string{"agents/a/b/c.md": "---\nname: a\nmcpServers:\n  x: y\n---\n"}, "agents/a/b/c.md"},
		"one behind a mark of its encoding":     {map[string]string{"agents/a.md": "\uFEFF---\nmcpServers:\n---\n"}, "agents/a.md"},
		"one with a key in quotes":              {map[string]string{"agents/a.md": "---\nname: a\n\"mcp\\x53ervers\": x\n---\n"}, "agents/a.md"},
		"one that is moved to the right":        {map[string]string{"agents/a.md": "---\n  name: a\n  mcpServers: x\n---\n"}, "agents/a.md"},
		"one in a line":                         {map[string]string{"agents/a.md": "---\n{name: a, mcpServers: x}\n---\n"}, "agents/a.md"},
		"one with another end of a line":        {map[string]string{"agents/a.md": "---\nname: a\rmcpServers: x\n---\n"}, "agents/a.md"},
		"one whose end is none":                 {map[string]string{"agents/a.md": "---\nname: a\n--- x\nmcpServers: x\n---\n"}, "agents/a.md"},
		"one without an end":                    {map[string]string{"agents/a.md": "---\nname: a\n"}, "agents/a.md"},
		"JSON beside the texts":                 {map[string]string{"agents/a.json": `{"mcpServers": 1}`}, "agents/a.json"},
		"a link in the workspace":               {map[string]string{"a.json": "-> b", "b": `{"run": 1}`}, "a.json"},
		"a link out of it":                      {map[string]string{"a.json": "-> /etc/hostname"}, "a.json?"},
		"a link to nothing":                     {map[string]string{"a.json": "-> none"}, ""},
		"all of a folder, and a file below one": {map[string]string{".x/plugin/p.js": "x", ".x/e/it.json": "{}"}, ".x/plugin/p.js .x/e/it.json"},
		"a folder that is a link out":           {map[string]string{".x": "-> /etc"}, ".x/plugin? .x?"},
		"a file in the place of a folder":       {map[string]string{".x": "text"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for file, text := range c.files {
				path := filepath.Join(dir, file)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				var err error
				if target, link := strings.CutPrefix(text, "-> "); link {
					err = os.Symlink(target, path)
				} else {
					err = os.WriteFile(path, []byte(text), 0o600)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			d, err := workspace.Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			var got []string
			again := agent.FindSettings(all, d)
			for i, f := range agent.FindSettings(all, d) {
				if f.SHA256 != again[i].SHA256 { // nobody can allow it beforehand
					f.Path += "?"
				}
				got = append(got, f.Path)
			}
			if c.want == "many" {
				if len(got) != 201 {
					t.Errorf("an endless folder gives %d files", len(got))
				}
				return
			}
			if got := strings.Join(got, " "); got != c.want {
				t.Errorf("found %q, want %q", got, c.want)
			}
		})
	}
}

// A long file is shown in part, and its whole text counts. Of many files the first are looked at, and the others are one that
// nobody can allow for good.
//
// A person sees which variables a file sets, and no value.
//
//evidence:for limit-settings
func TestValuesOfVariablesAreNotShown(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text := "# a comment\nBASH_ENV=./x.sh\n  export TOKEN = 'secret'\nKEY=\"-----BEGIN\nc2VjcmV0==\n-----END\"\nsecret\nPATH=./bin\n"
	if err := os.WriteFile(filepath.Join(dir, ".env"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	within, err := workspace.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer within.Close()
	found := agent.FindSettings([]agent.SettingsFile{{Path: ".env", Variables: true}}, within)
	const want = "…\nBASH_ENV=…\nTOKEN=…\nKEY=…\n…\n…\n…\nPATH=…\n"
	if len(found) != 1 || found[0].Text != want {
		t.Errorf("shown is %v, want %q", found, want)
	}
	if err := os.WriteFile(filepath.Join(dir, ".env"), []byte(strings.Replace(text, "./bin", "./sbin", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if again := agent.FindSettings([]agent.SettingsFile{{Path: ".env", Variables: true}}, within); len(again) != 1 || len(found) != 1 || again[0].Same(found[0]) || again[0].SHA256 == found[0].SHA256 {
		t.Errorf("another value is the same file: %v", again)
	}
}

func TestSettingsFilesAreBounded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var sums []string
	for _, end := range []string{"a", "b"} {
		if err := os.WriteFile(filepath.Join(dir, "a"), []byte(strings.Repeat("é", 10_000)+end), 0o600); err != nil {
			t.Fatal(err)
		}
		found := settingsIn(t, dir, "a")
		if len(found) != 1 || found[0].Text != strings.Repeat("é", 8192) {
			t.Fatalf("found %d files, the first with %d bytes", len(found), len(found[0].Text))
		}
		sums = append(sums, found[0].SHA256)
	}
	if sums[0] == sums[1] {
		t.Error("another text has the same sum")
	}
	for i := range 210 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("b%03d", i)), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	found := settingsIn(t, dir, "*")
	if again := settingsIn(t, dir, "*"); len(found) != 201 || found[199] != again[199] || found[200] == again[200] {
		t.Errorf("found %d files, the last ones %v", len(found), found[len(found)-2:])
	}
}

func settingsIn(t *testing.T, dir, path string) []agent.FoundSettings {
	t.Helper()
	d, err := workspace.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	return agent.FindSettings([]agent.SettingsFile{{Path: path}}, d)
}
