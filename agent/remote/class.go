package remote

import (
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/trace"
)

// ClassOf is the class of a failure by the first of the words that tells it: see [trace.ClassOfWord]. A word may
// also be a sentence that begins with the status, as the libraries of providers for Python write it. The names of
// Python's own exceptions and plain words such as timeout tell nothing here, because applications use them, too.
func ClassOf(words ...string) trace.Class {
	for _, word := range words {
		for _, front := range []string{"Error code: ", "status_code: "} { // of openai and anthropic, and of pydantic-ai
			if rest, ok := strings.CutPrefix(word, front); ok && len(rest) >= 3 {
				word = rest[:3]
			}
		}
		plain := strings.Contains(word, " ") || word == strings.ToLower(word) && !strings.ContainsAny(word, "_0123456789")
		if plain || slices.Contains([]string{"PermissionError", "ConnectionError", "TimeoutError"}, word) {
			continue
		}
		if c := trace.ClassOfWord(word); c != "" {
			return c
		}
	}
	return ""
}
