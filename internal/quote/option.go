package quote

import (
	"slices"
	"strings"
	"unicode"
)

// Option is the name of an option of a permission request, for a person who chooses. Kind is
// allow_once, allow_always, reject_once or reject_always. The agent writes the name. A name
// says what its kind does if the name begins with a usual word for the kind and has no word for
// the other kind. Every other name gets "allows: " or "denies: " in front of it.
// web/src/ask/words.ts has the same rule for browsers.
func Option(name, kind string) string {
	own, other, effect := []string{"allow", "approve", "accept", "yes"}, []string{"deny", "reject", "decline", "no"}, "allows: "
	switch {
	case strings.HasPrefix(kind, "reject"):
		own, other, effect = other, own, "denies: "
	case !strings.HasPrefix(kind, "allow"):
		return name
	}
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool {
		return r != '\'' && r != '’' && !unicode.In(r, unicode.L, unicode.M, unicode.N)
	})
	first := words
	if len(first) > 0 && first[0] == "always" {
		first = first[1:]
	}
	isOther := func(word string) bool { return slices.Contains(other, word) }
	if len(first) > 0 && slices.Contains(own, first[0]) && !slices.ContainsFunc(words, isOther) {
		return name
	}
	return effect + name
}
