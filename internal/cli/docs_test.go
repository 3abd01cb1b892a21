package cli

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/eval"
	"github.com/tributary-dev/tributary/examples/tutorial"
)

// yamlOf are the YAML blocks of a page, also those that are only indented and name agents. A file of YAML is one block.
func yamlOf(page, text string) (all []string) {
	if filepath.Ext(page) == ".yaml" {
		return []string{text}
	}
	for _, block := range regexp.MustCompile("(?ms)^```yaml[^\n]*\n(.*?)^```").FindAllStringSubmatch(text, -1) {
		all = append(all, block[1])
	}
	for _, block := range regexp.MustCompile("(?m)^    agents:\n(?:    .*\n)+").FindAllString(text, -1) {
		all = append(all, strings.ReplaceAll(block[len("    "):], "\n    ", "\n"))
	}
	return all
}

// TestConfigurationsOfTheDocs loads each YAML block of each page as tributary.yaml, except the configuration of
// Prometheus, and cases and suites, which it loads as those. With none of them a person who approves a
// command owns a gateway of several people.
func TestConfigurationsOfTheDocs(t *testing.T) {
	kinds := append(builtIn(), tutorial.Adapter())
	secrets := regexp.MustCompile(`(?:token_env: *|env:)(\w+)`)
	read := 0
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md", "examples/*/README.md", "examples/*.yaml", "examples/*/*.yaml"} {
		pages, err := filepath.Glob(filepath.Join("..", "..", pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, page := range pages {
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), "go.mod")); err == nil && strings.Contains(page, "examples") {
				continue // its agents are its own
			}
			data, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			for _, block := range yamlOf(page, string(data)) {
				if strings.HasPrefix(block, "scrape_configs:") {
					continue
				}
				if strings.HasPrefix(block, "name:") || strings.HasPrefix(block, "cases:") {
					if _, _, err := eval.Parse(page, []byte(block)); err != nil {
						t.Errorf("%v\n%s", err, block)
					}
					continue
				}
				read++
				for _, name := range secrets.FindAllStringSubmatch(block, -1) {
					t.Setenv(name[1], "a-dummy-of-enough-characters")
				}
				text := strings.ReplaceAll(block, "user: tributary-agent", "user: nobody") // who is on every machine
				c, err := load(kinds, file(t, "tributary.yaml", text), flags{cwd: t.TempDir()})
				if err == nil {
					_, err = c.agents()
				}
				if err == nil {
					_, err = c.exporters(nil)
				}
				for name := range c.Agents { // what is printed is copied
					for _, warning := range c.warnings(name) {
						if strings.Contains(warning, "the gateway's user") {
							t.Errorf("%s: the agent %s: %s\n%s", page, name, warning, block)
						}
					}
				}
				if err != nil {
					t.Errorf("%s: %v\n%s", page, err, block)
				}
			}
		}
	}
	if read < 15 {
		t.Errorf("only %d blocks were found", read)
	}
}

// Each of these defaults, which are no constants, does what a configuration without the key does.
func TestTheDefaultsOfThePageDoWhatAMissingKeyDoes(t *testing.T) {
	page, err := os.ReadFile("../../docs/reference/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		section, key string
		in           string // the configuration around the key
		does         func(s setup) any
	}{
		{"Top level", "log_level", "%s", func(s setup) any { return s.LogLevel.Slog() }},
		{"`auth`", "sessions", "auth: {%s}", func(s setup) any { return private(s.Auth) }},
		{"`auth`", "allow_origins", "auth: {%s}", func(s setup) any {
			c := accessConfig(s.Config, nil, nil, nil)
			c.TokenFile = filepath.Join(t.TempDir(), "token")
			guard, err := access.New(c)
			if err != nil {
				t.Fatal(err)
			}
			r, w := httptest.NewRequest(http.MethodOptions, "http://127.0.0.1:8787/api/chat", nil), httptest.NewRecorder()
			r.Header.Set("Origin", "http://localhost:5173")
			r.Header.Set("Access-Control-Request-Method", http.MethodPost)
			guard.Wrap(http.NotFoundHandler()).ServeHTTP(w, r)
			return w.Header().Get("Access-Control-Allow-Origin")
		}},
		{"`auth`", "admin_token", "auth: {%s}", func(s setup) any { return accessConfig(s.Config, nil, nil, nil).TokenFile }},
		{"`stream`", "event_lines", "stream: {%s}", func(s setup) any { return framing(s.Stream) }},
		{"`stream`", "client", "stream: {%s}", func(s setup) any { return streamOptions(s.Stream) }},
		{"`stream`", "subagents", "stream: {%s}", func(s setup) any { return streamOptions(s.Stream) }},
		{"`agents`", "enabled", "agents: {demo: {}, echo: {%s}}", func(s setup) any { return s.agentNames() }},
		{"`agents`", "workspace", "agents: {demo: {%s}}", func(s setup) any { return s.Agents["demo"].Workspace.Own() }},
		{"`exporters`", "content", "exporters:\n  a:\n    url: https://otel.example.com\n    %s", func(s setup) any {
			drop, err := s.Exporters["a"].Drop()
			return fmt.Sprint(drop, err)
		}},
	} {
		_, table, _ := strings.Cut(string(page), "# "+c.section+"\n")
		row := regexp.MustCompile("(?m)^\\| `" + c.key + "` \\| `([^`]+)`").FindStringSubmatch(table)
		if row == nil {
			t.Fatalf("the page gives no value as the default of %s", c.key)
		}
		var does [2]any
		for i, line := range []string{"", c.key + ": " + row[1]} {
			s, err := load(builtIn(), file(t, "tributary.yaml", fmt.Sprintf(c.in, line)), flags{cwd: t.TempDir()})
			if err != nil {
				t.Errorf("%s: %v", line, err)
			}
			does[i] = c.does(s)
		}
		if !reflect.DeepEqual(does[0], does[1]) {
			t.Errorf("with %s: %s the program does %v, and without the key %v", c.key, row[1], does[1], does[0])
		}
	}
}
