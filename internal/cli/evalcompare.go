package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/tributary-dev/tributary/eval"
	"github.com/tributary-dev/tributary/eval/compare"
	"github.com/tributary-dev/tributary/eval/run"
)

type evalCompareCommand struct {
	MaxDrop  float64 `default:"0.05" placeholder:"RATE" help:"The drop of a rate that is allowed, from 0 to 1. Exit status 1 if an agent's mean drops more, or a case whose 95 % interval has only drops."`
	JSON     bool    `name:"json" help:"Print the comparison as JSON."`
	Baseline string  `arg:"" name:"baseline" placeholder:"BASELINE" help:"The older results: a run's directory, its results.jsonl, or a file of eval report --baseline."`
	New      string  `arg:"" name:"new" placeholder:"NEW" help:"The newer results, in the same form."`
}

// Run compares two runs. Its exit status is exitFailed if a rate has dropped too much, and
// exitNotJudged if there is nothing to compare.
func (c *evalCompareCommand) Run(_ context.Context, p *program) error {
	if !(c.MaxDrop >= 0 && c.MaxDrop <= 1) {
		return usage("--max-drop is %v: write a rate from 0 to 1, such as 0.05", c.MaxDrop)
	}
	var sides [2][]compare.Summary
	for i, source := range []string{c.Baseline, c.New} {
		var err error
		if sides[i], err = summaries(source); err != nil {
			return err
		}
	}
	result := compare.Compare(sides[0], sides[1], c.MaxDrop)
	if c.JSON {
		data, err := json.MarshalIndent(result, "", "  ")
		if err != nil {
			return fmt.Errorf("the comparison cannot be written as JSON: %w", err)
		}
		fmt.Fprintf(p.stdout, "%s\n", data)
	} else if err := printComparison(p.stdout, result); err != nil {
		return err
	}
	switch {
	case len(result.Cases) == 0:
		return &exitError{exitNotJudged, fmt.Errorf("there is nothing to compare: no case was judged with the same agent in both")}
	case result.Dropped:
		return &exitError{status: exitFailed}
	}
	return nil
}

// summaries reads the results of a run, or a baseline.
func summaries(source string) ([]compare.Summary, error) {
	name := source
	if info, err := os.Stat(source); err == nil && info.IsDir() {
		name = filepath.Join(source, run.ResultsFile)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, usage("%s cannot be read: %w: name the results of `tributary eval run`, or a baseline", name, reason(err))
	}
	defer f.Close()
	all, err := compare.Read(name, f)
	if err != nil {
		return nil, usage("%w", err)
	}
	return all, nil
}

func printComparison(out io.Writer, c *compare.Comparison) error {
	if len(c.Cases) > 0 {
		t := newTable(out, "CASE", "AGENT", "BASELINE", "NEW", "DIFFERENCE", "TOKENS", "COST", "SECONDS", "FINDING")
		for _, r := range c.Cases {
			t.row(oneLine(r.Case), oneLine(r.Agent), rateText(r.Old), rateText(r.New), changeText(r.Change), times(r.Tokens), times(r.CostUSD), times(r.Seconds), findingText(r.Change))
		}
		for _, a := range c.Agents {
			t.row("all "+eval.Counted(a.Cases, "case"), oneLine(a.Agent), "", "", changeText(a.Change), "", "", "", findingText(a.Change))
		}
		if err := t.Flush(); err != nil {
			return fmt.Errorf("the comparison cannot be printed: %w", err)
		}
		fmt.Fprintln(out, "\nIntervals are at 95 %. A finding without a difference says that so few runs cannot show one. The other columns are new by baseline, of medians.")
	}
	for _, list := range []struct {
		what   string
		places []compare.Place
	}{
		{"Judged only in the baseline", c.OnlyOld}, {"Judged only in the new results", c.OnlyNew}, {"Judged in neither", c.Neither},
	} {
		for _, p := range list.places {
			fmt.Fprintf(out, "%s: %s with %s%s.\n", list.what, oneLine(p.Case), oneLine(p.Agent), errorsText(p.OldErrors, p.NewErrors))
		}
	}
	for _, r := range c.Cases {
		if r.Old.Errors+r.New.Errors > 0 {
			fmt.Fprintf(out, "In no rate: %s with %s%s.\n", oneLine(r.Case), oneLine(r.Agent), errorsText(r.Old.Errors, r.New.Errors))
		}
	}
	for _, v := range c.Versions {
		fmt.Fprintf(out, "The versions of %s differ: %s in the baseline, %s in the new results.\n", oneLine(v.Agent), versionsText(v.Old), versionsText(v.New))
	}
	for _, a := range c.Agents {
		if a.Dropped {
			fmt.Fprintf(out, "The rate of %s over all cases dropped by %.1f points, and %.1f are allowed.\n", oneLine(a.Agent), -100*a.Difference, 100*c.MaxDrop)
		}
	}
	for _, r := range c.Cases {
		if r.Dropped {
			fmt.Fprintf(out, "The rate of %s with %s dropped by %.1f points, and %.1f are allowed.\n", oneLine(r.Case), oneLine(r.Agent), -100*r.Difference, 100*c.MaxDrop)
		}
	}
	return nil
}

func rateText(r compare.Rate) string {
	return fmt.Sprintf("%d/%d (%.0f to %.0f %%)", r.Pass, r.N, 100*r.Interval.Low, 100*r.Interval.High)
}

func changeText(c compare.Change) string {
	return fmt.Sprintf("%+.0f (%+.0f to %+.0f)", 100*c.Difference, 100*c.Interval.Low, 100*c.Interval.High)
}

func findingText(c compare.Change) string {
	if c.Dropped {
		return string(c.Finding) + ", dropped too much"
	}
	return string(c.Finding)
}

// times is a ratio as people read it.
func times(ratio *float64) string {
	if ratio == nil {
		return "-"
	}
	return fmt.Sprintf("×%.2f", *ratio)
}

func errorsText(old, now int) string {
	if old+now == 0 {
		return ""
	}
	return fmt.Sprintf(" (%s in the baseline, %d in the new results)", eval.Counted(old, "error"), now)
}

func versionsText(all []eval.Versions) string {
	var texts []string
	for _, v := range all {
		var parts []string
		for _, part := range []struct{ what, text string }{{"tributary", v.Tributary}, {"agent", v.Agent}, {"model", v.Model}} {
			if part.text != "" {
				parts = append(parts, part.what+" "+oneLine(part.text))
			}
		}
		texts = append(texts, strings.Join(parts, ", "))
	}
	if len(texts) == 0 {
		return "unknown"
	}
	return strings.Join(texts, "; ")
}
