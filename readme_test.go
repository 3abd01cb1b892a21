package tributary_test

import (
	"flag"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the generated parts of the README")

// TestTheReadmeShowsWhatTheAgentsDo: the table of agents in the README is the one that the
// tests of the real agents have written, with fewer columns.
func TestTheReadmeShowsWhatTheAgentsDo(t *testing.T) {
	const begin, end = "<!-- agents: written by TestTheReadmeShowsWhatTheAgentsDo -update -->\n", "<!-- /agents -->"
	readme := text(t, "README.md")
	before, rest, found := strings.Cut(readme, begin)
	_, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatal("README.md has no place for the table of agents")
	}
	want := before + begin + agentsTable(t) + end + after
	switch {
	case readme == want:
	case *update:
		if err := os.WriteFile("README.md", []byte(want), 0o644); err != nil { //nolint:gosec // everybody reads it
			t.Fatal(err)
		}
	default:
		t.Error("the table of agents in README.md is not that of docs/reference/matrix.md: run this test with -update")
	}
}

// agentsTable has a row for all agents that do the same, and a column for each kind of record
// that a reader looks for.
func agentsTable(t *testing.T) string {
	t.Helper()
	columns := []struct{ kind, title string }{
		{"thought", "reasoning"},
		{"tool_call", "tools"},
		{"permission_request", "approvals"},
		{"question", "questions"},
		{"file_change", "diffs"},
		{"plan", "plans"},
		{"usage", "token counts"},
	}
	var out strings.Builder
	out.WriteString("| agent |")
	for _, c := range columns {
		out.WriteString(" " + c.title + " |")
	}
	out.WriteString("\n|---|" + strings.Repeat(":-:|", len(columns)) + "\n")
	_, table, found := strings.Cut(text(t, "docs/reference/matrix.md"), "\n| agent | version |")
	if !found {
		t.Fatal("docs/reference/matrix.md has no table of agents")
	}
	lines := strings.Split(table, "\n")
	kinds := cells("| agent | version |" + lines[0])
	var rows []string // what the agents of a row do
	agents := map[string][]string{}
	for _, line := range lines[2:] {
		row := cells(line)
		if len(row) != len(kinds) {
			break
		}
		does := ""
		for _, c := range columns {
			i := slices.Index(kinds, c.kind)
			if i < 0 {
				t.Fatalf("docs/reference/matrix.md has no column %s", c.kind)
			}
			does += " " + strings.TrimPrefix(row[i], "–") + " |"
		}
		if agents[does] == nil {
			rows = append(rows, does)
		}
		agents[does] = append(agents[does], row[0])
	}
	for _, does := range rows {
		out.WriteString("| " + strings.Join(agents[does], ", ") + " |" + does + "\n")
	}
	return out.String()
}

func cells(line string) []string {
	all := strings.Split(strings.Trim(line, "| "), "|")
	for i := range all {
		all[i] = strings.TrimSpace(all[i])
	}
	return all
}
