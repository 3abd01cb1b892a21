package cli

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/internal/cli/cmdline"
)

// cell escapes a text for a cell of a Markdown table.
func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }

// described writes the part of a page about the commands below a command.
func described(b *strings.Builder, c *cmdline.Command) {
	for _, child := range c.All()[1:] {
		if len(child.Below) > 0 {
			continue
		}
		path, usage := strings.Join(child.Path, " "), child.Usage()
		usage = path + strings.ToUpper(strings.TrimPrefix(usage, path))
		fmt.Fprintf(b, "### `%s`\n\n%s\n\n    %s\n\n", path, child.Help, usage)
		flags := child.Flags[1:] // all have --help
		if len(flags)+len(child.Args) == 0 {
			continue
		}
		b.WriteString("| argument or flag | meaning |\n|---|---|\n")
		for _, a := range child.Args {
			fmt.Fprintf(b, "| `%s` | %s |\n", cell(strings.ToUpper(a.Form())), cell(strings.TrimSpace(a.Help+" "+strings.Join(a.Choices, ", "))))
		}
		for _, f := range flags {
			fmt.Fprintf(b, "| `%s` | %s |\n", cell(strings.Replace(f.Form(), "=", " ", 1)), cell(f.Help))
		}
		b.WriteString("\n")
	}
}

func TestTheCommandsAreOnTheirPage(t *testing.T) {
	t.Parallel()
	const file = "../../docs/reference/cli.md"
	var b strings.Builder
	described(&b, line(&commands{}))
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	made := regexp.MustCompile(`(?s)(<!-- made by [^\n]*-->\n).*(<!-- end -->)`)
	want := made.ReplaceAllString(string(page), "${1}"+strings.ReplaceAll(b.String(), "$", "$$")+"${2}")
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil { //nolint:gosec // a page of the repository
			t.Fatal(err)
		}
	}
	if string(page) != want && !*update {
		t.Errorf("%s is not that of the commands: run go test ./internal/cli -run TestTheCommandsAreOnTheirPage -update", file)
	}
}
