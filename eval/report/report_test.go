package report_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tributary-dev/tributary/eval"
	"github.com/tributary-dev/tributary/eval/report"
)

// hostile are texts that try to leave their place.
func hostile() []string {
	return []string{
		`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `</bdi></td></tr></table><h1>owned`, `{{.Title}}`, `javascript:alert(1)`, `--></style><script>`, "line\nbreak\r\n| row | row |\n",
		`a | b \| c \\| d`, "`code` ``` ~~~ $x$", `@everyone @org/team someone@example.com`, `#1 owner/repo#2 GH-3 da39a3ee5e6b4b0d3255bfef95601890afd80709`, `[x](https://evil.example) https://evil.example www.evil.example ![i](http://evil.example/i.png)`,
		"right\u202eto left\u2066 \u200f", "nul\x00 esc\x1b[31m \x7f", "\xff\xfe", "&lt;b&gt; &#124; &amp;#64;", `* _ ~ > - + 1. :tada: </code></td>`, strings.Repeat("<long> ", 2000),
	}
}

func cell(name, agent string, repeat int, v eval.Verdict, reason string) eval.Cell {
	return eval.Cell{Key: "k", Case: name, Agent: agent, Repeat: repeat, Verdict: v, Reason: reason, Seconds: 1.25}
}

// whole is a cell with everything, of texts.
func whole(text string) eval.Cell {
	cost, score := 0.5, 0.25
	c := cell(text, text, 1, eval.Failed, text)
	c.Evidence, c.Trace, c.CostUSD = []string{text}, "cells/"+strings.NewReplacer(`\`, "", ":", "").Replace(text)+"/trace.jsonl", &cost
	c.Versions = eval.Versions{Tributary: text, Agent: text, Model: text}
	c.Usage, c.Judge = &eval.Tokens{Input: 1, Output: 2}, &eval.JudgeUse{Calls: 1, InputTokens: 9}
	c.Graders = []eval.Finding{{Grader: text, Type: text, Verdict: eval.Verdict(text), Required: true, Score: &score, Reason: text, Evidence: slices.Repeat([]string{text}, 30)}}
	return c
}

func page(t testing.TB, p report.Page) string {
	t.Helper()
	var out bytes.Buffer
	if err := report.HTML(&out, p); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// skeleton is the page without its texts, and the values of its attributes.
func skeleton(t testing.TB, text string) (elements, attributes []string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return elements, attributes
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		if e, is := token.(xml.StartElement); is {
			elements = append(elements, e.Name.Local)
			for _, a := range e.Attr {
				attributes = append(attributes, a.Name.Local+"="+a.Value)
			}
		}
	}
}

// Whatever the texts are, the page has the same elements, and attributes differ in links alone.
func TestTextsCannotChangeThePage(t *testing.T) {
	t.Parallel()
	one := func(text string) report.Page {
		return report.Page{Name: text, Cells: []eval.Cell{whole(text)}, Traces: "..", HasTraces: true}
	}
	wantElements, wantAttributes := skeleton(t, page(t, one("plain")))
	check := func(t testing.TB, text string) {
		html := page(t, one(text))
		elements, attributes := skeleton(t, html)
		if !slices.Equal(elements, wantElements) || len(attributes) != len(wantAttributes) {
			t.Errorf("%q makes other elements:\n%s", text, html)
			return
		}
		for i, a := range attributes {
			if name, value, _ := strings.Cut(a, "="); a != wantAttributes[i] && (name != "href" || !strings.HasPrefix(value, "../cells/")) {
				t.Errorf("%q makes the attribute %s of %s", text, a, wantAttributes[i])
			}
		}
		if i := strings.IndexFunc(html, func(r rune) bool {
			return r < ' ' && r != '\n' || r == 0x7f || r == '\u202e' || r == '\u2066' || r == '\u200f'
		}); i >= 0 {
			t.Errorf("%q leaves a control character at %q", text, html[i:i+10])
		}
	}
	for _, text := range hostile() {
		check(t, text)
	}
	rapid.Check(t, func(r *rapid.T) {
		if text := rapid.StringOf(rapid.SampledFrom([]rune("ab<>&\"'`|\\{}@#[]()/:;=-!\n\x00\u202e€"))).Draw(r, "text"); strings.TrimSpace(strings.Trim(text, "\x00")) != "" {
			check(t, "x"+text)
		}
	})
}

func TestThePageNeedsNothingFromElsewhere(t *testing.T) {
	t.Parallel()
	html := page(t, report.Page{Name: "suite.results", Cells: []eval.Cell{whole("plain")}, HasTraces: true})
	if found := regexp.MustCompile(`(?i)<script|<link|<img|<iframe|@import|url\(|https?://|\son\w+=`).FindString(html); found != "" {
		t.Errorf("the page has %q", found)
	}
	for _, want := range []string{"default-src 'none'", "prefers-color-scheme: dark", `<html lang="en">`, `<caption>`, `scope="col"`, `scope="row"`, `href="cells/plain/trace.jsonl"`, ">0.25<", "1 asked for", "and 10 more", `<details open="open">`} {
		if !strings.Contains(html, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if html := page(t, report.Page{Cells: []eval.Cell{whole("plain")}}); strings.Contains(html, "trace.jsonl") {
		t.Error("there is a link to nowhere")
	}
	if html := page(t, report.Page{Cells: []eval.Cell{cell("a", "b", 1, eval.Passed, "")}}); strings.Contains(html, "<details open") || strings.Contains(html, "US dollars</th>") {
		t.Errorf("a passed run is open, or has costs:\n%s", html)
	}
}

// A file of results that somebody sends can name any way to a trace. The link stays on the page's own host.
func TestALinkNamesNoOtherPlace(t *testing.T) {
	t.Parallel()
	for _, trace := range append(hostile(), "//evil.example/x", `\\evil.example\x`, "javascript:alert(1)//", "data:text/html,x", "x\" onmouseover=\"alert(1)", "a?b#c", strings.Repeat("long/", 900)) {
		c := cell("a", "b", 1, eval.Failed, "")
		c.Trace = trace
		_, attributes := skeleton(t, page(t, report.Page{Cells: []eval.Cell{c}, HasTraces: true}))
		link, _ := strings.CutPrefix(attributes[slices.IndexFunc(attributes, func(a string) bool { return strings.HasPrefix(a, "href=") && !strings.HasPrefix(a, "href=#") })], "href=")
		if u, err := url.Parse(link); err != nil || u.Scheme != "" || u.Host != "" || u.RawQuery != "" || u.Fragment != "" || u.Path != path.Join(trace) && u.Path != "./"+path.Join(trace) || strings.HasPrefix(link, `\`) {
			t.Errorf("%.80q is the link %.80q: %v", trace, link, err)
		}
	}
}

func TestAPageIsBounded(t *testing.T) {
	t.Parallel()
	var cells []eval.Cell
	for i := range 6000 {
		cells = append(cells, cell("a", "b", i+1, eval.Passed, ""))
	}
	html := page(t, report.Page{Cells: cells})
	if n := strings.Count(html, "<details"); n != 5000 || !strings.Contains(html, "The first 5000 of 6000 runs") || !strings.Contains(html, "6000/6000") {
		t.Errorf("%d runs", n)
	}
}

func markdown(t testing.TB, cells ...eval.Cell) string {
	t.Helper()
	var out bytes.Buffer
	if err := report.Markdown(&out, cells); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// Texts are code of which each sign is a character reference. So nothing in them is Markdown.
func TestTextsCannotLeaveTheirCell(t *testing.T) {
	t.Parallel()
	row := regexp.MustCompile(`^\| <code>[^\x00-\x1f!-/:-@\[-` + "`" + `{-\x7f]*(?:&#\d+;[^\x00-\x1f!-/:-@\[-` + "`" + `{-\x7f]*)*</code> \| <code>[^|<>]*</code> \| fail \| 0/1 \| 0 \| 1\.2 \| – \| – \| <code>[^|<>@]*</code> \|$`)
	check := func(t testing.TB, text string) {
		lines := strings.Split(markdown(t, cell(text, text, 1, eval.Failed, text)), "\n")
		if len(lines) != 7 || lines[0] != "### Evals: 0 of 1 passed, 1 failed" || !row.MatchString(lines[4]) {
			t.Errorf("%q makes %d lines:\n%s", text, len(lines), strings.Join(lines, "\n"))
		}
		if strings.Contains(lines[4], "&#64;") && strings.Count(lines[4], "&#64;") != strings.Count(lines[4], "&#64;&#8203;") {
			t.Errorf("%q may be an address: %s", text, lines[4])
		}
	}
	for _, text := range hostile() {
		check(t, text)
	}
	rapid.Check(t, func(r *rapid.T) { check(t, "x"+rapid.String().Draw(r, "text")) })
}

func TestMarkdownIsBoundedAndFailuresAreFirst(t *testing.T) {
	t.Parallel()
	var cells []eval.Cell
	for i := range 300 {
		cells = append(cells, cell(fmt.Sprintf("a%03d", i), "b", 1, eval.Passed, ""))
	}
	cells = append(cells, cell("y", "b", 1, eval.Errored, "no agent"), cell("z", "b", 1, eval.Failed, strings.Repeat("|", 10000)))
	text := markdown(t, cells...)
	lines := strings.Split(text, "\n")
	if lines[0] != "### Evals: 300 of 302 passed, 1 failed, 1 could not be judged" || !strings.HasPrefix(lines[4], "| <code>z</code> | <code>b</code> | fail |") || !strings.HasPrefix(lines[5], "| <code>y</code> | <code>b</code> | not judged |") {
		t.Errorf("%.400s", text)
	}
	if len(text) > 500_000 || !strings.Contains(text, "\n102 rows more are in the results.\n") {
		t.Errorf("%d bytes: %s", len(text), text[len(text)-200:])
	}
}
