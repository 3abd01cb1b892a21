package cli

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/tributary-dev/tributary/eval"
)

// This file shows results of evals in the terminal.

// printRows prints a table with a line for each case and agent.
func printRows(w io.Writer, rows []eval.Row) error {
	type column struct {
		name string
		show bool
		of   func(eval.Row) string
	}
	has := func(known func(eval.Row) bool) bool { return slices.ContainsFunc(rows, known) }
	number := func(v *float64, decimals int) string {
		if v == nil {
			return "-"
		}
		return strconv.FormatFloat(*v, 'f', decimals, 64)
	}
	var columns []column
	for _, c := range []column{
		{"CASE", true, func(r eval.Row) string { return oneLine(r.Case) }},
		{"AGENT", true, func(r eval.Row) string { return oneLine(r.Agent) }},
		{"PASS", true, func(r eval.Row) string { return strconv.Itoa(r.Pass) }},
		{"FAIL", true, func(r eval.Row) string { return strconv.Itoa(r.Fail) }},
		{"ERROR", true, func(r eval.Row) string { return strconv.Itoa(r.Error) }},
		{"SKIPPED", has(func(r eval.Row) bool { return r.Skipped > 0 }), func(r eval.Row) string { return strconv.Itoa(r.Skipped) }},
		{"RATE", true, eval.Row.RateText},
		{"SECONDS", true, func(r eval.Row) string { return number(r.Seconds, 1) }},
		{"TOKENS", has(func(r eval.Row) bool { return r.Tokens != nil }), func(r eval.Row) string { return number(r.Tokens, 0) }},
		{"USD", has(func(r eval.Row) bool { return r.CostUSD != nil }), func(r eval.Row) string { return number(r.CostUSD, 4) }},
		{"FIRST REASON", true, func(r eval.Row) string { return oneLine(r.Reason) }},
	} {
		if c.show {
			columns = append(columns, c)
		}
	}
	t := newTable(w)
	line := func(text func(column) string) {
		var cells []string
		for _, c := range columns {
			cells = append(cells, text(c))
		}
		t.row(cells...)
	}
	line(func(c column) string { return c.name })
	for _, r := range rows {
		line(func(c column) string { return c.of(r) })
	}
	if err := t.Flush(); err != nil {
		return fmt.Errorf("the results cannot be printed: %w", err)
	}
	return nil
}

// evalStatus is the exit status of results.
func evalStatus(rows []eval.Row) error {
	switch {
	case slices.ContainsFunc(rows, eval.Row.Under):
		return &exitError{status: exitFailed}
	case slices.ContainsFunc(rows, func(r eval.Row) bool { return !r.Judged() }):
		return &exitError{status: exitNotJudged}
	}
	return nil
}

// mixedVersions warns of agents whose results are of several versions.
func mixedVersions(cells []eval.Cell) (sentences []string) {
	var names []string
	versions := map[string][]string{}
	for _, c := range cells {
		if v := c.Versions.Agent; v != "" && !slices.Contains(versions[c.Agent], v) {
			versions[c.Agent] = append(versions[c.Agent], v)
		}
		if !slices.Contains(names, c.Agent) {
			names = append(names, c.Agent)
		}
	}
	for _, name := range names {
		if all := versions[name]; len(all) > 1 {
			sentences = append(sentences, fmt.Sprintf("the results of %s are of several versions (%s): name a new directory with --out to run all with one.", oneLine(name), oneLine(strings.Join(all, ", "))))
		}
	}
	return sentences
}
