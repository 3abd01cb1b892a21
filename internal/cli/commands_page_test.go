package cli

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// cell escapes a text for a cell of a Markdown table.
func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }

// described writes the part of a page about a command, and about the commands below it.
func described(b *strings.Builder, n *kong.Node) {
	for _, child := range n.Children {
		if child.Type != kong.CommandNode || child.Hidden {
			continue
		}
		if len(child.Children) > 0 {
			described(b, child)
			continue
		}
		usage := child.FullPath()
		for _, a := range child.Positional {
			usage += " " + strings.ToUpper(a.Summary())
		}
		fmt.Fprintf(b, "### `%s`\n\n%s\n\n    %s\n\n", child.FullPath(), child.Help, usage)
		if len(child.Flags)+len(child.Positional) == 0 {
			continue
		}
		b.WriteString("| argument or flag | meaning |\n|---|---|\n")
		for _, a := range child.Positional {
			help := a.Help
			if a.Enum != "" {
				help += " " + strings.ReplaceAll(a.Enum, ",", ", ")
			}
			fmt.Fprintf(b, "| `%s` | %s |\n", cell(strings.ToUpper(a.Summary())), cell(help))
		}
		for _, f := range child.Flags {
			value := ""
			if !f.IsBool() {
				value = " " + f.FormatPlaceHolder()
			}
			fmt.Fprintf(b, "| `--%s%s` | %s |\n", f.Name, cell(value), cell(f.Help))
		}
		b.WriteString("\n")
	}
}

func TestTheCommandsAreOnTheirPage(t *testing.T) {
	t.Parallel()
	const file = "../../docs/reference/cli.md"
	k, err := kong.New(&commands{}, kong.Name("tributary"))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	described(&b, k.Model.Node)
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
