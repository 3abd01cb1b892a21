package permission_test

import (
	"encoding/json"
	"path"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/policy/permission"
	"github.com/tributary-dev/tributary/policy/toolkind"
	"github.com/tributary-dev/tributary/trace"
)

// What is closed is denied by whatever rule, a command that names it is asked, and so is a
// tool that reads all of a directory with it.
func TestNoRuleAllowsWhatIsClosed(t *testing.T) {
	t.Parallel()
	s := scope(t)
	s.Closed = func(p string) bool { return path.Clean(p) == "sub/key" }
	s.Holds = func(p string) bool { return path.Clean(p) == "sub" || path.Clean(p) == "." }
	all := permission.Policy{Rules: []permission.Rule{{Then: permission.Allow}}}
	commands := permission.Policy{Rules: []permission.Rule{{Commands: []string{"cat *", "grep *", "ls *"}, Then: permission.Allow}}}
	many := `{"path":"a.txt",` + strings.TrimSuffix(strings.Repeat(`"k":"x",`, 100), ",") + `}`
	for _, c := range []struct {
		policy      permission.Policy
		tool, input string
		want        permission.Verdict
	}{
		{all, "read_file", `{"path":"sub/key"}`, permission.Deny},
		{all, "read_file", `{"path":"./sub/../sub/key"}`, permission.Deny},
		{all, "read_file", `{"path":"a.txt","also":"sub/key"}`, permission.Deny},
		{all, "read_file", `{"path":["sub/key"]}`, permission.Deny},
		{all, "read_file", `{"path":"sub/key","path":"a.txt"}`, permission.Deny},
		{all, "read_file", `{"x":{"y":[{"z":"sub/key"}]}}`, permission.Deny},
		{all, "write_file", `{"path":"sub/key","content":"x"}`, permission.Deny},
		{all, "write_file", `{"path":"a.txt","content":"sub/key"}`, permission.Allow},
		{all, "delete_file", `{"path":"sub/key"}`, permission.Deny},
		{all, "move_file", `{"source":"sub/key","destination":"a.txt"}`, permission.Deny},
		{all, "delete_file", `{"path":"sub"}`, permission.Ask},
		{all, "grep", `{"pattern":"x"}`, permission.Ask},
		{all, "grep", `{"pattern":"x","path":"sub"}`, permission.Ask},
		{all, "grep", `{"pattern":"x","path":"deep"}`, permission.Allow},
		{all, "grep", `{"pattern":"x","path":"deep","include":"sub/*"}`, permission.Ask},
		{all, "grep", `{"pattern":"x","path":"sub/key"}`, permission.Deny},
		{all, "glob", `{"pattern":"**/*.go"}`, permission.Allow}, // it tells names only
		{all, "list_dir", `{"path":"sub"}`, permission.Allow},
		{all, "mcp__fs__read", `{"path":"sub/key"}`, permission.Deny},
		{all, "mcp__fs__read", `{"files":["sub/key"]}`, permission.Deny},
		{all, "mcp__fs__tree", `{"directory":"sub"}`, permission.Ask},
		{all, "mcp__fs__read", `{"files":["a.txt"]}`, permission.Allow},
		{all, "mcp__fs__read", many, permission.Ask},
		{all, "bash", `{"command":"cat sub/key"}`, permission.Ask},
		{all, "bash", `{"command":"ls sub"}`, permission.Allow},
		{commands, "bash", `{"command":"cat sub/key"}`, permission.Ask},
		{commands, "bash", `{"command":"bash -c 'cat sub/key'"}`, permission.Ask},
		{commands, "bash", `{"command":"grep --file=sub/key x"}`, permission.Ask},
		{commands, "bash", `{"command":"cat a.txt"}`, permission.Allow},
		{permission.Default(), "read_file", `{"path":"a.txt"}`, permission.Allow},
		{permission.Default(), "read_file", `{"path":"sub/key"}`, permission.Deny},
		{permission.Default(), "grep", `{"pattern":"x"}`, permission.Ask},
		{permission.Default(), "grep", `{"pattern":"x","path":"sub/in"}`, permission.Allow},
	} {
		if got := judge(c.policy, called(c.tool, c.input), s); got != c.want {
			t.Errorf("%s %.60s: %s, want %s", c.tool, c.input, got, c.want)
		}
	}
	// The place that an agent shows counts beside its input.
	call := trace.ToolCall{RawName: "x", ToolKind: trace.ToolRead, Locations: []trace.Location{{Path: "sub/key"}}, Input: json.RawMessage(`{}`)}
	if got := judge(all, call, permission.Scope{Tools: toolkind.Claude(), Closed: s.Closed, Holds: s.Holds}); got != permission.Deny {
		t.Errorf("a location: %s", got)
	}
	// A grant for all calls inside covers no search that may come across it.
	grant := all.Grant(called("grep", `{"pattern":"x","path":"deep"}`), scope(t))
	if again := called("grep", `{"pattern":"x"}`); !grant.Inside || grant.Covers(again, permission.Policy{}, s, grant.At) {
		t.Errorf("the grant %+v covers a search of everything", grant)
	}
}
