package cmdline

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Parse reads the words behind the program's name into the structs, and returns the command that they name. With help,
// the words ask for the help of the command. The error is a sentence that says what to write.
func (c *Command) Parse(words []string) (named *Command, help bool, err error) {
	given, literal, above := 0, false, c // arguments; all further words are no flags; the last command with a default
	for len(words) > 0 {
		word := words[0]
		words = words[1:]
		switch {
		case !literal && word == "--":
			literal = true
		case !literal && len(word) > 1 && word[0] == '-':
			var f *Value
			if c.Default != nil {
				above = c
			}
			if c, f, words, err = c.readFlag(word, words); err != nil {
				return nil, false, err
			}
			help = help || f.to == nil
		case len(c.Below) > 0:
			below := c.below(word)
			if below == nil {
				return nil, false, fmt.Errorf("unexpected argument %s%s", word, c.near(word))
			}
			c = below
		case given < len(c.Args) || given > 0 && c.Args[len(c.Args)-1].Many:
			if err := c.Args[min(given, len(c.Args)-1)].give(word); err != nil {
				return nil, false, err
			}
			given++
		case c == above.Default && above.below(word) != nil:
			return nil, false, fmt.Errorf("the flags are those of %s: write %s before its flags", c.Name(), word)
		default:
			return nil, false, fmt.Errorf("unexpected argument %s", word)
		}
	}
	if help {
		return c, true, nil
	}
	return c.complete(given)
}

// below is the command below of a name, or nil.
func (c *Command) below(name string) *Command {
	for _, b := range c.Below {
		if b.Name() == name {
			return b
		}
	}
	return nil
}

// complete refuses a command that lacks a command or an argument.
func (c *Command) complete(given int) (*Command, bool, error) {
	switch {
	case c.Default != nil:
		c = c.Default
	case len(c.Below) > 0:
		var names []string
		for _, b := range c.Shown() {
			names = append(names, b.Name())
		}
		return nil, false, fmt.Errorf("the command is not complete: write %s behind it", either(names))
	}
	if given < len(c.Args) && !c.Args[given].Optional {
		hint := ""
		if name := c.Args[given].Name; name == "prompt" || name == "file" {
			hint = ", in quotation marks if it has spaces, or - for standard input"
		}
		return nil, false, fmt.Errorf("the %s is missing: write it at the end%s", c.Args[given].Name, hint)
	}
	return c, false, nil
}

// readFlag reads a flag, and its value from the word or from the words behind it. A flag of the default command stands
// for the command.
func (c *Command) readFlag(word string, words []string) (*Command, *Value, []string, error) {
	name, value, has := strings.Cut(word, "=")
	if word[1] != '-' {
		name, value, has = word[:2], strings.TrimPrefix(word[2:], "="), len(word) > 2
	}
	is := func(v *Value) bool { return name == "--"+v.Name || name == "-"+v.Short }
	i := slices.IndexFunc(c.Flags, is)
	if i < 0 && c.Default != nil {
		if j := slices.IndexFunc(c.Default.Flags, is); j >= 0 {
			c, i = c.Default, j
		}
	}
	if i < 0 {
		name, _, _ = strings.Cut(word, "=")
		return c, nil, nil, fmt.Errorf("unknown flag %s%s", name, c.near(name))
	}
	f := c.Flags[i]
	switch to := f.to.(type) {
	case nil:
		return c, f, words, nil
	case *bool:
		if *to = !has || slices.Contains([]string{"true", "1", "yes"}, value); !*to && !slices.Contains([]string{"false", "0", "no"}, value) {
			return c, nil, nil, fmt.Errorf("--%s takes no value: write it alone, or leave it out", f.Name)
		}
		return c, f, words, nil
	}
	if !has {
		if len(words) == 0 || len(words[0]) > 1 && words[0][0] == '-' && (words[0][1] < '0' || words[0][1] > '9') {
			return c, nil, nil, fmt.Errorf("--%s has no value: write --%s %s", f.Name, f.Name, f.Placeholder)
		}
		value, words = words[0], words[1:]
	}
	return c, f, words, f.give(value)
}

// give sets a value that a person wrote. An empty text is refused: a script whose variable is not set would else work on
// the default configuration, data directory or database.
func (v *Value) give(text string) error {
	name, empty := "--"+v.Name, "write --"+v.Name+" "+v.Wants()+", or leave it out"
	if v.arg {
		name, empty = "the "+v.Name, "write it at the end"
	}
	if _, is := v.to.(*string); is && text == "" && v.Choices == nil {
		return errors.New(name + " is empty: " + empty)
	}
	if want := v.set(text); want != "" {
		return fmt.Errorf("%s is %q: write %s", name, text, want)
	}
	return nil
}

// set reads a text into the field, or says what to write in its place.
func (v *Value) set(text string) (want string) {
	var err error
	switch to := v.to.(type) {
	case *string:
		if *to = text; v.Choices != nil && !slices.Contains(v.Choices, text) {
			return either(v.Choices)
		}
	case **string:
		*to = &text
	case *[]string:
		if v.split && !v.arg {
			*to = append(*to, strings.Split(text, ",")...)
		} else {
			*to = append(*to, text)
		}
	case *int:
		want = "a whole number"
		*to, err = strconv.Atoi(text)
	case *float64:
		want = "a number such as 0.05"
		*to, err = strconv.ParseFloat(text, 64)
	case **time.Duration:
		want = "a time such as 720h"
		*to = new(time.Duration)
		**to, err = time.ParseDuration(text)
	default:
		panic(fmt.Sprintf("a command line cannot be read into %T", to))
	}
	if err == nil {
		return ""
	}
	return want
}

// either joins words as a sentence does.
func either(words []string) string {
	last := len(words) - 1
	if last == 0 {
		return words[0]
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// near asks whether the person meant the flag or the command that differs least; "" if all differ much.
func (c *Command) near(word string) string {
	best, least := "", 3
	look := func(name string) {
		if d := distance(strings.ToLower(word), name); d < least && d < len(strings.Trim(name, "-"))-1 {
			best, least = name, d
		}
	}
	if strings.HasPrefix(word, "-") {
		for _, f := range c.Flags {
			look("--" + f.Name)
		}
	} else {
		for _, b := range c.Shown() {
			look(b.Name())
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(", did you mean %q?", best)
}

// distance counts the letters to add, to remove or to change between two words.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		last := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := last
			if a[i] != b[j] {
				change++
			}
			last = row[j+1]
			row[j+1] = min(change, row[j]+1, last+1)
		}
	}
	return row[len(b)]
}
