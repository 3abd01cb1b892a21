package codex_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/tributary-dev/tributary/adapter/codex"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/policy/permission/permissiontest"
	"github.com/tributary-dev/tributary/policy/toolkind"
	"github.com/tributary-dev/tributary/trace"
)

// TestAttacks plays the attacks on the policy. Codex itself reads and searches by
// commands, so its own words are patches and commands; a tool of an MCP server reads.
//
//evidence:for promise-workspace
func TestAttacks(t *testing.T) {
	t.Parallel()
	d := permissiontest.Workspace(t)
	tools := toolkind.Codex().With(map[string]trace.ToolKind{"mcp__files__read": trace.ToolRead})
	permissiontest.Play(t, d, permissiontest.Dialect{
		permissiontest.Read: {Name: "mcp__files__read", Keys: map[string]string{"path": "path", "second": "file_path"}},
		permissiontest.Edit: {Name: "fileChange", Keys: map[string]string{"path": "path", "second": "move_path", "content": "diff"}},
		permissiontest.Run:  {Name: "commandExecution", Keys: map[string]string{"command": "command"}},
	}, func(t *testing.T, shown, asked permissiontest.Call) bool {
		r := agenttest.NewRecorder(func(c *trace.Config) { c.Decide = permissiontest.Judge(d, tools) })
		decoder := codex.NewDecoder(codex.Options{Tools: &tools})
		decode := func(method string, params string, id string) {
			line := fmt.Sprintf(`{"method":%q,%s"params":{"threadId":"T","turnId":"U","itemId":"c",%s}}`, method, id, params)
			_, _ = decoder.Decode(agent.Message{Dir: agent.Out, Data: json.RawMessage(line)}, agenttest.OneTurn(r.Builder)) // a path that is no string is skipped, and then nothing was shown
		}
		for _, c := range []permissiontest.Call{shown, asked} {
			switch c.Tool {
			case "fileChange":
				decode("item/started", fmt.Sprintf(`"item":{"type":"fileChange","id":"c","status":"inProgress","changes":[%s]}`, withKind(t, c.Input)), "")
			case "mcp__files__read":
				decode("item/started", fmt.Sprintf(`"item":{"type":"mcpToolCall","id":"c","server":"files","tool":"read","arguments":%s}`, c.Input), "")
			default:
				var in struct{ Command string }
				_ = json.Unmarshal(c.Input, &in) // of a command that is no string nothing is shown
				decode("item/started", fmt.Sprintf(`"item":{"type":"commandExecution","id":"c","cwd":"/","command":%q}`, in.Command), "")
			}
		}
		switch asked.Tool {
		case "fileChange":
			decode("item/fileChange/patchUpdated", fmt.Sprintf(`"changes":[%s]`, withKind(t, asked.Input)), "")
			decode("item/fileChange/requestApproval", `"grantRoot":null`, `"id":1,`)
		case "mcp__files__read":
			decode("mcpServer/elicitation/request", fmt.Sprintf(`"serverName":"files","_meta":{"codex_approval_kind":"mcp_tool_call","tool_name":"read","tool_params":%s}`, asked.Input), `"id":1,`)
		default:
			decode("item/commandExecution/requestApproval", string(asked.Input[1:len(asked.Input)-1])+`,"availableDecisions":["accept"]`, `"id":1,`)
		}
		if err := r.Finish(trace.Stop{Outcome: trace.OutcomeCompleted}); err != nil {
			t.Fatal(err)
		}
		answers := agenttest.Each[trace.PermissionResponse](r.Events())
		return len(answers) > 0 && answers[0].Allowed()
	})
}

// withKind is a change of a patch with its kind, as Codex writes changes.
func withKind(t *testing.T, input json.RawMessage) []byte {
	t.Helper()
	var in map[string]any
	if err := json.Unmarshal(input, &in); err != nil {
		t.Fatal(err)
	}
	kind := map[string]any{"type": "update"}
	if to, ok := in["move_path"]; ok {
		kind["move_path"] = to
		delete(in, "move_path")
	}
	in["kind"] = kind
	out, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
