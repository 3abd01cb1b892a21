package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"net/url"
	"path"
	"strings"

	"github.com/tributary-dev/tributary/eval"
)

//go:embed page.html
var pageSource string //nolint:gochecknoglobals // the compiler sets variables only

// Page is what an HTML page is made of.
type Page struct {
	// Name is what the page calls the results, such as their directory.
	Name  string
	Cells []eval.Cell
	// Traces is the way from the page to the directory of the results, with slashes and empty for the
	// same one. Without HasTraces, the page has no links.
	Traces    string
	HasTraces bool
}

// HTML writes results as one page that needs no script and nothing from elsewhere.
func HTML(w io.Writer, p Page) error {
	t, err := template.New("page").Parse(pageSource)
	if err != nil {
		return fmt.Errorf("the page cannot be made: %w", err)
	}
	return t.Execute(w, p.view()) //nolint:wrapcheck // the writer's own
}

// The views are what the template reads. All texts in them are clean.
type (
	pageView struct {
		Title, Headline, Judges, LeftOut string
		Rows                             []rowView
		HasTokens, HasCost               bool
	}
	rowView struct {
		ID, Case, Agent, Outcome, Class, Rate, Seconds, Tokens, Cost, Reason string
		Error                                                                int
		Runs                                                                 []runView
	}
	runView struct {
		Repeat                                int
		Verdict, Class, Seconds, Reason, Link string
		Open                                  bool
		Facts                                 []fact
		Graders                               []graderView
	}
	fact       struct{ Name, Text string }
	graderView struct {
		Name, Type, Verdict, Class, Score, Weight, Reason, Evidence string
	}
)

func (p Page) view() pageView {
	cells := eval.Newest(p.Cells)
	rows := eval.Tally(cells)
	v := pageView{Title: clean(p.Name, maxText), Headline: headline(rows)}
	v.Judges, _ = judged(cells)
	if len(cells) > maxRuns {
		v.LeftOut = fmt.Sprintf("The first %d of %d runs are shown one by one.", maxRuns, len(cells))
		cells = cells[:maxRuns]
	}
	runs := map[[2]string][]eval.Cell{}
	for _, c := range cells {
		runs[[2]string{c.Case, c.Agent}] = append(runs[[2]string{c.Case, c.Agent}], c)
	}
	for i, r := range rows {
		row := rowView{
			ID: fmt.Sprintf("row-%d", i+1), Case: clean(r.Case, maxText), Agent: clean(r.Agent, maxText), Outcome: outcome(r), Class: class(outcome(r)), Rate: r.RateText(),
			Error: r.Error, Seconds: number(r.Seconds, 1), Tokens: number(r.Tokens, 0), Cost: number(r.CostUSD, 4), Reason: clean(r.Reason, maxText),
		}
		v.HasTokens, v.HasCost = v.HasTokens || r.Tokens != nil, v.HasCost || r.CostUSD != nil
		for _, c := range runs[[2]string{r.Case, r.Agent}] {
			row.Runs = append(row.Runs, p.run(c))
		}
		v.Rows = append(v.Rows, row)
	}
	return v
}

func (p Page) run(c eval.Cell) runView {
	r := runView{
		Repeat: c.Repeat, Verdict: string(c.Verdict), Class: class(string(c.Verdict)), Seconds: number(&c.Seconds, 1), Reason: clean(c.Reason, maxText), Open: c.Verdict != eval.Passed,
	}
	if c.Trace != "" && p.HasTraces {
		r.Link = (&url.URL{Path: path.Join(p.Traces, c.Trace)}).String()
	}
	add := func(name, text string) {
		if text = clean(text, maxText); text != "" {
			r.Facts = append(r.Facts, fact{name, text})
		}
	}
	add("Agent", c.Versions.Agent)
	add("Model", c.Versions.Model)
	add("Tributary", c.Versions.Tributary)
	if u := c.Usage; u != nil {
		add("Tokens", fmt.Sprintf("%d read, %d written", u.Input, u.Output))
	}
	if c.CostUSD != nil {
		add("US dollars", number(c.CostUSD, 4))
	}
	if c.Partly {
		add("Note", "the agent does not tell of all tokens and costs")
	}
	add("Work", counted(c.Steps, "call")+" of the model, "+counted(c.Calls, "call")+" of tools")
	if c.Judge != nil {
		add("Judge", c.Judge.String())
	}
	add("Evidence", ids(c.Evidence))
	for _, f := range c.Graders {
		g := graderView{
			Name: clean(f.Grader, maxText), Type: clean(f.Type, maxText), Verdict: clean(string(f.Verdict), maxText), Class: class(string(f.Verdict)),
			Weight: "does not decide", Reason: clean(f.Reason, maxText), Evidence: clean(ids(f.Evidence), maxText),
		}
		if f.Score != nil {
			g.Score = number(f.Score, 2)
		}
		if f.Required {
			g.Weight = "decides"
		}
		r.Graders = append(r.Graders, g)
	}
	return r
}

// class is the style of a verdict, of a closed set.
func class(verdict string) string {
	switch verdict {
	case "pass", "fail", "error":
		return verdict
	}
	return "open"
}

// ids are the first ids of records.
func ids(all []string) string {
	if len(all) > maxEvidence {
		return strings.Join(all[:maxEvidence], ", ") + fmt.Sprintf(", and %d more", len(all)-maxEvidence)
	}
	return strings.Join(all, ", ")
}
