package manual

import (
	"fmt"
	"strings"

	"github.com/tributary-dev/tributary/internal/cli/cmdline"
)

// fish writes a completion script for fish: one line for each flag and command.
func fish(b *strings.Builder, c *cmdline.Command) {
	name := c.Name()
	fmt.Fprintf(b, "# fish completion of %[1]s. For this user: %[1]s completion fish > ~/.config/fish/completions/%[1]s.fish\ncomplete -c %[1]s -f\n", name)
	for _, one := range c.All() {
		when := fishWhen(one)
		for _, below := range one.Shown() {
			fmt.Fprintf(b, "complete -c %s -n %s -a %s -d %s\n", name, when, below.Name(), fishQuote(below.Help))
		}
		for _, f := range flags(one) {
			fmt.Fprintf(b, "complete -c %s -n %s -l %s%s -d %s\n", name, when, f.Name, fishValue(f), fishQuote(f.Help))
		}
		for _, a := range one.Args {
			value := "-F"
			if words := a.Offers(); words != nil {
				value = "-a " + fishQuote(strings.Join(words, " "))
			}
			fmt.Fprintf(b, "complete -c %s -n %s %s\n", name, when, value)
		}
	}
}

// fishWhen is the condition under which a command is the one before the cursor.
func fishWhen(c *cmdline.Command) string {
	var parts []string
	for _, word := range c.Path[1:] {
		parts = append(parts, "__fish_seen_subcommand_from "+word)
	}
	if len(c.Shown()) > 0 {
		names := make([]string, len(c.Shown()))
		for i, below := range c.Shown() {
			names[i] = below.Name()
		}
		parts = append(parts, "not __fish_seen_subcommand_from "+strings.Join(names, " "))
	}
	return fishQuote(strings.Join(parts, "; and "))
}

func fishValue(f *cmdline.Value) string {
	switch {
	case f.Placeholder == "":
		return ""
	case f.Offers() != nil:
		return " -x -a " + fishQuote(strings.Join(f.Offers(), " "))
	case f.Placeholder == "FILE":
		return " -r -F"
	case f.Placeholder == "DIR":
		return " -x -a '(__fish_complete_directories)'"
	}
	return " -x"
}

func fishQuote(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(text) + "'"
}
