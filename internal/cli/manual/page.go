package manual

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/internal/cli/cmdline"
)

// Page returns the manual page of a program, for section 1. The sections behind the
// commands, such as EXIT STATUS, are the program's own.
func Page(c *cmdline.Command, more ...Section) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %s 1\n.SH NAME\n%s \\- %s\n.SH SYNOPSIS\n.B %s\n.I command\n.RI [ flags ]\n.SH COMMANDS\n",
		strings.ToUpper(c.Name()), c.Name(), roff(c.Help), c.Name())
	for _, one := range c.All()[1:] {
		if len(one.Below) > 0 {
			continue // its commands have a part each
		}
		fmt.Fprintf(&b, ".SS \"%s\"\n%s\n", roff(strings.TrimPrefix(one.Usage(), c.Name()+" ")), roff(one.Help))
		for _, a := range one.Args {
			help := strings.TrimSpace(a.Help + " " + strings.Join(a.Choices, "|"))
			if help != "" {
				fmt.Fprintf(&b, ".TP\n.I %s\n%s\n", roff(a.Name), roff(help))
			}
		}
		for _, f := range flags(one) {
			if f.Placeholder == "" {
				fmt.Fprintf(&b, ".TP\n.B \\-\\-%s\n%s\n", roff(f.Name), roff(f.Help))
			} else {
				fmt.Fprintf(&b, ".TP\n\\fB\\-\\-%s\\fR \\fI%s\\fR\n%s\n", roff(f.Name), roff(f.Wants()), roff(f.Help))
			}
		}
	}
	for _, s := range more {
		fmt.Fprintf(&b, ".SH %s\n", strings.ToUpper(s.Title))
		for _, item := range s.Items {
			fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", roff(item[0]), roff(item[1]))
		}
	}
	return b.String()
}

// flags are the flags that are not hidden.
func flags(c *cmdline.Command) []*cmdline.Value {
	return slices.DeleteFunc(slices.Clone(c.Flags), func(f *cmdline.Value) bool { return f.Hidden })
}

// Section is a part of the page: names, and their explanations.
type Section struct {
	Title string
	Items [][2]string
}

// roff escapes a text for troff.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, `"`, `\(dq`).Replace(text)
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + text
	}
	return text
}
