package claude_test

import (
	"encoding/json"
	"testing"

	"github.com/tributary-dev/tributary/adapter/claude"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/policy/permission/permissiontest"
	"github.com/tributary-dev/tributary/policy/toolkind"
	"github.com/tributary-dev/tributary/trace"
)

// TestAttacks plays the attacks on the policy. A path that Claude Code would expand
// never counts as one in the workspace. The policy judges the input of the request,
// and that input is on record.
//
//evidence:for promise-workspace
func TestAttacks(t *testing.T) {
	t.Parallel()
	d := permissiontest.Workspace(t)
	permissiontest.Play(t, d, permissiontest.Dialect{
		permissiontest.Read:   {Name: "Read", Keys: map[string]string{"path": "file_path", "second": "path"}},
		permissiontest.Edit:   {Name: "Write", Keys: map[string]string{"path": "file_path", "content": "content"}},
		permissiontest.Find:   {Name: "Glob", Keys: map[string]string{"path": "path", "pattern": "pattern"}},
		permissiontest.Search: {Name: "Grep", Keys: map[string]string{"path": "path", "expression": "pattern", "glob": "glob"}},
		permissiontest.Run:    {Name: "Bash", Keys: map[string]string{"command": "command"}},
	}, func(t *testing.T, shown, asked permissiontest.Call) bool {
		r := agenttest.NewRecorder(func(c *trace.Config) { c.Decide = permissiontest.Judge(d, toolkind.Claude()) })
		decoder := claude.NewDecoder(claude.Options{})
		for _, message := range []any{
			map[string]any{"type": "assistant", "message": map[string]any{"id": "m", "role": "assistant", "content": []any{
				map[string]any{"type": "tool_use", "id": "c", "name": shown.Tool, "input": shown.Input},
			}}},
			map[string]any{"type": "control_request", "request_id": "r", "request": map[string]any{
				"subtype": "can_use_tool", "tool_name": asked.Tool, "tool_use_id": "c", "input": asked.Input,
			}},
		} {
			data, err := json.Marshal(message)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := decoder.Decode(agent.Message{Dir: agent.Out, Data: data}, agenttest.OneTurn(r.Builder)); err != nil {
				t.Fatal(err)
			}
		}
		return agenttest.Allowed(t, r, asked.Tool, asked.Input)
	})
}
