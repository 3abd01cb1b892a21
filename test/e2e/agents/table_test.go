//go:build linux

package agents_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/internal/testkit/realagent"
	"github.com/tributary-dev/tributary/trace"
)

const page = "../../../docs/reference/matrix.md"

// row is what was found of one agent.
type row struct {
	kind  realagent.Kind
	kinds map[trace.Kind]bool
}

// told are the kinds of the table, in the order in which a turn has them.
func told() []trace.Kind {
	return []trace.Kind{
		trace.KindThought, trace.KindToolCall, trace.KindPermissionRequest, trace.KindQuestion, trace.KindFileChange, trace.KindPlan, trace.KindUsage, trace.KindError,
	}
}

// follows are the kinds that the page tells in a sentence: whether an agent has them.
func (r row) follows() map[trace.Kind]bool {
	asks, questions := r.kinds[trace.KindPermissionRequest], r.kinds[trace.KindQuestion]
	return map[trace.Kind]bool{
		trace.KindMessage: true, trace.KindToolResult: true, trace.KindStep: true, trace.KindStop: true,
		trace.KindPermissionResponse: asks, trace.KindAnswer: questions, trace.KindPause: asks || questions,
	}
}

func (r row) name() string { return "`" + r.kind.Name + "`" }

// cells are the row of the first table.
func (r row) cells() string {
	version := "in the gateway"
	if r.kind.Package.Name != "" {
		version = r.kind.Package.String()
	}
	cells := []string{r.name(), version}
	for _, k := range told() {
		mark := "–"
		if r.kinds[k] {
			mark = "●"
		}
		cells = append(cells, mark)
	}
	return "| " + strings.Join(cells, " | ") + " |"
}

// differences are the row of the second table.
func (r row) differences() string {
	var list []string // "SCRIPT; SCRIPT: what differs"
	for _, s := range append(scripts(), recall()) {
		if d, ok := known()[r.kind.Name][s.name]; ok {
			shape := "not played"
			if d.free {
				shape = "not compared"
			}
			if d.shape != "" {
				shape = "`" + d.shape + "`"
			}
			what := ": " + shape + " (" + d.why + ")"
			if i := slices.IndexFunc(list, func(had string) bool { return strings.HasSuffix(had, what) }); i >= 0 {
				list[i] = strings.TrimSuffix(list[i], what) + "; " + s.name + what
			} else {
				list = append(list, s.name+what)
			}
		}
	}
	if slices.Contains(textComesLate(), r.kind.Name) {
		list = append(list, "all: its text may come behind the call that it stands before, so messages are not compared")
	}
	if list == nil {
		list = []string{"none"}
	}
	return "| " + r.name() + " | " + strings.Join(list, "<br>") + " |"
}

// checkTable compares the rows with those on the page, or writes them.
func checkTable(t *testing.T, rows []row) {
	t.Helper()
	old, err := os.ReadFile(page)
	if err != nil && !*update {
		t.Fatal(err)
	}
	had := map[string]string{}
	for line := range strings.Lines(string(old)) {
		had[firstCells(line)] = strings.TrimSpace(line)
	}
	now := map[string]string{}
	for _, r := range rows {
		for k, has := range r.follows() {
			if r.kinds[k] != has {
				t.Errorf("%s: whether the Trace of %s has %s is %v; the sentence above the table says otherwise, so give the kind a column", page, r.name(), k, r.kinds[k])
			}
		}
		for _, line := range []string{r.cells(), r.differences()} {
			key := firstCells(line)
			now[key] = line
			if !*update && had[key] != line {
				t.Errorf("%s does not say what was found; run these tests with -update\n- %s\n+ %s", page, had[key], line)
			}
		}
	}
	if !*update {
		return
	}
	if err := os.WriteFile(page, []byte(pageOf(had, now)), 0o644); err != nil {
		t.Fatal(err)
	}
}

// firstCells names a row: its table and its agent.
func firstCells(line string) string {
	cells := strings.Split(line, " | ")
	table := "kinds"
	if len(cells) <= 2 {
		table = "differences"
	}
	return table + " " + strings.TrimPrefix(cells[0], "| ")
}

// pageOf is the page with what is known of the agents that did not run.
func pageOf(had, now map[string]string) string {
	var b strings.Builder
	b.WriteString(`# What each agent tells

The tests in test/e2e/agents run each real agent with a scripted model, and write these tables: ` + "`make agents-all`" + ` installs the agents, ` + "`make test-agents`" + ` checks the
tables. Claude Code and Codex are part of ` + "`make test`" + `.

## Kinds of the Trace

A ● says that the Trace of the same scripts holds the kind. Every agent has message, tool_result, step and stop. A permission_response is where a permission_request is, an answer where a question
is, a pause where one of both is.

| agent | version |`)
	for _, k := range told() {
		b.WriteString(" " + string(k) + " |")
	}
	b.WriteString("\n|" + strings.Repeat("---|", len(told())+2) + "\n")
	line := func(key string) {
		text := now[key]
		if text == "" {
			text = had[key]
		}
		if text != "" {
			b.WriteString(text + "\n")
		}
	}
	for _, k := range realagent.Kinds() {
		line("kinds `" + k.Name + "`")
	}
	b.WriteString(`
## The same script, the same shape

The shape of a turn is the kinds in the order in which they began, with how calls, requests and the turn ended. Thoughts, steps, usage, plans, file changes and errors are left out. Messages in
a row count once; of calls and results in a row the calls stand first.

| script | shape |
|---|---|
`)
	var shapes []string
	scriptsOf := map[string][]string{}
	for _, s := range append(scripts(), recall()) {
		shape := "differs from agent to agent"
		if s.shape != "" {
			shape = "`" + s.shape + "`"
		}
		if scriptsOf[shape] == nil {
			shapes = append(shapes, shape)
		}
		scriptsOf[shape] = append(scriptsOf[shape], s.name)
	}
	for _, shape := range shapes {
		b.WriteString("| " + strings.Join(scriptsOf[shape], "; ") + " | " + shape + " |\n")
	}
	b.WriteString("\nThe agents differ from that here:\n\n| agent | differences |\n|---|---|\n")
	for _, k := range realagent.Kinds() {
		line("differences `" + k.Name + "`")
	}
	return b.String()
}
