// Package report writes the results of a run of a suite for people: as one HTML page, and as Markdown.
// Names, reasons and versions in results are texts of agents, models and authors. They can neither
// leave their place in the page or the table, nor mention people.
package report

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/tributary-dev/tributary/eval"
)

// Bounds of what is shown. Results have all.
const (
	maxRuns     = 5000 // of a page
	maxText     = 2000 // characters of a text of a page
	maxEvidence = 20   // ids of records of a finding of a page
	maxRows     = 200  // of the table in Markdown
	maxCell     = 300  // characters of a text in Markdown
)

// clean is a text in one paragraph of at most so many characters, without control characters and
// without those that change the direction of what follows.
func clean(text string, most int) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case r == '\u200c', r == '\u200d': // they join letters and pictures
			return r
		case !unicode.IsPrint(r):
			return '\uFFFD'
		}
		return r
	}, text)
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return string(runes)
}

// number is a figure, and a dash if it is not known.
func number(v *float64, decimals int) string {
	if v == nil {
		return "–"
	}
	return strconv.FormatFloat(*v, 'f', decimals, 64)
}

// outcome says whether a row is as its case wants it.
func outcome(r eval.Row) string {
	switch {
	case r.Under():
		return "fail"
	case !r.Judged():
		return "not judged"
	}
	return "pass"
}

// headline says how many rows, each a case with an agent, have which outcome.
func headline(rows []eval.Row) string {
	count := map[string]int{}
	for _, r := range rows {
		count[outcome(r)]++
	}
	text := fmt.Sprintf("%d of %d passed", count["pass"], len(rows))
	if n := count["fail"]; n > 0 {
		text += fmt.Sprintf(", %d failed", n)
	}
	if n := count["not judged"]; n > 0 {
		text += fmt.Sprintf(", %d could not be judged", n)
	}
	return text
}
