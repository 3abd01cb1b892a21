package permission_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/policy/permission/permissiontest"
	"github.com/tributary-dev/tributary/policy/toolkind"
	"github.com/tributary-dev/tributary/policy/workspace"
	"github.com/tributary-dev/tributary/policy/workspace/workspacetest"
	"github.com/tributary-dev/tributary/trace"
)

// TestAttacks plays the table on the policy alone.
//
//evidence:for promise-workspace
func TestAttacks(t *testing.T) {
	t.Parallel()
	read := permissiontest.Tool{Name: "read_file", Keys: map[string]string{"path": "path", "second": "file_path"}}
	d := permissiontest.Workspace(t)
	for name, c := range map[string]struct {
		tools   toolkind.Table
		dialect permissiontest.Dialect
	}{
		"openai": {toolkind.OpenAI(), permissiontest.Dialect{
			permissiontest.Read:   read,
			permissiontest.Edit:   {Name: "write_file", Keys: map[string]string{"path": "path", "content": "content"}},
			permissiontest.Find:   {Name: "glob", Keys: map[string]string{"path": "path", "pattern": "pattern"}},
			permissiontest.Search: {Name: "grep", Keys: map[string]string{"path": "path", "expression": "pattern", "glob": "include"}},
			permissiontest.Run:    {Name: "bash", Keys: map[string]string{"command": "command"}},
		}},
		"opencode": {toolkind.OpenCode(), permissiontest.Dialect{
			permissiontest.Read:   {Name: "read", Keys: map[string]string{"path": "filePath", "second": "path"}},
			permissiontest.Edit:   {Name: "write", Keys: map[string]string{"path": "filePath", "content": "content"}},
			permissiontest.Find:   {Name: "glob", Keys: map[string]string{"path": "path", "pattern": "pattern"}},
			permissiontest.Search: {Name: "grep", Keys: map[string]string{"path": "path", "expression": "pattern", "glob": "include"}},
			permissiontest.Run:    {Name: "bash", Keys: map[string]string{"command": "command"}},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			judge := permissiontest.Judge(d, c.tools)
			permissiontest.Play(t, d, c.dialect, func(_ *testing.T, _, asked permissiontest.Call) bool {
				tool := c.tools.Classify(asked.Tool, asked.Input)
				answer, decided := judge(trace.PermissionRequest{RequestID: "r", Options: options()}, trace.ToolCall{
					ToolCallID: "c", RawName: asked.Tool, Name: tool.Name, ToolKind: tool.Kind, Locations: tool.Locations, Input: asked.Input,
				})
				return decided && answer.Allowed()
			})
		})
	}
}

// TestThePolicyIsAUserOfTheWorkspace plays the attempts to leave a workspace on what
// the policy calls inside.
func TestThePolicyIsAUserOfTheWorkspace(t *testing.T) {
	t.Parallel()
	workspacetest.Run(t, func(t *testing.T, dir string) workspacetest.User {
		d, err := workspace.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = d.Close() })
		judge := permissiontest.Judge(d, toolkind.OpenAI())
		return workspacetest.User{Contains: func(path string) bool {
			input, err := json.Marshal(map[string]string{"path": path})
			if err != nil {
				t.Fatal(err)
			}
			answer, decided := judge(trace.PermissionRequest{RequestID: "r", Options: options()}, trace.ToolCall{
				ToolCallID: "c", RawName: "read_file", ToolKind: trace.ToolRead, Input: input,
			})
			return decided && answer.Allowed()
		}}
	})
}

// A tool that reads what a server or the agent itself has is never inside, whatever path its
// input names beside.
//
//evidence:for promise-workspace
func TestAResourceOfAServerIsNeverInside(t *testing.T) {
	t.Parallel()
	d := permissiontest.Workspace(t)
	played := 0
	for _, adapter := range toolkind.Adapters() {
		tools, _ := toolkind.For(adapter)
		for _, name := range []string{
			"ReadMcpResourceTool", "ListMcpResourcesTool", "access_mcp_resource", "get_internal_docs", "fetch_copilot_cli_documentation", "platform__search_available_extensions",
			"WebFetch", "web_fetch", "webfetch", "codesearch", "use_mcp_tool", "mcpToolCall", "mcp__vault__read", "read_mcp_resource",
		} {
			for _, input := range []string{
				`{}`, `{"path":"a.txt"}`, `{"server":"vault","path":"a.txt"}`, `{"server":"vault","uri":"secrets/prod","path":"a.txt"}`, `{"uri":"secret:prod","file_path":"a.txt"}`,
				`{"server":7,"path":"a.txt"}`, `{"paths":"a.txt","query":"x"}`,
			} {
				if !tools.Knows(name) && name != "mcp__vault__read" && name != "read_mcp_resource" {
					continue
				}
				played++
				call := tools.Call("c", name, json.RawMessage(input))
				request := trace.PermissionRequest{RequestID: "r", Options: []trace.PermissionOption{{ID: "y", OptionKind: trace.AllowOnce}}}
				if answer, decided := permissiontest.Judge(d, tools)(request, call); decided {
					t.Errorf("%s: %s %s: %+v", adapter, name, input, answer)
				}
				if tools.Knows(name) {
					continue
				}
				call.ToolKind = trace.ToolRead // as an agent may state
				if answer, decided := permissiontest.Judge(d, tools)(request, call); decided && (strings.Contains(input, "uri") || strings.Contains(input, `"vault"`)) {
					t.Errorf("%s: %s %s, stated as a read: %+v", adapter, name, input, answer)
				}
			}
		}
	}
	if played < 100 {
		t.Errorf("only %d calls were judged", played)
	}
}
