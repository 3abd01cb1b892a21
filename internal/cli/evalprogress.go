package cli

import (
	"fmt"
	"io"

	"github.com/tributary-dev/tributary/eval"
	"github.com/tributary-dev/tributary/eval/run"
)

// progress shows which runs of a suite are over: in one line that changes, or in a line for each.
type progress struct {
	out  io.Writer
	line bool // one line that changes
	all  int

	over, failed int
}

func (p *progress) begun(c run.Cell) {
	if p.line {
		p.change("running %s with %s, #%d", oneLine(c.Case.Name), oneLine(c.Agent), c.Repeat)
	}
}

func (p *progress) done(c eval.Cell) {
	p.over++
	if c.Verdict != eval.Passed {
		p.failed++
	}
	if p.line {
		p.change("%s with %s, #%d: %s", oneLine(c.Case), oneLine(c.Agent), c.Repeat, c.Verdict)
		return
	}
	fmt.Fprintf(p.out, "%d/%d %s with %s, #%d: %s (%.1f s)\n", p.over, p.all, oneLine(c.Case), oneLine(c.Agent), c.Repeat, c.Verdict, c.Seconds)
}

func (p *progress) change(format string, args ...any) {
	fmt.Fprintf(p.out, "\r\x1b[K%d/%d, %d not passed; "+format, append([]any{p.over, p.all, p.failed}, args...)...)
}

// end removes the line that changes.
func (p *progress) end() {
	if p.line {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
}
