package toolkind

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"

	"github.com/tributary-dev/tributary/trace"
)

// Reach is all that the input of a call says about files. A policy that allows a
// call because of the files it touches must prove each string here harmless.
type Reach struct {
	// Named are the strings under keys that are known to hold a path.
	Named []string
	// Loose are the strings under keys of which the table knows nothing. The agent
	// may take them for paths.
	Loose []string
	// Globs are patterns of file names.
	Globs []string
	// Here says that the call works on the agent's own directory, since it is a
	// search that names no other.
	Here bool
	// NamesOnly says that the tool tells names of files, and reads none of them.
	NamesOnly bool
	// Commands are the strings that a shell runs, of a tool that runs commands.
	Commands []string
	// Unclear says in a phrase why the input was not understood, and is empty if the
	// input was understood. If Unclear is set, the other fields are incomplete.
	Unclear string
}

// Reach reads all strings of an input, at any depth. Strings under the keys that
// the table declares as words (the content of a file, the expression of a search)
// are left out.
func (t Table) Reach(rawName string, input json.RawMessage) Reach {
	w := t.walker(rawName)
	if err := w.walk(input); err != nil {
		w.reach.Unclear = err.Error()
	}
	w.reach.NamesOnly = w.namesOnly
	w.reach.Here = w.kind == trace.ToolSearch && len(w.reach.Named) == 0
	return w.reach
}

// UnknownKey returns a key of an input whose string may say on what a call works, in place of
// the files that the input names, or "". Such a key is none that file tools are known to have.
func (t Table) UnknownKey(rawName string, input json.RawMessage) string {
	w := t.walker(rawName)
	_ = w.walk(input) // Reach says what is wrong with it
	return w.unknown
}

// walker collects the strings of one input.
type walker struct {
	rule
	reach   Reach
	decoder *json.Decoder
	unknown string // a key of a loose string of which nothing is known
}

func (t Table) walker(rawName string) walker {
	r, known := t.rules[rawName]
	if !known {
		r.texts = contentKeys()
	}
	return walker{rule: r}
}

// deepest is how many levels an input may have that is understood.
const deepest = 16

func (w *walker) walk(input json.RawMessage) error {
	if !utf8.Valid(input) {
		return errors.New("the input is not UTF-8")
	}
	w.decoder = json.NewDecoder(bytes.NewReader(input))
	w.decoder.UseNumber()
	token, err := w.decoder.Token()
	if err != nil || token != json.Delim('{') {
		return errors.New("the input is not a JSON object")
	}
	if err := w.object(0); err != nil {
		return err
	}
	if _, err := w.decoder.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the input")
	}
	return nil
}

func (w *walker) object(depth int) error {
	if depth > deepest {
		return errors.New("the input is nested too deeply")
	}
	seen := map[string]bool{}
	for w.decoder.More() {
		token, err := w.decoder.Token()
		if err != nil {
			return errors.New("the input is not JSON")
		}
		key, _ := token.(string)
		if !isName(key) {
			return fmt.Errorf("the key %.40q is not a name", key)
		}
		if seen[key] {
			return fmt.Errorf("the key %s comes twice", key)
		}
		seen[key] = true
		if err := w.value(key, depth, false); err != nil {
			return err
		}
	}
	return w.end()
}

func (w *walker) value(key string, depth int, listed bool) error {
	token, err := w.decoder.Token()
	if err != nil {
		return errors.New("the input is not JSON")
	}
	switch v := token.(type) {
	case string:
		return w.text(key, v, listed)
	case json.Delim:
		if v == '{' {
			return w.object(depth + 1)
		}
		if depth >= deepest {
			return errors.New("the input is nested too deeply")
		}
		for w.decoder.More() {
			if err := w.value(key, depth+1, true); err != nil {
				return err
			}
		}
		return w.end()
	}
	if token == true && w.kind == trace.ToolExecute && !slices.Contains(backgroundKeys(), key) {
		return fmt.Errorf("%s is set", key) // it may switch a sandbox off
	}
	return nil // a number, true, false or null names no file
}

func (w *walker) end() error {
	if _, err := w.decoder.Token(); err != nil {
		return errors.New("the input is not JSON")
	}
	return nil
}

// text files a string by its key.
func (w *walker) text(key, s string, listed bool) error {
	switch {
	case slices.Contains(w.texts, key):
	case w.kind == trace.ToolExecute && (slices.Contains(commandKeys(), key) || slices.Contains(w.commands, key)):
		w.reach.Commands = append(w.reach.Commands, s)
		if listed {
			return fmt.Errorf("%s is a list", key)
		}
	case slices.Contains(w.globs, key):
		w.reach.Globs = append(w.reach.Globs, s)
	case slices.Contains(w.lists, key):
		w.reach.Named = append(w.reach.Named, s)
	case slices.Contains(pathKeys(), key), slices.Contains(w.paths, key):
		w.reach.Named = append(w.reach.Named, s)
		if listed {
			return fmt.Errorf("%s is a list, and one path is expected", key)
		}
	case listed:
		return fmt.Errorf("%s is a list of unknown meaning", key)
	default:
		w.reach.Loose = append(w.reach.Loose, s)
		if !slices.Contains(detailKeys(), key) {
			w.unknown = key
		}
	}
	return nil
}

// isName reports whether a key of an object looks like the name of a field. A path
// does not.
func isName(key string) bool {
	if key == "" || len(key) > 64 {
		return false
	}
	for _, r := range key {
		if r != '_' && r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') {
			return false
		}
	}
	return true
}
