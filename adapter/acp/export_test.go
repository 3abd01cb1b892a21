package acp

import "github.com/tributary-dev/tributary/policy/workspace"

// Live makes a Decoder do actions, as in a session whose files all hold a text.
func (o Options) Live(text string) Options { return o.living(text, true) }

// LiveTooLong is Live with files that are too long to be read as a whole.
func (o Options) LiveTooLong() Options { return o.living("", false) }

func (o Options) living(text string, whole bool) Options {
	o.do = func(action) (any, error) { return object{}, nil }
	o.now = func(string) (string, bool) { return text, whole }
	return o
}

// ContentOf is what a file holds, and whether that could be read as a whole.
func ContentOf(files workspace.Dir, path string) (text string, whole bool) {
	return contentOf(files, path)
}

// Environment is what the agent's process gets.
func (r Runtime) Environment() []string { return r.environment() }

// Version finds the version in what a program prints.
func Version(out string) string { return version(out) }
