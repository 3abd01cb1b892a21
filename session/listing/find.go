package listing

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

// Find returns the files that match what a person has typed, the best match first, and
// whether there are more. The letters of text must be in the path in their order, in any case.
func (l Listing) Find(text string, limit int) (files []string, more bool) {
	type hit struct {
		file string
		rank int
	}
	text = strings.ToLower(text)
	var hits []hit
	for _, f := range l.Files {
		if r := rank(strings.ToLower(f), text); r < noMatch {
			hits = append(hits, hit{f, r})
		}
	}
	if text != "" { // else they stand as they were walked
		slices.SortFunc(hits, func(a, b hit) int {
			return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(len(a.file), len(b.file)), cmp.Compare(a.file, b.file))
		})
	}
	files = make([]string, 0, min(limit, len(hits)))
	for _, h := range hits[:min(limit, len(hits))] {
		files = append(files, h.file)
	}
	return files, l.More || len(hits) > limit
}

// noMatch is the rank of a path that lacks the letters.
const noMatch = 6

// rank says how well a path matches; less is better.
func rank(file, text string) int {
	name := path.Base(file)
	for r, matches := range []bool{
		name == text || file == text, strings.HasPrefix(name, text), strings.Contains(name, text), strings.Contains(file, text),
		inOrder(name, text), inOrder(file, text),
	} {
		if matches {
			return r
		}
	}
	return noMatch
}

// inOrder reports whether the letters of text are in a name in their order.
func inOrder(name, text string) bool {
	for _, letter := range text {
		_, rest, found := strings.Cut(name, string(letter))
		if !found {
			return false
		}
		name = rest
	}
	return true
}
