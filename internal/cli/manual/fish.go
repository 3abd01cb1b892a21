package manual

import (
	"fmt"
	"strings"
)

// fish writes a completion script for fish: one line for each flag and command.
func fish(b *strings.Builder, c command) {
	name := c.name()
	fmt.Fprintf(b, "# fish completion of %[1]s. For this user: %[1]s completion fish > ~/.config/fish/completions/%[1]s.fish\ncomplete -c %[1]s -f\n", name)
	for _, one := range c.all() {
		when := fishWhen(one)
		for _, below := range one.below {
			fmt.Fprintf(b, "complete -c %s -n %s -a %s -d %s\n", name, when, below.name(), fishQuote(below.help))
		}
		for _, f := range one.flags {
			fmt.Fprintf(b, "complete -c %s -n %s -l %s%s -d %s\n", name, when, f.name, fishValue(f.value), fishQuote(f.help))
		}
		for _, a := range one.args {
			value := "-F"
			if words := choices(a.value); words != nil {
				value = "-a " + fishQuote(strings.Join(words, " "))
			}
			fmt.Fprintf(b, "complete -c %s -n %s %s\n", name, when, value)
		}
	}
}

// fishWhen is the condition under which a command is the one before the cursor.
func fishWhen(c command) string {
	var parts []string
	for _, word := range c.path[1:] {
		parts = append(parts, "__fish_seen_subcommand_from "+word)
	}
	if len(c.below) > 0 {
		names := make([]string, len(c.below))
		for i, below := range c.below {
			names[i] = below.name()
		}
		parts = append(parts, "not __fish_seen_subcommand_from "+strings.Join(names, " "))
	}
	return fishQuote(strings.Join(parts, "; and "))
}

func fishValue(value string) string {
	switch {
	case value == "":
		return ""
	case choices(value) != nil:
		return " -x -a " + fishQuote(strings.Join(choices(value), " "))
	case value == "FILE":
		return " -r -F"
	case value == "DIR":
		return " -x -a '(__fish_complete_directories)'"
	}
	return " -x"
}

func fishQuote(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(text) + "'"
}
