package toolkind_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tributary-dev/tributary/policy/toolkind"
	"github.com/tributary-dev/tributary/trace"
)

// TestH32TablesConform holds every table to the same rules.
func TestH32TablesConform(t *testing.T) {
	t.Parallel()
	for _, adapter := range toolkind.Adapters() {
		table, ok := toolkind.For(adapter)
		if !ok {
			t.Fatalf("there is no table for %s", adapter)
		}
		if len(table.Names()) == 0 && adapter != "acp" {
			t.Errorf("the table of %s is empty", adapter)
		}
		for _, name := range table.Names() {
			conforms(t, adapter, table, name)
		}
		if got := table.Classify("no such tool", json.RawMessage(`{}`)); got.Kind != trace.ToolOther || table.Knows("no such tool") {
			t.Errorf("%s: an unknown tool is %q", adapter, got.Kind)
		}
		if _, kind := table.Stated("no such tool", "", trace.ToolSearch); kind != trace.ToolSearch {
			t.Errorf("%s: the kind that the agent states is lost: %q", adapter, kind)
		}
		if _, kind := table.Stated("no such tool", "", "reed"); kind != trace.ToolOther {
			t.Errorf("%s: a kind that does not exist is taken: %q", adapter, kind)
		}
	}
	if _, ok := toolkind.For("nobody"); ok {
		t.Error("there is a table for an adapter that does not exist")
	}
}

// A patch of Codex is of the kind of its gravest change, unless the configuration says another.
func TestThePatchThatDeletesIsADeletion(t *testing.T) {
	t.Parallel()
	for input, want := range map[string]trace.ToolKind{
		`{"changes":[{"path":"a","kind":{"type":"update"}}]}`:                                                                    trace.ToolEdit,
		`{"changes":[{"path":"a","kind":{"type":"update","move_path":"b"}},{"path":"c","kind":{"type":"add"}}]}`:                 trace.ToolMove,
		`{"changes":[{"path":"a","kind":{"type":"delete"}},{"path":"c","kind":{"type":"update","move_path":"b"}}]}`:              trace.ToolDelete,
		`{"changes":[{"path":"c","kind":{"type":"update","move_path":"b"}},{"path":"a","kind":{"type":"delete"}},{"path":"x"}]}`: trace.ToolDelete,
		`{"changes":7}`: trace.ToolEdit,
		`{}`:            trace.ToolEdit,
	} {
		if got := toolkind.Codex().Classify("fileChange", json.RawMessage(input)).Kind; got != want {
			t.Errorf("%s is %s, want %s", input, got, want)
		}
		mine := toolkind.Codex().With(map[string]trace.ToolKind{"fileChange": trace.ToolOther})
		if got := mine.Classify("fileChange", json.RawMessage(input)).Kind; got != trace.ToolOther {
			t.Errorf("the configuration says other, and %s is %s", input, got)
		}
	}
	for tool, want := range map[string]bool{"edit": true, "write": true, "apply_patch": true, "bash": false, "mcp_edit": false} {
		if got := toolkind.OpenCode().With(map[string]trace.ToolKind{"bash": trace.ToolEdit}).OpenCodeAsks("edit", tool); got != want {
			t.Errorf("the permission edit is about %s: %v", tool, got)
		}
	}
}

func conforms(t *testing.T, adapter string, table toolkind.Table, name string) {
	t.Helper()
	k := table.Kind(name)
	if !slices.Contains(toolkind.Kinds(), k) || !table.Knows(name) {
		t.Errorf("%s: %s has the kind %q, which is not in the closed set", adapter, name, k)
	}
	for _, key := range table.Remarks(name) {
		if !slices.Contains([]string{"description", "explanation", "justification"}, key) {
			t.Errorf("%s: the key %s of %s may change what a command does", adapter, key, name)
		}
	}
	if c := table.Common(name); c != "" && !slices.Contains(toolkind.CommonNames(), c) {
		t.Errorf("%s: %s has the common name %q, which the AI SDK does not know", adapter, name, c)
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
	if reach := table.Reach(name, json.RawMessage(`{"x":{"file_path":"/etc/passwd"},"unheard_of":"/etc/shadow"}`)); reach.Unclear == "" &&
		(!slices.Contains(reach.Named, "/etc/passwd") || !slices.Contains(reach.Loose, "/etc/shadow")) {
		t.Errorf("%s: %s overlooks a path: %+v", adapter, name, reach)
	}
	long := table.Classify(name, longInput(t))
	if n := len([]rune(long.Title)); n > 100 || strings.Contains(long.Title, "\n") {
		t.Errorf("%s: %s makes a title of %d runes: %q", adapter, name, n, long.Title)
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

func TestReach(t *testing.T) {
	t.Parallel()
	claude := toolkind.Claude()
	for _, c := range []struct {
		name, tool, input string
		want              toolkind.Reach
	}{
		{"one path", "Read", `{"file_path":"a.txt","offset":3,"limit":4}`, toolkind.Reach{Named: []string{"a.txt"}}},
		{"a second path key", "Read", `{"file_path":"a.txt","path":"/etc/passwd"}`, toolkind.Reach{Named: []string{"a.txt", "/etc/passwd"}}},
		{"a key that nobody knows", "Read", `{"file_path":"a.txt","File_Path":"b"}`, toolkind.Reach{Named: []string{"a.txt"}, Loose: []string{"b"}}},
		{"the content is no path", "Write", `{"file_path":"a.txt","content":"/etc/passwd"}`, toolkind.Reach{Named: []string{"a.txt"}}},
		{"a pattern of names", "Glob", `{"path":"src","pattern":"**/*.go"}`, toolkind.Reach{Named: []string{"src"}, Globs: []string{"**/*.go"}, NamesOnly: true}},
		{"an expression", "Grep", `{"pattern":"/etc/passwd","glob":"*.go","output_mode":"content"}`, toolkind.Reach{Globs: []string{"*.go"}, Loose: []string{"content"}, Here: true}},
		{"nested edits", "MultiEdit", `{"file_path":"a","edits":[{"old_string":"/x","new_string":"/y"}]}`, toolkind.Reach{Named: []string{"a"}}},
		{"an unknown tool", "frobnicate", `{"path":"a","content":"/x","thing":"y"}`, toolkind.Reach{Named: []string{"a"}, Loose: []string{"y"}}},
	} {
		if d := cmp.Diff(c.want, claude.Reach(c.tool, json.RawMessage(c.input))); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
	}
	for _, input := range []string{
		``, `null`, `[]`, `"a.txt"`, `{"file_path":["a.txt"]}`, `{"file_path":"a","file_path":"/etc/passwd"}`, `{"files":["a"]}`,
		`{"changes":{"/etc/passwd":{}}}`, `{"file_path":"a"} {"file_path":"b"}`, `{"file_path":"a"`, "{\"file_path\":\"\xff\"}", `{"":"a"}`,
		`{"a":` + strings.Repeat(`[`, 40) + strings.Repeat(`]`, 40) + `}`,
	} {
		if got := claude.Reach("Read", json.RawMessage(input)); got.Unclear == "" {
			t.Errorf("%s is understood: %+v", input, got)
		}
	}
	many := toolkind.Gemini().Reach("read_many_files", json.RawMessage(`{"include":["a","b/c"]}`))
	if many.Unclear != "" || !slices.Equal(many.Named, []string{"a", "b/c"}) {
		t.Errorf("a list that is expected: %+v", many)
	}
	codex := toolkind.Codex().Reach("fileChange", json.RawMessage(`{"changes":[{"path":"a","kind":{"type":"update","move_path":"/etc/b"},"diff":"/x"}]}`))
	if d := cmp.Diff(toolkind.Reach{Named: []string{"a", "/etc/b"}, Loose: []string{"update"}}, codex); d != "" {
		t.Errorf("a patch of Codex (-want +got):\n%s", d)
	}
}

func TestProjections(t *testing.T) {
	t.Parallel()
	six := []string{"read", "write", "execute", "search", "fetch", "other"}
	for _, k := range toolkind.Kinds() {
		if got := toolkind.Touchstone(k); !slices.Contains(six, got) {
			t.Errorf("%s becomes %q, which is none of touchstone's kinds", k, got)
		}
	}
	for kind, want := range map[trace.ToolKind]string{
		trace.ToolEdit: "write", trace.ToolDelete: "write", trace.ToolMove: "write", trace.ToolThink: "other", trace.ToolSwitchMode: "other", trace.ToolRead: "read",
	} {
		if got := toolkind.Touchstone(kind); got != want {
			t.Errorf("%s becomes %s, want %s", kind, got, want)
		}
	}
	for _, c := range []struct {
		adapter, name string
		want          toolkind.Common
	}{
		{"claude", "Bash", "bash"},
		{"claude", "Write", "write"},
		{"claude", "MultiEdit", ""},
		{"claude", "AskUserQuestion", "askUserQuestions"},
		{"codex", "commandExecution", "bash"},
		{"codex", "webSearch", "webSearch"},
		{"gemini", "run_shell_command", "bash"},
		{"gemini", "replace", "edit"},
		{"pi", "find", "glob"},
		{"opencode", "grep", "grep"},
		{"openai", "read_file", "read"},
		{"openai", "nothing", ""},
	} {
		table, _ := toolkind.For(c.adapter)
		if got := table.Common(c.name); got != c.want {
			t.Errorf("%s: %s is %q, want %q", c.adapter, c.name, got, c.want)
		}
	}
}
