package manual

import (
	"fmt"
	"strings"

	"github.com/tributary-dev/tributary/internal/cli/cmdline"
)

// bash writes a completion script for bash. The script finds the command among the words
// before the cursor, and offers its flags, commands and values.
func bash(b *strings.Builder, c *cmdline.Command) {
	name := c.Name()
	fmt.Fprintf(b, `# bash completion of %[1]s. For this user: %[1]s completion bash > ~/.local/share/bash-completion/completions/%[1]s
_%[1]s_offer() {
  local word
  while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen "$@" -- "${COMP_WORDS[COMP_CWORD]}")
}
_%[1]s() {
  local prev=${COMP_WORDS[COMP_CWORD-1]} at=%[1]s word
  COMPREPLY=()
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$at $word" in
`, name)
	for _, one := range c.All()[1:] {
		fmt.Fprintf(b, "      '%[1]s') at='%[1]s' ;;\n", strings.Join(one.Path, " "))
	}
	b.WriteString("    esac\n  done\n  case \"$at $prev\" in\n")
	for _, one := range c.All() {
		for _, f := range flags(one) {
			if f.Placeholder != "" {
				fmt.Fprintf(b, "    '%s --%s') %sreturn ;;\n", strings.Join(one.Path, " "), f.Name, bashValue(name, f))
			}
		}
	}
	b.WriteString("  esac\n  case $at in\n")
	for _, one := range c.All() {
		files := ""
		if len(one.Args) > 0 && one.Args[0].Choices == nil {
			files = "-f "
		}
		fmt.Fprintf(b, "    '%s') _%s_offer %s-W '%s' ;;\n", strings.Join(one.Path, " "), name, files, strings.Join(names(one), " "))
	}
	fmt.Fprintf(b, "  esac\n}\ncomplete -F _%[1]s %[1]s\n", name)
}

// bashValue is the command that completes the value of a flag.
func bashValue(name string, f *cmdline.Value) string {
	kind := ""
	switch {
	case f.Offers() != nil:
		kind = "-W '" + strings.Join(f.Offers(), " ") + "'"
	case f.Placeholder == "FILE":
		kind = "-f"
	case f.Placeholder == "DIR":
		kind = "-d"
	default:
		return ""
	}
	return fmt.Sprintf("_%s_offer %s; ", name, kind)
}
