package manual

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/tributary-dev/tributary/internal/cli/cmdline"
)

const (
	width  = 80 // of the help text, in characters
	widest = 29 // name of a flag beside which its text begins
)

// Help returns the help text of a command.
func Help(c *cmdline.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Usage: %s", usage(c))
	if len(c.Below) > 0 {
		b.WriteString(" <command>")
	}
	b.WriteString("\n\n")
	wrap(&b, "", "", c.Help)
	var rows [][2]string
	for _, a := range c.Args {
		rows = append(rows, [2]string{a.Form(), a.Help})
	}
	columns(&b, "Arguments", rows)
	rows = nil
	for _, f := range flags(c) {
		short := "    "
		if f.Short != "" {
			short = "-" + f.Short + ", "
		}
		rows = append(rows, [2]string{short + f.Form(), f.Help})
	}
	columns(&b, "Flags", rows)
	if len(c.Below) == 0 {
		return b.String()
	}
	b.WriteString("\nCommands:\n")
	for _, one := range c.All()[1:] {
		if len(one.Below) == 0 {
			fmt.Fprintf(&b, "  %s\n", strings.TrimPrefix(usage(one), c.Path[0]+" "))
			wrap(&b, "    ", "    ", one.Help)
			b.WriteString("\n")
		}
	}
	fmt.Fprintf(&b, "Run \"%s <command> --help\" for more information on a command.\n", strings.Join(c.Path, " "))
	return b.String()
}

// usage is how the command is written. All commands have the flag --help.
func usage(c *cmdline.Command) string {
	if len(flags(c)) > 1 {
		return c.Usage() + " [flags]"
	}
	return c.Usage()
}

// columns writes names and their texts beside each other.
func columns(b *strings.Builder, title string, rows [][2]string) {
	most := 0
	for _, r := range rows {
		if n := utf8.RuneCountInString(r[0]); n <= widest {
			most = max(most, n)
		}
	}
	if len(rows) > 0 {
		fmt.Fprintf(b, "\n%s:\n", title)
	}
	for _, r := range rows {
		first, rest := fmt.Sprintf("  %-*s    ", most, r[0]), strings.Repeat(" ", most+6)
		if utf8.RuneCountInString(r[0]) > most {
			fmt.Fprintf(b, "  %s\n", r[0])
			first = rest
		}
		wrap(b, first, rest, r[1])
	}
}

// wrap writes a text in lines that begin with first and then with rest.
func wrap(b *strings.Builder, first, rest, text string) {
	line := first
	for i, word := range strings.Fields(text) {
		if i > 0 && utf8.RuneCountInString(line+" "+word) > width {
			b.WriteString(line + "\n")
			line, i = rest, 0
		}
		if i > 0 {
			line += " "
		}
		line += word
	}
	b.WriteString(strings.TrimRight(line, " ") + "\n")
}
