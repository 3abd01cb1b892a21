package cli

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/internal/cli/cmdline"
)

// described writes the part of a page about the commands below a command. What flags of several commands
// mean stands once, in front.
func described(b *strings.Builder, c *cmdline.Command) {
	flag := func(f *cmdline.Value) string { return strings.Replace(f.Form(), "=", " ", 1) }
	times := map[string]map[string]int{} // how many commands have a flag with a meaning
	var all []*cmdline.Command
	for _, child := range c.All()[1:] {
		if len(child.Below) > 0 {
			continue
		}
		all = append(all, child)
		for _, f := range child.Flags[1:] { // all have --help
			if times[flag(f)] == nil {
				times[flag(f)] = map[string]int{}
			}
			times[flag(f)][f.Help]++
		}
	}
	// The meaning of most commands is the shared one.
	shared := func(f *cmdline.Value) bool {
		n := times[flag(f)][f.Help]
		for help, other := range times[flag(f)] {
			if other > n || other == n && help < f.Help {
				return false
			}
		}
		return n > 1
	}
	b.WriteString("### Flags of several commands\n\nCommands name these flags without their meaning.\n\n")
	seen := map[string]bool{}
	for _, child := range all {
		for _, f := range child.Flags[1:] {
			if shared(f) && !seen[flag(f)] {
				seen[flag(f)] = true
				fmt.Fprintf(b, "- `%s`: %s\n", flag(f), f.Help)
			}
		}
	}
	b.WriteString("\n")
	for _, child := range all {
		path := strings.Join(child.Path, " ")
		fmt.Fprintf(b, "### `%s`\n\n%s\n\n", path, child.Help)
		var rows, also []string
		for _, a := range child.Args {
			rows = append(rows, fmt.Sprintf("- `%s`: %s\n", strings.ToUpper(a.Form()), strings.TrimSpace(a.Help+" "+strings.Join(a.Choices, ", "))))
		}
		for _, f := range child.Flags[1:] {
			if shared(f) {
				also = append(also, "`--"+f.Name+"`")
			} else {
				rows = append(rows, fmt.Sprintf("- `%s`: %s\n", flag(f), f.Help))
			}
		}
		if len(also) > 0 {
			rows = append(rows, "- "+strings.Join(also, ", ")+"\n")
		}
		if len(rows) > 0 {
			b.WriteString(strings.Join(rows, "") + "\n")
		}
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
