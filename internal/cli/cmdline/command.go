// Package cmdline reads a command line into structs. The tags of their fields describe commands, flags and
// arguments, so that help, the manual page and completion say what the program reads.
//
//	cmd          the field is a command, and its struct has the flags of the command
//	arg          the field is an argument, and not a flag; a slice takes all further words
//	name, help   its name (the field's, with dashes, if there is none) and a sentence
//	placeholder  what stands for the value in help
//	default      the value that is not given; "withargs": the command that is not named
//	enum         the values that there are, with commas between them
//	short        one letter for a flag
//	sep          "none": a value of a slice is not split at commas
//	optional, hidden
//
// The fields of a struct that is embedded are those of the struct around it. Fields can be string, int, float64, bool,
// []string, *string and *time.Duration. A pointer is nil if there is no value.
package cmdline

import (
	"cmp"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// Command is a command, or the program itself.
type Command struct {
	Path   []string // names from the program's on
	Help   string
	Hidden bool
	Flags  []*Value // the first one is --help
	Args   []*Value
	Below  []*Command
	// Default is the command below that counts if none is named; nil if one must be.
	Default *Command
	// Target points to the struct of the command.
	Target any
}

// Value is a flag or an argument.
type Value struct {
	Name, Short, Help string
	// Placeholder stands for the value of a flag; "" if the flag takes none.
	Placeholder string
	// Choices are all values that there are; nil if there are others.
	Choices        []string
	Optional, Many bool // of an argument
	Hidden         bool

	arg, split bool
	to         any // points to the field; nil: --help
}

// New describes the program whose commands are the fields of a struct, and puts the defaults into the struct. It panics if
// the struct has a field that cannot be read.
func New(name, help string, target any) *Command {
	c := &Command{Path: []string{name}, Help: help, Target: target, Flags: []*Value{{Name: "help", Short: "h", Help: "Show context-sensitive help."}}}
	c.read(reflect.ValueOf(target).Elem())
	return c
}

func (c *Command) read(of reflect.Value) {
	for i := range of.NumField() {
		f, to := of.Type().Field(i), of.Field(i)
		has := func(key string) bool { _, is := f.Tag.Lookup(key); return is }
		name := cmp.Or(f.Tag.Get("name"), strings.ToLower(regexp.MustCompile(`([a-z])([A-Z])`).ReplaceAllString(f.Name, "$1-$2")))
		switch {
		case f.Anonymous:
			c.read(to)
		case has("cmd"):
			below := &Command{Path: append(slices.Clone(c.Path), name), Help: f.Tag.Get("help"), Hidden: has("hidden"), Target: to.Addr().Interface(), Flags: slices.Clone(c.Flags[:1])}
			below.read(to)
			c.Below = append(c.Below, below)
			if has("default") {
				c.Default = below
			}
		default:
			v := &Value{Name: name, Short: f.Tag.Get("short"), Help: f.Tag.Get("help"), Placeholder: f.Tag.Get("placeholder"), Optional: has("optional"), Hidden: has("hidden"), arg: has("arg"), split: !has("sep"), to: to.Addr().Interface()}
			if has("enum") {
				v.Choices = strings.Split(f.Tag.Get("enum"), ",")
			}
			_, v.Many = v.to.(*[]string)
			if start := f.Tag.Get("default"); start != "" {
				if want := v.set(start); want != "" {
					panic(fmt.Sprintf("the default of %s is %s: write %s", name, start, want))
				}
			}
			if v.arg {
				c.Args = append(c.Args, v)
			} else {
				c.Flags = append(c.Flags, v)
			}
		}
	}
}

// Name is the last name of the path.
func (c *Command) Name() string { return c.Path[len(c.Path)-1] }

// Shown are the commands below that are not hidden.
func (c *Command) Shown() []*Command {
	return slices.DeleteFunc(slices.Clone(c.Below), func(b *Command) bool { return b.Hidden })
}

// All are the command and all commands below it that are not hidden.
func (c *Command) All() []*Command {
	all := []*Command{c}
	for _, b := range c.Shown() {
		all = append(all, b.All()...)
	}
	return all
}

// Usage is the path and the arguments.
func (c *Command) Usage() string {
	usage := slices.Clone(c.Path)
	for _, a := range c.Args {
		usage = append(usage, a.Form())
	}
	return strings.Join(usage, " ")
}

// Form is how the value is written: --name=VALUE, <name> or [<name> ...].
func (v *Value) Form() string {
	if !v.arg {
		if v.Placeholder == "" {
			return "--" + v.Name
		}
		return "--" + v.Name + "=" + v.Wants()
	}
	form := "<" + v.Name + ">"
	if v.Many {
		form += " ..."
	}
	if v.Optional {
		form = "[" + form + "]"
	}
	return form
}

// Wants is what stands for the value of a flag: VALUE, or VALUE,... if the flag takes several; "" if it takes none.
func (v *Value) Wants() string {
	if v.Many && v.split && !v.arg {
		return v.Placeholder + ",..."
	}
	return v.Placeholder
}

// Offers are the values to choose from: the choices, or those that the placeholder names as on|off.
func (v *Value) Offers() []string {
	if v.Choices == nil && strings.Contains(v.Placeholder, "|") {
		return strings.Split(v.Placeholder, "|")
	}
	return v.Choices
}
