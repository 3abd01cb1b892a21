package manual

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
)

// Page returns the manual page of a program, for section 1. The sections behind the
// commands, such as EXIT STATUS, are the program's own.
func Page(app *kong.Application, more ...Section) string {
	c := root(app)
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %s 1\n.SH NAME\n%s \\- %s\n.SH SYNOPSIS\n.B %s\n.I command\n.RI [ flags ]\n.SH COMMANDS\n",
		strings.ToUpper(c.name()), c.name(), roff(c.help), c.name())
	for _, one := range c.all()[1:] {
		if len(one.below) > 0 && len(one.args) == 0 {
			continue // its commands have a part each
		}
		fmt.Fprintf(&b, ".SS \"%s\"\n%s\n", roff(strings.TrimPrefix(one.usage, c.name()+" ")), roff(one.help))
		for _, a := range one.args {
			help := a.help
			if a.value != "" {
				help = strings.TrimSpace(help + " " + a.value)
			}
			if help != "" {
				fmt.Fprintf(&b, ".TP\n.I %s\n%s\n", roff(a.name), roff(help))
			}
		}
		for _, f := range one.flags {
			if f.value == "" {
				fmt.Fprintf(&b, ".TP\n.B \\-\\-%s\n%s\n", roff(f.name), roff(f.help))
			} else {
				fmt.Fprintf(&b, ".TP\n\\fB\\-\\-%s\\fR \\fI%s\\fR\n%s\n", roff(f.name), roff(f.value), roff(f.help))
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
