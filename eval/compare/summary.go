// Package compare compares the results of two runs of a suite: the rates of each case and agent, with
// what so few runs can show, and what they took.
package compare

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/eval"
)

// Summary is what a run says of a case with an agent: a line of a baseline.
type Summary struct {
	Case  string `json:"case"`
	Agent string `json:"agent"`
	// Pass and Fail are the judged runs. The others are in no rate.
	Pass    int `json:"pass"`
	Fail    int `json:"fail"`
	Error   int `json:"error"`
	Skipped int `json:"skipped"`
	// Tokens, CostUSD and Seconds are medians of the judged runs that tell them; nil if none does.
	Tokens  *float64 `json:"tokens,omitempty"`
	CostUSD *float64 `json:"cost_usd,omitempty"`
	Seconds *float64 `json:"seconds,omitempty"`
	// Versions are all that the runs had, sorted.
	Versions []eval.Versions `json:"versions,omitempty"`
}

func (s Summary) judged() int { return s.Pass + s.Fail }

// Summarize makes a summary of each case and agent, sorted. Of each repeat the newest cell counts.
func Summarize(cells []eval.Cell) (all []Summary) {
	whole := func(of func(eval.Cell) *float64) func(eval.Cell) *float64 {
		return func(c eval.Cell) *float64 {
			if c.Partly {
				return nil
			}
			return of(c)
		}
	}
	for _, r := range eval.Tally(cells) {
		s := Summary{Case: r.Case, Agent: r.Agent, Pass: r.Pass, Fail: r.Fail, Error: r.Error, Skipped: r.Skipped}
		for _, c := range r.Cells {
			if c.Versions != (eval.Versions{}) {
				s.Versions = append(s.Versions, c.Versions)
			}
		}
		s.Versions = distinct(s.Versions)
		s.Seconds = median(r.Figures(func(c eval.Cell) *float64 { return &c.Seconds }))
		s.Tokens, s.CostUSD = median(r.Figures(whole(eval.Cell.Tokens))), median(r.Figures(whole(func(c eval.Cell) *float64 { return c.CostUSD })))
		all = append(all, s)
	}
	return all
}

// distinct sorts versions, and keeps each once.
func distinct(all []eval.Versions) []eval.Versions {
	slices.SortFunc(all, func(a, b eval.Versions) int {
		return cmp.Or(cmp.Compare(a.Tributary, b.Tributary), cmp.Compare(a.Agent, b.Agent), cmp.Compare(a.Model, b.Model))
	})
	return slices.Compact(all)
}

func median(all []float64) *float64 {
	if len(all) == 0 {
		return nil
	}
	slices.Sort(all)
	m := (all[(len(all)-1)/2] + all[len(all)/2]) / 2
	return &m
}

// baselineHead is the first line of a baseline, and tells it from results.
const baselineHead = `{"tributary_eval_baseline":1}`

// WriteBaseline writes summaries for a repository: a line for each case and agent, sorted, without
// times, so that a change of one rate is a change of one line.
func WriteBaseline(w io.Writer, all []Summary) error {
	var out bytes.Buffer
	out.WriteString(baselineHead + "\n")
	for _, s := range all {
		s.Seconds = nil
		line, err := json.Marshal(s)
		if err != nil {
			return fmt.Errorf("the baseline cannot be written as JSON: %w", err)
		}
		out.Write(append(line, '\n'))
	}
	_, err := w.Write(out.Bytes())
	return err //nolint:wrapcheck // the writer's own
}

// Read reads results of a run, or a baseline. A file that is neither gives an [eval.Fault].
func Read(file string, r io.Reader) (all []Summary, err error) {
	in := bufio.NewReader(r)
	if head, _ := in.Peek(len(baselineHead)); string(head) != baselineHead {
		cells, _, err := eval.ReadCells(file, in)
		return Summarize(cells), err //nolint:wrapcheck // a sentence
	}
	seen := map[[2]string]bool{}
	first := true
	_, err = eval.ReadLines(file, io.MultiReader(in, strings.NewReader("\n")), func(line *json.Decoder) string {
		if first {
			first = false
			return ""
		}
		var s Summary
		const most = eval.MaxCells
		err := line.Decode(&s)
		key := [2]string{s.Case, s.Agent}
		switch {
		case err != nil, line.More(), s.Case == "", s.Agent == "", s.Error < 0, s.Skipped < 0, s.Pass < 0, s.Fail < 0, s.Pass > most, s.Fail > most:
			return "this is no line of a baseline: write the file again, by `tributary eval report --baseline`"
		case seen[key]:
			return "an earlier line has the same case and agent: remove one of the two"
		}
		seen[key] = true
		all = append(all, s)
		return ""
	})
	return all, err //nolint:wrapcheck // a sentence
}
