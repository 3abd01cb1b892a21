package claude_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/tributary-dev/tributary/adapter/claude"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/trace"
)

// A control request whose id still waits is refused. The answer to the first is for the first alone.
func TestAControlRequestWithTheIDOfOneThatWaitsIsRefused(t *testing.T) {
	t.Parallel()
	asks := func(call, command string) string {
		return fmt.Sprintf(`{"subtype":"can_use_tool","tool_name":"Bash","tool_use_id":%q,"input":{"command":%q}}`, call, command)
	}
	hook := func(event string) string {
		return `{"subtype":"hook_callback","callback_id":"gateway","input":{"hook_event_name":"` + event + `","tool_name":"Bash","tool_use_id":"b","tool_input":{"command":"rm b"}}}`
	}
	for name, second := range map[string]string{
		"another call":     asks("b", "rm b"),
		"a hook":           hook("PreToolUse"),
		"a shell line":     hook("PreSkillShellCommand"),
		"an unknown kind":  `{"subtype":"mcp_message"}`,
		"the same request": asks("a", "ls"),
	} {
		r := agenttest.NewRecorder()
		decoder := claude.NewDecoder(claude.Options{})
		hand := func(dir agent.Dir, line string) []agent.Effect {
			effects, err := decoder.Decode(agent.Message{Dir: dir, Data: json.RawMessage(line)}, agenttest.OneTurn(r.Builder))
			if err != nil {
				t.Fatal(err)
			}
			return effects
		}
		request := func(body string) string {
			return `{"type":"control_request","request_id":"same","request":` + body + `}`
		}
		hand(agent.Out, request(asks("a", "ls")))
		effects := hand(agent.Out, request(second))
		const refusal = `{"response":{"error":"an earlier request with the same id has no answer yet: use another id","request_id":"same","subtype":"error"},"type":"control_response"}`
		if sent, is := effects[0].(agent.Send); !is || len(effects) > 1 || string(sent.Data) != refusal {
			t.Errorf("%s: it is not refused: %+v", name, effects)
		}
		hand(agent.In, refusal)
		hand(agent.In, `{"type":"control_response","response":{"subtype":"success","request_id":"same","response":{"behavior":"allow","updatedInput":{"command":"ls"}}}}`)
		if err := r.Finish(trace.Stop{Outcome: trace.OutcomeCompleted}); err != nil {
			t.Fatal(err)
		}
		asked, answers := agenttest.Each[trace.PermissionRequest](r.Events()), agenttest.Each[trace.PermissionResponse](r.Events())
		if len(asked) != 1 || asked[0].ToolCallID != "a" || len(answers) != 1 || !answers[0].Allowed() {
			t.Errorf("%s: asked %+v, answered %+v", name, asked, answers)
		}
	}
}
