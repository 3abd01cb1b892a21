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

// TestConfigurationsOfTheDocs loads each YAML block of each page as tributary.yaml, except the configuration of
// Prometheus, and cases and suites, which it loads as those. With none of them a person who approves a
// command owns a gateway of several people.
func TestConfigurationsOfTheDocs(t *testing.T) {
	kinds := append(builtIn(), tutorial.Adapter())
	blocks := regexp.MustCompile("(?ms)^```yaml[^\n]*\n(.*?)^```")
	secrets := regexp.MustCompile(`(?:token_env: *|env:)(\w+)`)
	read := 0
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md", "examples/*/README.md"} {
		pages, err := filepath.Glob(filepath.Join("..", "..", pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, page := range pages {
			data, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			for _, block := range blocks.FindAllStringSubmatch(string(data), -1) {
				if strings.HasPrefix(block[1], "scrape_configs:") {
					continue
				}
				if strings.HasPrefix(block[1], "name:") || strings.HasPrefix(block[1], "cases:") {
					if _, _, err := eval.Parse(page, []byte(block[1])); err != nil {
						t.Errorf("%v\n%s", err, block[1])
					}
					continue
				}
				read++
				for _, name := range secrets.FindAllStringSubmatch(block[1], -1) {
					t.Setenv(name[1], "a-dummy-of-enough-characters")
				}
				text := strings.ReplaceAll(block[1], "user: tributary-agent", "user: nobody") // who is on every machine
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
							t.Errorf("%s: the agent %s: %s\n%s", page, name, warning, block[1])
						}
					}
				}
				if err != nil {
					t.Errorf("%s: %v\n%s", page, err, block[1])
				}
			}
		}
	}
	if read < 15 {
		t.Errorf("only %d blocks were found", read)
	}
}
