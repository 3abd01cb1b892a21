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
	// Traces is the way from the page to the directory of the results, with slashes. Without
	// HasTraces, the page has no links.
	Traces    string
	HasTraces bool
}

// view is what the template reads.
type view struct {
	Name, Headline, Judges, LeftOut string
	Rows                            []section
	HasTokens, HasCost              bool
}

// section is a row of the table, and its runs.
type section struct {
	eval.Row

	ID   string
	Runs []eval.Cell
}

// HTML writes results as one page that needs no script and nothing from elsewhere.
func HTML(w io.Writer, p Page) error {
	t, err := template.New("page").Funcs(template.FuncMap{
		"clean":   func(text any) string { return clean(fmt.Sprint(text), maxText) },
		"number":  number,
		"seconds": func(v float64) string { return number(&v, 1) },
		"counted": eval.Counted,
		"outcome": outcome,
		"class":   func(verdict any) string { return class(fmt.Sprint(verdict)) },
		"ids":     ids,
		"link": func(c eval.Cell) string {
			if c.Trace == "" || !p.HasTraces {
				return ""
			}
			return (&url.URL{Path: path.Join(p.Traces, c.Trace)}).String()
		},
	}).Parse(pageSource)
	if err != nil {
		return fmt.Errorf("the page cannot be made: %w", err)
	}
	return t.Execute(w, p.view()) //nolint:wrapcheck // the writer's own
}

func (p Page) view() view {
	rows := eval.Tally(p.Cells)
	v := view{Name: p.Name, Headline: headline(rows), Judges: judges(p.Cells)}
	shown, all := 0, 0
	for i, r := range rows {
		runs := r.Cells[:min(len(r.Cells), maxRuns-shown)]
		shown, all = shown+len(runs), all+len(r.Cells)
		v.HasTokens, v.HasCost = v.HasTokens || r.Tokens != nil, v.HasCost || r.CostUSD != nil
		v.Rows = append(v.Rows, section{r, fmt.Sprintf("row-%d", i+1), runs})
	}
	if all > shown {
		v.LeftOut = fmt.Sprintf("The first %d of %d runs are shown one by one.", shown, all)
	}
	return v
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
		return clean(strings.Join(all[:maxEvidence], ", "), maxText) + fmt.Sprintf(", and %d more", len(all)-maxEvidence)
	}
	return clean(strings.Join(all, ", "), maxText)
}
