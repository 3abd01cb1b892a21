package agentops_test

import (
	"encoding/json"
	"testing"

	"github.com/tributary-dev/tributary/policy/permission/permissiontest"
	"github.com/tributary-dev/tributary/policy/toolkind"
	"github.com/tributary-dev/tributary/trace"
)

// TestAttacks plays the attacks on the policy. The server names the tool and the parameters that
// it asks for. The call that it showed before may have had others.
//
//evidence:for promise-workspace
func TestAttacks(t *testing.T) {
	t.Parallel()
	d := permissiontest.Workspace(t)
	judge := permissiontest.Judge(d, toolkind.OpenCode())
	permissiontest.Play(t, d, permissiontest.Dialect{
		permissiontest.Read:   {Name: "read", Keys: map[string]string{"path": "filePath", "second": "path"}},
		permissiontest.Edit:   {Name: "write", Keys: map[string]string{"path": "filePath", "content": "content"}},
		permissiontest.Find:   {Name: "glob", Keys: map[string]string{"path": "path", "pattern": "pattern"}},
		permissiontest.Search: {Name: "grep", Keys: map[string]string{"path": "path", "expression": "pattern", "glob": "include"}},
		permissiontest.Run:    {Name: "bash", Keys: map[string]string{"command": "command"}},
	}, func(t *testing.T, shown, asked permissiontest.Call) bool {
		call := `{"type":"tool-call","callId":"c","toolName":"` + shown.Tool + `","args":` + string(shown.Input) + `,"status":"running"}`
		prompt := `{"type":"interactive_prompt","prompt":{"id":"i","type":"approval","title":"May I?","actions":[],"context":{"toolId":"` + asked.Tool + `","params":` + string(asked.Input) + `}}}`
		p := playBack(t, lines(promptBegun(initFrame), toUs(startFrame("t")), toUs(wholeFrame("t", call)), toUs(prompt),
			toUs(wholeFrame("t", call, finishPart("end_turn"))), toUs(notBusy)))
		calls := map[string]trace.ToolCall{}
		for _, turn := range p.Turns {
			for _, r := range turn {
				switch p := r.Payload.(type) {
				case trace.ToolCall:
					calls[p.ToolCallID] = p
				case trace.PermissionRequest: // the policy judges the call that is on record then
					c := calls[p.ToolCallID]
					if c.RawName != asked.Tool || !equalJSON(c.Input, asked.Input) && len(asked.Input) > len("{}") {
						t.Errorf("asked was %s %s, on record is %s %s", asked.Tool, asked.Input, c.RawName, c.Input)
					}
					answer, decided := judge(p, c)
					return decided && answer.Allowed()
				}
			}
		}
		return false
	})
}

// equalJSON compares JSON and ignores white space.
func equalJSON(a, b json.RawMessage) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && string(x) == string(y)
}
