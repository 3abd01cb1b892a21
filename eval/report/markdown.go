package report

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/tributary-dev/tributary/eval"
)

// Markdown writes results as a heading and a table of GitHub's Markdown, with a row for each case and
// agent. Rows that did not pass are first.
func Markdown(w io.Writer, cells []eval.Cell) error {
	rows := eval.Tally(cells)
	var out strings.Builder
	fmt.Fprintf(&out, "### Evals: %s\n\n", headline(rows))
	order := []string{"fail", "not judged", "pass"}
	slices.SortStableFunc(rows, func(a, b eval.Row) int {
		return slices.Index(order, outcome(a)) - slices.Index(order, outcome(b))
	})
	out.WriteString("| Case | Agent | Result | Rate | Errors | Seconds | Tokens | US dollars | First reason |\n|---|---|---|---|---:|---:|---:|---:|---|\n")
	for i, r := range rows {
		if i == maxRows {
			fmt.Fprintf(&out, "\n%s more are in the results.\n", eval.Counted(len(rows)-i, "row"))
			break
		}
		fmt.Fprintf(&out, "| %s | %s | %s | %s | %d | %s | %s | %s | %s |\n",
			literal(r.Case), literal(r.Agent), outcome(r), r.RateText(), r.Error, number(r.Seconds, 1), number(r.Tokens, 0), number(r.CostUSD, 4), literal(r.Reason))
	}
	if text := judges(cells); text != "" {
		out.WriteString("\n" + text + "\n")
	}
	out.WriteString("\n")
	_, err := io.WriteString(w, out.String())
	return err //nolint:wrapcheck // the writer's own
}

// literal is a text as code, in which GitHub finds no mentions and no links. Every sign but letters,
// digits and spaces is a character reference, so none can end the code, the cell or the row. An
// invisible space behind @ keeps addresses of e-mail from becoming links.
func literal(text string) string {
	text = clean(text, maxCell)
	if text == "" {
		return ""
	}
	var out strings.Builder
	for _, r := range text {
		switch {
		case r == '@':
			out.WriteString("&#64;&#8203;")
		case r < 0x80 && r != ' ' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z'):
			out.WriteString("&#" + strconv.Itoa(int(r)) + ";")
		default:
			out.WriteRune(r)
		}
	}
	return "<code>" + out.String() + "</code>"
}

// judges says what judges took; empty if none was asked.
func judges(cells []eval.Cell) string {
	var u eval.JudgeUse
	for _, c := range eval.Newest(cells) {
		if c.Judge != nil {
			u.Add(*c.Judge)
		}
	}
	if u.Calls+u.Cached == 0 {
		return ""
	}
	return "Answers of the judge: " + u.String() + "."
}
