package toolkind_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/policy/toolkind"
	"github.com/tributary-dev/tributary/trace"
)

// An agent of another module makes its own table: L03.
func TestL03ATableOfAnotherModule(t *testing.T) {
	t.Parallel()
	table, err := toolkind.New(map[string]toolkind.Entry{
		"peek":  {Kind: trace.ToolRead, Paths: []string{"book"}, Texts: []string{"why"}},
		"shell": {Kind: trace.ToolExecute, Commands: []string{"line"}},
		"muse":  {Kind: trace.ToolThink},
		"look":  {Kind: trace.ToolSearch},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range table.Names() {
		conforms(t, "another module", table, name)
	}
	tool := table.Classify("peek", json.RawMessage(`{"book":"a/b.txt","why":"/etc/passwd"}`))
	if tool.Kind != trace.ToolRead || tool.Title != "peek b.txt" || len(tool.Locations) != 1 || tool.Locations[0].Path != "a/b.txt" {
		t.Errorf("peek is %+v", tool)
	}
	reach := table.Reach("peek", json.RawMessage(`{"book":"a","path":"b","why":"/etc/passwd","x":"c"}`))
	if !slices.Equal(reach.Named, []string{"a", "b"}) || !slices.Equal(reach.Loose, []string{"c"}) {
		t.Errorf("peek reaches %+v", reach)
	}
	if reach := table.Reach("shell", json.RawMessage(`{"line":"ls","command":"id"}`)); !slices.Equal(reach.Commands, []string{"ls", "id"}) {
		t.Errorf("shell reaches %+v", reach)
	}
	if kind := table.With(map[string]trace.ToolKind{"muse": trace.ToolOther}).Kind("muse"); kind != trace.ToolOther {
		t.Errorf("an override is lost: %s", kind)
	}
}

func TestATableThatCannotBeMeantIsRefusedInASentence(t *testing.T) {
	t.Parallel()
	for want, tools := range map[string]map[string]toolkind.Entry{
		"the tool peek: there is no tool kind \"reed\": use one of":                     {"peek": {Kind: "reed"}},
		"a tool without a name has the kind read: give it":                              {"": {Kind: trace.ToolRead}},
		"the tool peek has keys for commands, and the kind read: give it the kind exec": {"peek": {Kind: trace.ToolRead, Commands: []string{"x"}}},
	} {
		if _, err := toolkind.New(tools); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("New says %v, want %q", err, want)
		}
	}
}
