package toolkind_test

import (
	"encoding/json"
	"testing"

	"github.com/tributary-dev/tributary/policy/toolkind"
	"github.com/tributary-dev/tributary/trace"
)

func TestTheKindOfAToolIsGuessedByItsName(t *testing.T) {
	t.Parallel()
	table := toolkind.Table{}.Guess().With(map[string]trace.ToolKind{"grep": trace.ToolFetch, "pay_*": trace.ToolExecute})
	for name, want := range map[string]trace.ToolKind{
		"read_file": trace.ToolRead, "readFile": trace.ToolRead, "Read-File": trace.ToolRead, "READ_FILE": trace.ToolRead, "mcp__fs__read_file": trace.ToolRead,
		"write_file": trace.ToolEdit, "edit_file": trace.ToolEdit, "apply_patch": trace.ToolEdit, "str_replace_editor": trace.ToolEdit,
		"delete_file": trace.ToolDelete, "move_file": trace.ToolMove,
		"glob": trace.ToolSearch, "list_directory": trace.ToolSearch, "ls": trace.ToolSearch,
		"bash": trace.ToolExecute, "Shell": trace.ToolExecute, "run_terminal_cmd": trace.ToolExecute,
		"web_search": trace.ToolFetch, "fetch_url": trace.ToolFetch, "think": trace.ToolThink, "write_todos": trace.ToolThink,
		"grep": trace.ToolFetch, "pay_bill": trace.ToolExecute, // the configuration knows better
		"get_weather": trace.ToolOther, "read_file_of_customer": trace.ToolOther, "": trace.ToolOther,
	} {
		if got := table.Kind(name); got != want {
			t.Errorf("%q is of the kind %s, want %s", name, got, want)
		}
		if got := (toolkind.Table{}).Kind(name); got != trace.ToolOther {
			t.Errorf("a table that does not guess says %s of %q", got, name)
		}
	}
}

// Any tool may call itself read_file: a policy gets the kind that the configuration says, or other.
func TestAPolicyDoesNotBelieveAName(t *testing.T) {
	t.Parallel()
	kinds := map[string]trace.ToolKind{"grep": trace.ToolSearch}
	for _, table := range []toolkind.Table{toolkind.Table{}.Guess().With(kinds), toolkind.OpenAI().Guess().With(kinds), toolkind.OpenAI().With(kinds).Guess()} {
		call := table.Call("c", "read_file", json.RawMessage(`{"path":"a.txt"}`))
		if call.ToolKind != trace.ToolRead {
			t.Errorf("read_file is shown as %s", call.ToolKind)
		}
		if got := table.Judged(call).ToolKind; got != trace.ToolOther {
			t.Errorf("a policy takes read_file for %s", got)
		}
		if got := table.Judged(table.Call("c", "grep", nil)).ToolKind; got != trace.ToolSearch {
			t.Errorf("a policy takes grep, which is configured, for %s", got)
		}
	}
	if guessed := (toolkind.Table{}).Guess().Call("c", "read_file", json.RawMessage(`{"path":"a.txt"}`)); guessed.Locations != nil {
		t.Errorf("a guess names files of the workspace: %+v", guessed.Locations)
	}
	known := toolkind.OpenAI().Call("c", "read_file", nil)
	if got := toolkind.OpenAI().Judged(known).ToolKind; got != trace.ToolRead {
		t.Errorf("a policy takes the tool of a known agent for %s", got)
	}
}
