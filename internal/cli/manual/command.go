package manual

import (
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// command is one command, or the program itself.
type command struct {
	path  []string // names from the program's first word on
	help  string
	usage string // with its arguments
	flags []flag
	args  []argument
	below []command
}

// flag is one flag of a command.
type flag struct {
	name, help string
	value      string // what the value is, or "" if the flag takes none
}

// argument is one word behind the flags.
type argument struct{ name, help, value string }

// root makes commands of a model.
func root(app *kong.Application) command { return of(app.Node, nil, app.Flags) }

func of(n *kong.Node, path []string, common []*kong.Flag) command {
	path = append(slices.Clone(path), n.Name)
	c := command{path: path, help: n.Help, usage: strings.Join(path, " ")}
	flags := n.Flags
	if n.Type != kong.ApplicationNode {
		flags = slices.Concat(flags, common)
	}
	for _, f := range flags {
		if f.Hidden {
			continue
		}
		one := flag{name: f.Name, help: f.Help}
		if !f.IsBool() && !f.IsCounter() {
			one.value = f.FormatPlaceHolder()
		}
		c.flags = append(c.flags, one)
	}
	for _, a := range n.Positional {
		c.args = append(c.args, argument{a.Name, a.Help, strings.ReplaceAll(a.Enum, ",", "|")})
		c.usage += " " + a.Summary()
	}
	for _, child := range n.Children {
		if child.Type == kong.CommandNode && !child.Hidden {
			c.below = append(c.below, of(child, path, common))
		}
	}
	return c
}

// name is the last word of the path.
func (c command) name() string { return c.path[len(c.path)-1] }

// all returns the command and all commands below it.
func (c command) all() []command {
	found := []command{c}
	for _, b := range c.below {
		found = append(found, b.all()...)
	}
	return found
}

// choices are the values of which one must be written, if the value names them: on|off.
func choices(value string) []string {
	if !strings.Contains(value, "|") {
		return nil
	}
	return strings.Split(value, "|")
}

// names are all words that may come next: flags, commands, and choices of the argument.
func (c command) names() []string {
	var words []string
	for _, f := range c.flags {
		words = append(words, "--"+f.name)
	}
	for _, b := range c.below {
		words = append(words, b.name())
	}
	for _, a := range c.args {
		words = append(words, choices(a.value)...)
	}
	return words
}
