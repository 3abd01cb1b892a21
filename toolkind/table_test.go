package toolkind_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tributary-dev/tributary/toolkind"
	"github.com/tributary-dev/tributary/trace"
)

// TestTablesConform holds every table to the same rules.
func TestTablesConform(t *testing.T) {
	t.Parallel()
	for _, adapter := range []string{"claude", "codex", "opencode", "openai"} {
		table, ok := toolkind.For(adapter)
		if !ok {
			t.Fatalf("there is no table for %s", adapter)
		}
		for _, name := range table.Names() {
			if k := table.Kind(name); !slices.Contains(toolkind.Kinds(), k) {
				t.Errorf("%s: %s has the kind %q, which is not in the closed set", adapter, name, k)
			}
			bare := table.Classify(name, nil)
			if bare.Name != name || bare.Title != "" || bare.Locations != nil {
				t.Errorf("%s: without an input %s is %+v", adapter, name, bare)
			}
			if empty := table.Classify(name, json.RawMessage(`{}`)); empty.Title == "" || strings.HasSuffix(empty.Title, " ") {
				t.Errorf("%s: %s with an empty input has the title %q", adapter, name, empty.Title)
			}
			for _, bad := range []string{`[]`, `"x"`, `{"file_path":7,"path":{},"command":[1]}`, `{"comm`, `null`} {
				if got := table.Classify(name, json.RawMessage(bad)); got.Kind != bare.Kind || len(got.Locations) > 0 {
					t.Errorf("%s: %s with %s is %+v", adapter, name, bad, got)
				}
			}
			long := table.Classify(name, longInput(t))
			if n := len([]rune(long.Title)); n > 100 || strings.Contains(long.Title, "\n") {
				t.Errorf("%s: %s makes a title of %d runes: %q", adapter, name, n, long.Title)
			}
		}
		if got := table.Classify("no such tool", json.RawMessage(`{}`)); got.Kind != trace.ToolOther {
			t.Errorf("%s: an unknown tool is %q", adapter, got.Kind)
		}
	}
	if _, ok := toolkind.For("nobody"); ok {
		t.Error("there is a table for an adapter that does not exist")
	}
}

func longInput(t *testing.T) json.RawMessage {
	fields := map[string]string{}
	for key := range strings.FieldsSeq("file_path path command pattern query url prompt description code plan uri to server") {
		fields[key] = strings.Repeat("long\n", 3) + strings.Repeat("語", 5000)
	}
	raw, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestClassifyClaude(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, input string
		want        toolkind.Tool
	}{
		{"Read", `{"file_path":"/w/hello.txt","offset":7}`, toolkind.Tool{Kind: trace.ToolRead, Name: "Read", Title: "Read hello.txt", Locations: []trace.Location{{Path: "/w/hello.txt", Line: 7}}}},
		{"Write", `{"file_path":"a.txt","content":"x"}`, toolkind.Tool{Kind: trace.ToolEdit, Name: "Write", Title: "Write a.txt", Locations: []trace.Location{{Path: "a.txt"}}}},
		{"Bash", `{"command":"ls"}`, toolkind.Tool{Kind: trace.ToolExecute, Name: "Bash", Title: "Run `ls`"}},
		{"Bash", `{"command":"ls\nrm x"}`, toolkind.Tool{Kind: trace.ToolExecute, Name: "Bash", Title: "Run `ls …`"}},
		{"Grep", `{"pattern":"foo","path":"/w"}`, toolkind.Tool{Kind: trace.ToolSearch, Name: "Grep", Title: "Search for “foo”", Locations: []trace.Location{{Path: "/w"}}}},
		{"Task", `{"description":"sub task"}`, toolkind.Tool{Kind: trace.ToolThink, Name: "Task", Title: "Delegate: sub task"}},
		{"AskUserQuestion", `{"questions":[]}`, toolkind.Tool{Kind: trace.ToolOther, Name: "AskUserQuestion", Title: "Ask the user"}},
		{"mcp__github__create_issue", `{"title":"x"}`, toolkind.Tool{Kind: trace.ToolOther, Name: "github: create_issue", Title: "Create issue (github)"}},
		{"mcp__odd", `{}`, toolkind.Tool{Kind: trace.ToolOther, Name: "mcp__odd", Title: "mcp__odd"}},
	}
	for _, c := range cases {
		if d := cmp.Diff(c.want, toolkind.Claude().Classify(c.name, json.RawMessage(c.input))); d != "" {
			t.Errorf("%s %s (-want +got):\n%s", c.name, c.input, d)
		}
	}
}

func TestOverrides(t *testing.T) {
	t.Parallel()
	base := toolkind.Claude()
	mine := base.With(map[string]trace.ToolKind{"Bash": trace.ToolRead, "mcp__fs__*": trace.ToolEdit}).
		With(map[string]trace.ToolKind{"mcp__fs__read*": trace.ToolRead})
	for name, want := range map[string]trace.ToolKind{
		"Bash": trace.ToolRead, "mcp__fs__write": trace.ToolEdit, "mcp__fs__read_file": trace.ToolRead,
		"mcp__other__write": trace.ToolOther, "Edit": trace.ToolEdit,
	} {
		if got := mine.Kind(name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	if base.Kind("Bash") != trace.ToolExecute || toolkind.Claude().Kind("Bash") != trace.ToolExecute {
		t.Error("overrides changed the table that they were made from")
	}
}

func TestParseKind(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]trace.ToolKind{"read": trace.ToolRead, "write": trace.ToolEdit, "switch_mode": trace.ToolSwitchMode} {
		if got, err := toolkind.ParseKind(in); err != nil || got != want {
			t.Errorf("%s is %s, %v; want %s", in, got, err, want)
		}
	}
	if _, err := toolkind.ParseKind("reed"); err == nil || !strings.Contains(err.Error(), "read, edit") {
		t.Errorf("the error does not list the kinds: %v", err)
	}
}
