package report

import (
	_ "embed"
	"fmt"
	"html"
	"io"
	"net/url"
	"path"
	"strings"

	"github.com/tributary-dev/tributary/eval"
)

// pageHead is the page down to its content, with a place for its name.
//
//go:embed page.html
var pageHead string //nolint:gochecknoglobals // the compiler sets variables only

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

// href is the address of a link, which is not cut as texts are.
type href string

// writer makes the page. Whatever comes from elsewhere goes through put.
type writer struct{ strings.Builder }

// put writes HTML in which each %v is a text. A text can leave neither its element nor the quotation marks
// of its attribute.
func (w *writer) put(form string, texts ...any) {
	for i, t := range texts {
		text := fmt.Sprint(t)
		if _, link := t.(href); !link {
			text = clean(text, maxText)
		}
		texts[i] = html.EscapeString(text)
	}
	fmt.Fprintf(w, form, texts...)
}

// maybe writes HTML with one text, unless the text is empty.
func (w *writer) maybe(form, text string) {
	if text != "" {
		w.put(form, text)
	}
}

// HTML writes results as one page that needs no script and nothing from elsewhere.
func HTML(to io.Writer, p Page) error {
	rows, shown, all := eval.Tally(p.Cells), 0, 0
	tokens, cost := false, false
	for i, r := range rows {
		all += len(r.Cells)
		rows[i].Cells = r.Cells[:min(len(r.Cells), maxRuns-shown)]
		shown += len(rows[i].Cells)
		tokens, cost = tokens || r.Tokens != nil, cost || r.CostUSD != nil
	}
	var w writer
	w.WriteString(strings.Replace(pageHead, "{{name}}", html.EscapeString(clean(p.Name, maxText)), 1))
	w.put("<main>\n<h1>Evals: <bdi>%v</bdi></h1>\n<p>%v.</p>", p.Name, headline(rows))
	w.maybe("\n<p class=\"soft\">%v</p>", judges(p.Cells))
	if all > shown {
		w.put("\n<p class=\"soft\">The first %v of %v runs are shown one by one.</p>", shown, all)
	}
	w.put(`
<div class="wide" role="region" aria-label="Results" tabindex="0">
<table>
<caption>Each case with each agent. Seconds, tokens and US dollars are means of the judged runs. Errors are in no rate.</caption>
<thead><tr><th scope="col">Case</th><th scope="col">Agent</th><th scope="col">Result</th><th scope="col" class="n">Rate</th><th scope="col" class="n">Errors</th><th scope="col" class="n">Seconds</th>`)
	if tokens {
		w.put(`<th scope="col" class="n">Tokens</th>`)
	}
	if cost {
		w.put(`<th scope="col" class="n">US dollars</th>`)
	}
	w.put("<th scope=\"col\">First reason</th></tr></thead>\n<tbody>")
	for i, r := range rows {
		w.put("\n"+`<tr><th scope="row"><a href="#row-%v"><bdi>%v</bdi></a></th><td><bdi>%v</bdi></td><td class="verdict %v">%v</td><td class="n">%v</td><td class="n">%v</td><td class="n">%v</td>`,
			i+1, r.Case, r.Agent, class(outcome(r)), outcome(r), r.RateText(), r.Error, number(r.Seconds, 1))
		if tokens {
			w.put(`<td class="n">%v</td>`, number(r.Tokens, 0))
		}
		if cost {
			w.put(`<td class="n">%v</td>`, number(r.CostUSD, 4))
		}
		w.put(`<td class="long"><bdi>%v</bdi></td></tr>`, r.Reason)
	}
	w.put("\n</tbody>\n</table>\n</div>")
	for i, r := range rows {
		w.put("\n"+`<section aria-labelledby="row-%v">`+"\n"+`<h2 id="row-%v"><bdi>%v</bdi> with <bdi>%v</bdi></h2>`, i+1, i+1, r.Case, r.Agent)
		for _, c := range r.Cells {
			w.run(c, p.link(c))
		}
		w.put("\n</section>")
	}
	w.put("\n</main>\n</body>\n</html>\n")
	_, err := io.WriteString(to, w.String())
	return err //nolint:wrapcheck // the writer's own
}

// link is the way to the records of a run, or "" if the page has none.
func (p Page) link(c eval.Cell) string {
	if c.Trace == "" || !p.HasTraces {
		return ""
	}
	return (&url.URL{Path: path.Join(p.Traces, c.Trace)}).String()
}

// run writes one run. Runs that did not pass are open.
func (w *writer) run(c eval.Cell, link string) {
	w.put("\n<details")
	if c.Verdict != eval.Passed {
		w.put(` open="open"`)
	}
	w.put(">\n"+`<summary>Run %v: <span class="verdict %v">%v</span>, %v s`, c.Repeat, class(c.Verdict), c.Verdict, number(&c.Seconds, 1))
	w.maybe(". <bdi>%v</bdi>", c.Reason)
	w.put("</summary>\n<div class=\"run\">\n<dl>")
	w.maybe("<dt>Agent</dt><dd><bdi>%v</bdi></dd>", c.Versions.Agent)
	w.maybe("<dt>Model</dt><dd><bdi>%v</bdi></dd>", c.Versions.Model)
	w.maybe("<dt>Tributary</dt><dd><bdi>%v</bdi></dd>", c.Versions.Tributary)
	if c.Usage != nil {
		w.put("<dt>Tokens</dt><dd>%v read, %v written</dd>", c.Usage.Input, c.Usage.Output)
	}
	if c.CostUSD != nil {
		w.put("<dt>US dollars</dt><dd>%v</dd>", number(c.CostUSD, 4))
	}
	if c.Partly {
		w.put("<dt>Note</dt><dd>The agent does not tell of all tokens and costs.</dd>")
	}
	w.put("\n<dt>Work</dt><dd>%v of the model, %v of tools</dd>", eval.Counted(c.Steps, "call"), eval.Counted(c.Calls, "call"))
	if c.Judge != nil {
		w.put("<dt>Judge</dt><dd>%v</dd>", c.Judge.String())
	}
	w.maybe(`<dt>Evidence</dt><dd class="ids"><bdi>%v</bdi></dd>`, ids(c.Evidence))
	if link != "" {
		w.put(`<dt>Records</dt><dd><a href="%v">trace.jsonl</a></dd>`, href(link))
	}
	w.put("\n</dl>")
	if len(c.Graders) > 0 {
		w.put(`
<div class="wide" role="region" aria-label="Graders" tabindex="0">
<table>
<caption>What the graders found</caption>
<thead><tr><th scope="col">Grader</th><th scope="col">Type</th><th scope="col">Verdict</th><th scope="col" class="n">Score</th><th scope="col">Weight</th><th scope="col">Reason</th><th scope="col">Records that show it</th></tr></thead>
<tbody>`)
		for _, f := range c.Graders {
			score, weight := "", "does not decide"
			if f.Score != nil {
				score = number(f.Score, 2)
			}
			if f.Required {
				weight = "decides"
			}
			w.put("\n"+`<tr><th scope="row"><bdi>%v</bdi></th><td><bdi>%v</bdi></td><td class="verdict %v">%v</td><td class="n">%v</td><td>%v</td><td class="long"><bdi>%v</bdi></td><td class="ids"><bdi>%v</bdi></td></tr>`,
				f.Grader, f.Type, class(f.Verdict), f.Verdict, score, weight, f.Reason, ids(f.Evidence))
		}
		w.put("\n</tbody>\n</table>\n</div>")
	}
	w.put("\n</div>\n</details>")
}

// class is the style of a verdict, of a closed set.
func class[T ~string](verdict T) T {
	switch verdict {
	case "pass", "fail", "error":
		return verdict
	}
	return "open"
}

// ids are the first ids of records.
func ids(all []string) string {
	if len(all) > maxEvidence {
		more := fmt.Sprintf(", and %d more", len(all)-maxEvidence)
		return clean(strings.Join(all[:maxEvidence], ", "), maxText-len(more)) + more
	}
	return strings.Join(all, ", ")
}
