package manual

import (
	"fmt"
	"strings"
)

// bash writes a completion script for bash. The script finds the command among the words
// before the cursor, and offers its flags, commands and values.
func bash(b *strings.Builder, c command) {
	name := c.name()
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
	for _, one := range c.all()[1:] {
		fmt.Fprintf(b, "      '%[1]s') at='%[1]s' ;;\n", strings.Join(one.path, " "))
	}
	b.WriteString("    esac\n  done\n  case \"$at $prev\" in\n")
	for _, one := range c.all() {
		for _, f := range one.flags {
			if f.value != "" {
				fmt.Fprintf(b, "    '%s --%s') %sreturn ;;\n", strings.Join(one.path, " "), f.name, bashValue(name, f.value))
			}
		}
	}
	b.WriteString("  esac\n  case $at in\n")
	for _, one := range c.all() {
		files := ""
		if len(one.args) > 0 && one.args[0].value == "" {
			files = "-f "
		}
		fmt.Fprintf(b, "    '%s') _%s_offer %s-W '%s' ;;\n", strings.Join(one.path, " "), name, files, strings.Join(one.names(), " "))
	}
	fmt.Fprintf(b, "  esac\n}\ncomplete -F _%[1]s %[1]s\n", name)
}

// bashValue is the command that completes the value of a flag.
func bashValue(name, value string) string {
	kind := ""
	switch {
	case choices(value) != nil:
		kind = "-W '" + strings.Join(choices(value), " ") + "'"
	case value == "FILE":
		kind = "-f"
	case value == "DIR":
		kind = "-d"
	default:
		return ""
	}
	return fmt.Sprintf("_%s_offer %s; ", name, kind)
}
