package trace

import (
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

// This file makes unified diffs for file changes.

// diffBytes bounds the texts that are compared.
const diffBytes = 1 << 20

// noFile stands for a file that does not exist, as in other tools' diffs.
const noFile = "/dev/null"

// UnifiedDiff is the difference between two texts of a file, for [FileChange]. An empty
// text before means that the file is new, an empty text after that the file is gone.
// The result is empty if the texts are equal, are no text, or are larger than 1 MB
// together.
func UnifiedDiff(path, before, after string) string {
	if before == after || len(before)+len(after) > diffBytes || strings.ContainsRune(before, 0) || strings.ContainsRune(after, 0) {
		return ""
	}
	from, to := path, path
	if before == "" {
		from = noFile
	}
	if after == "" {
		to = noFile
	}
	diff, err := udiff.ToUnified(from, to, before, udiff.Lines(before, after), udiff.DefaultContextLines)
	if err != nil { // the edits are of this text
		return ""
	}
	return diff
}
