package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

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
