package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/tributary-dev/tributary/eval"
	"github.com/tributary-dev/tributary/eval/compare"
	"github.com/tributary-dev/tributary/eval/report"
)

type evalReportCommand struct {
	HTML     string `name:"html" placeholder:"FILE" help:"Write a page with all runs, findings and links to traces."`
	JUnit    string `name:"junit" placeholder:"FILE" help:"Write JUnit XML."`
	Markdown string `placeholder:"FILE" help:"Write a table for a comment or a summary on GitHub."`
	Baseline string `placeholder:"FILE" help:"Write a small sorted file for eval compare, to keep in the repository."`
	Results  string `arg:"" name:"dir" placeholder:"DIR" help:"The directory of the results of a run, or its results.jsonl."`
}

// Run shows results, and writes them for other programs.
func (c *evalReportCommand) Run(_ context.Context, p *program) error {
	cells, dir, err := cellsIn(c.Results)
	if err != nil {
		return err
	}
	if len(cells) == 0 {
		return usage("%s has no results yet: run the suite first", c.Results)
	}
	for _, out := range []struct {
		path  string
		write func(io.Writer) error
	}{
		{c.HTML, func(w io.Writer) error { return report.HTML(w, htmlPage(c.HTML, dir, cells)) }},
		{c.JUnit, func(w io.Writer) error { return eval.WriteJUnit(w, resultsOfCells(cells)) }},
		{c.Markdown, func(w io.Writer) error { return report.Markdown(w, cells) }},
		{c.Baseline, func(w io.Writer) error { return compare.WriteBaseline(w, compare.Summarize(cells)) }},
	} {
		if out.path == "" {
			continue
		}
		if err := whole(out.path, out.write); err != nil {
			return err
		}
	}
	p.stepSummary(cells)
	return printRows(p.stdout, eval.Tally(cells))
}

// htmlPage is the page for results, with links from its file to the traces.
func htmlPage(file, dir string, cells []eval.Cell) report.Page {
	page := report.Page{Name: dir, Cells: cells}
	abs, err := filepath.Abs(dir)
	from, fileErr := filepath.Abs(filepath.Dir(file))
	if err != nil || fileErr != nil {
		return page
	}
	page.Name = filepath.Base(abs)
	if way, err := filepath.Rel(from, abs); err == nil {
		page.Traces, page.HasTraces = filepath.ToSlash(way), true
	}
	return page
}

func resultsOfCells(cells []eval.Cell) (all []eval.Result) {
	for _, c := range cells {
		all = append(all, c.Result())
	}
	return all
}

// stepSummary appends the results to the summary of a step of GitHub Actions, if there is one.
func (p *program) stepSummary(cells []eval.Cell) {
	name := os.Getenv("GITHUB_STEP_SUMMARY")
	if name == "" {
		return
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644) //nolint:gosec // as the runner makes it
	if err == nil {
		err = errors.Join(report.Markdown(f, cells), f.Close())
	}
	if err != nil {
		fmt.Fprintf(p.stderr, "tributary: the summary in GITHUB_STEP_SUMMARY cannot be written: %v\n", reason(err))
	}
}
