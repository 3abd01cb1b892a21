package manual

import (
	"fmt"
	"strings"
)

// zsh writes a completion script for zsh: one function for each command.
func zsh(b *strings.Builder, c command) {
	fmt.Fprintf(b, "#compdef %[1]s\n# zsh completion of %[1]s. For this user: %[1]s completion zsh > a file _%[1]s in a folder of $fpath\n", c.name())
	for _, one := range c.all() {
		fmt.Fprintf(b, "\n_%s() {\n", strings.Join(one.path, "_"))
		if len(one.below) > 0 {
			b.WriteString("  local line state\n")
		}
		b.WriteString("  _arguments -C")
		for _, f := range one.flags {
			value := ""
			if f.value != "" {
				value = zshValue(f.value)
			}
			fmt.Fprintf(b, " \\\n    %s", zshQuote("--"+f.name+equals(f.value)+"["+zshText(f.help)+"]"+value))
		}
		if len(one.below) > 0 {
			b.WriteString(" \\\n    '1: :->command' '*:: :->rest'\n  case $state in\n    command)\n      local -a commands\n      commands=(\n")
			for _, below := range one.below {
				fmt.Fprintf(b, "        %s\n", zshQuote(below.name()+":"+below.help))
			}
			b.WriteString("      )\n      _describe command commands ;;\n    rest)\n      case $line[1] in\n")
			for _, below := range one.below {
				fmt.Fprintf(b, "        %s) _%s ;;\n", below.name(), strings.Join(below.path, "_"))
			}
			b.WriteString("      esac ;;\n  esac\n}\n")
			continue
		}
		for i, a := range one.args {
			value := ":_files"
			if words := choices(a.value); words != nil {
				value = ":(" + strings.Join(words, " ") + ")"
			}
			fmt.Fprintf(b, " \\\n    %s", zshQuote(fmt.Sprintf("%d:%s%s", i+1, zshText(a.name), value)))
		}
		b.WriteString("\n}\n")
	}
	fmt.Fprintf(b, "\nif [ \"$funcstack[1]\" = _%[1]s ]; then _%[1]s \"$@\"; else compdef _%[1]s %[1]s; fi\n", c.name())
}

func equals(value string) string {
	if value == "" {
		return ""
	}
	return "="
}

func zshValue(value string) string {
	switch {
	case choices(value) != nil:
		return ":value:(" + strings.Join(choices(value), " ") + ")"
	case value == "FILE":
		return ":FILE:_files"
	case value == "DIR":
		return ":DIR:_files -/"
	}
	return ":" + zshText(value) + ": "
}

// zshText escapes the characters that mean something in a specification of _arguments.
func zshText(text string) string {
	return strings.NewReplacer(`\`, `\\`, ":", `\:`, "[", `\[`, "]", `\]`).Replace(text)
}

func zshQuote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
