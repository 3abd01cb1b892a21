package manual

import (
	"fmt"
	"strings"

	"github.com/tributary-dev/tributary/internal/cli/cmdline"
)

// zsh writes a completion script for zsh: one function for each command.
func zsh(b *strings.Builder, c *cmdline.Command) {
	fmt.Fprintf(b, "#compdef %[1]s\n# zsh completion of %[1]s. For this user: %[1]s completion zsh > a file _%[1]s in a folder of $fpath\n", c.Name())
	for _, one := range c.All() {
		fmt.Fprintf(b, "\n_%s() {\n", strings.Join(one.Path, "_"))
		if len(one.Shown()) > 0 {
			b.WriteString("  local line state\n")
		}
		b.WriteString("  _arguments -C")
		for _, f := range flags(one) {
			value := ""
			if f.Placeholder != "" {
				value = zshValue(f)
			}
			fmt.Fprintf(b, " \\\n    %s", zshQuote("--"+f.Name+equals(f.Placeholder)+"["+zshText(f.Help)+"]"+value))
		}
		if len(one.Shown()) > 0 {
			b.WriteString(" \\\n    '1: :->command' '*:: :->rest'\n  case $state in\n    command)\n      local -a commands\n      commands=(\n")
			for _, below := range one.Shown() {
				fmt.Fprintf(b, "        %s\n", zshQuote(below.Name()+":"+below.Help))
			}
			b.WriteString("      )\n      _describe command commands ;;\n    rest)\n      case $line[1] in\n")
			for _, below := range one.Shown() {
				fmt.Fprintf(b, "        %s) _%s ;;\n", below.Name(), strings.Join(below.Path, "_"))
			}
			b.WriteString("      esac ;;\n  esac\n}\n")
			continue
		}
		for i, a := range one.Args {
			value := ":_files"
			if words := a.Offers(); words != nil {
				value = ":(" + strings.Join(words, " ") + ")"
			}
			fmt.Fprintf(b, " \\\n    %s", zshQuote(fmt.Sprintf("%d:%s%s", i+1, zshText(a.Name), value)))
		}
		b.WriteString("\n}\n")
	}
	fmt.Fprintf(b, "\nif [ \"$funcstack[1]\" = _%[1]s ]; then _%[1]s \"$@\"; else compdef _%[1]s %[1]s; fi\n", c.Name())
}

func equals(value string) string {
	if value == "" {
		return ""
	}
	return "="
}

func zshValue(f *cmdline.Value) string {
	switch {
	case f.Offers() != nil:
		return ":value:(" + strings.Join(f.Offers(), " ") + ")"
	case f.Placeholder == "FILE":
		return ":FILE:_files"
	case f.Placeholder == "DIR":
		return ":DIR:_files -/"
	}
	return ":" + zshText(f.Wants()) + ": "
}

// zshText escapes the characters that mean something in a specification of _arguments.
func zshText(text string) string {
	return strings.NewReplacer(`\`, `\\`, ":", `\:`, "[", `\[`, "]", `\]`).Replace(text)
}

func zshQuote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
