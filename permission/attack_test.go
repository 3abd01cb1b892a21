package permission_test

import (
	"encoding/json"
	"testing"

	"github.com/tributary-dev/tributary/permission/permissiontest"
	"github.com/tributary-dev/tributary/toolkind"
	"github.com/tributary-dev/tributary/trace"
	"github.com/tributary-dev/tributary/workspace"
	"github.com/tributary-dev/tributary/workspace/workspacetest"
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
//
//evidence:for H33
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
