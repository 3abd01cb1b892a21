package config

import (
	"path/filepath"
	"testing"
)

func TestAgentsOfAnotherFile(t *testing.T) {
	t.Parallel()
	c, err := Read([]byte("listen: 127.0.0.1:1\nagents: {claude: {model: m}, codex: {model: n}}"), "t.yaml")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	got, err := c.WithAgents([]byte("cases: [a.yaml]\nagents:\n  claude:\n  codex: {model: o}\n  mine: {adapter: command, command: ./a.sh}\nrepeats: 3\n"), filepath.Join(dir, "suite.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if got.Listen != c.Listen || len(got.Agents) != 3 || got.Agents["claude"].Model != "m" || got.Agents["codex"].Model != "o" || got.Agents["mine"].Command != filepath.Join(dir, "a.sh") {
		t.Errorf("%+v", got)
	}
	if len(c.Agents) != 2 {
		t.Errorf("the configuration itself has changed: %+v", c.Agents)
	}
	for _, w := range []struct{ text, want string }{
		{"cases: [a]\nagents:\n  x: {adaptor: demo}", "s.yaml:3: agents.x.adaptor is not a key here"},
		{"agents:\n  'a b': {}", "s.yaml:2: agents.a b has a name that cannot be used"},
		{"agents: [a]", "s.yaml:1: agents is a list"},
		{"agents: {", "s.yaml:"},
		{"- a", "s.yaml:1: the file is a list"},
	} {
		if _, err := c.WithAgents([]byte(w.text), "s.yaml"); err == nil || len(err.Error()) < len(w.want) || err.Error()[:len(w.want)] != w.want {
			t.Errorf("%q: %v", w.text, err)
		}
	}
}
