package quote

import (
	"fmt"
	"strings"
	"unicode"
)

// hidden reports whether a reader cannot see a character, or whether the character changes the
// order or the place of what is read: controls, bidi controls, zero-width characters, tags,
// variation selectors, line and paragraph separators. A newline and a tab are none.
// packages/chat/src/visible.ts has the same rule for browsers.
func hidden(r rune) bool {
	return r != '\n' && r != '\t' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// Visible is a text with <U+202E> and the like in the place of hidden characters, for a person
// who decides on the text.
func Visible(text string) string {
	if !strings.ContainsFunc(text, hidden) {
		return text
	}
	var out strings.Builder
	for _, r := range text {
		if hidden(r) {
			fmt.Fprintf(&out, "<U+%04X>", r)
		} else {
			out.WriteRune(r)
		}
	}
	return out.String()
}
