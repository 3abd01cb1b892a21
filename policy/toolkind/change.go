package toolkind

import (
	"encoding/json"
	"strings"
)

// Change is what a call shows of the text that a file is to hold.
type Change struct {
	// Before is the piece of the file that After replaces. If Before is empty, After is the
	// whole text.
	Before, After string
	// All says that each such piece is replaced, and not the first one only.
	All bool
}

// ChangeOf reads a change from the input of an edit. An input that states no change, or
// several, or its change in an unknown form, has none.
func ChangeOf(input json.RawMessage) (c Change, ok bool) {
	var in map[string]any
	if json.Unmarshal(input, &in) != nil {
		return c, false
	}
	found := 0
	for _, key := range wholeKeys() {
		if text, is := in[key].(string); is {
			c.After = text
			found++
		}
	}
	for _, pair := range pieceKeys() {
		before, old := in[pair[0]].(string)
		after, is := in[pair[1]].(string)
		if old || is {
			c.Before, c.After = before, after
			found++
		}
		if old != is || is && before == "" { // an insertion, at a place that other keys name
			return Change{}, false
		}
	}
	c.All = ReplacesAll(input)
	return c, found == 1
}

// ReplacesAll reports whether the input of an edit says that each piece like the one that it
// shows is replaced.
func ReplacesAll(input json.RawMessage) bool {
	var in map[string]any
	return json.Unmarshal(input, &in) == nil && (in["replace_all"] == true || in["replaceAll"] == true)
}

// Applied returns the text of a file after the change. It is false if the piece that is to
// be replaced is not in the text.
func (c Change) Applied(text string) (string, bool) {
	switch {
	case c.Before == "":
		return c.After, true
	case !strings.Contains(text, c.Before):
		return "", false
	case c.All:
		return strings.ReplaceAll(text, c.Before, c.After), true
	}
	return strings.Replace(text, c.Before, c.After, 1), true
}
