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

// printRows prints a table with a line for each case and agent, and with the columns that have something to say.
func printRows(w io.Writer, rows []eval.Row) error {
	empty := func(known func(eval.Row) bool) bool { return !slices.ContainsFunc(rows, known) }
	hidden := map[int]bool{
		5: empty(func(r eval.Row) bool { return r.Skipped > 0 }),
		8: empty(func(r eval.Row) bool { return r.Tokens != nil }),
		9: empty(func(r eval.Row) bool { return r.CostUSD != nil }),
	}
	t := newTable(w)
	line := func(all ...string) {
		var cells []string
		for i, text := range all {
			if !hidden[i] {
				cells = append(cells, text)
			}
		}
		t.row(cells...)
	}
	number := func(v *float64, decimals int) string {
		if v == nil {
			return "-"
		}
		return strconv.FormatFloat(*v, 'f', decimals, 64)
	}
	line("CASE", "AGENT", "PASS", "FAIL", "ERROR", "SKIPPED", "RATE", "SECONDS", "TOKENS", "USD", "FIRST REASON")
	for _, r := range rows {
		line(oneLine(r.Case), oneLine(r.Agent), strconv.Itoa(r.Pass), strconv.Itoa(r.Fail), strconv.Itoa(r.Error), strconv.Itoa(r.Skipped),
			r.RateText(), number(r.Seconds, 1), number(r.Tokens, 0), number(r.CostUSD, 4), oneLine(r.Reason))
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
