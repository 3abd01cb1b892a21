package codex_test

import (
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/adapter/codex"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/trace"
)

// A request whose id still waits is refused. The answer to the first is for the first alone.
func TestARequestWithTheIDOfOneThatWaitsIsRefused(t *testing.T) {
	t.Parallel()
	const second = `{"id":7,"method":"METHOD","params":{"threadId":"T","turnId":"U","itemId":"b","command":"rm b","cwd":"/"}}`
	for _, method := range []string{"item/commandExecution/requestApproval", "item/tool/requestUserInput", "item/other"} {
		r := agenttest.NewRecorder()
		decoder := codex.NewDecoder(codex.Options{})
		hand := func(dir agent.Dir, line string) []agent.Effect {
			effects, err := decoder.Decode(agent.Message{Dir: dir, Data: []byte(line)}, agenttest.OneTurn(r.Builder))
			if err != nil {
				t.Fatal(err)
			}
			return effects
		}
		hand(agent.Out, `{"id":7,"method":"item/commandExecution/requestApproval","params":{"threadId":"T","turnId":"U","itemId":"a","command":"ls","cwd":"/"}}`)
		effects := hand(agent.Out, strings.Replace(second, "METHOD", method, 1))
		const refusal = `{"error":{"code":-32600,"message":"an earlier request with the same id has no reply yet: use another id"},"id":7}`
		if sent, is := effects[0].(agent.Send); !is || len(effects) > 1 || string(sent.Data) != refusal {
			t.Errorf("%s is not refused: %+v", method, effects)
		}
		hand(agent.In, refusal)
		hand(agent.In, `{"id":7,"result":{"decision":"accept"}}`)
		if err := r.Finish(trace.Stop{Outcome: trace.OutcomeCompleted}); err != nil {
			t.Fatal(err)
		}
		asked, answers := agenttest.Each[trace.PermissionRequest](r.Events()), agenttest.Each[trace.PermissionResponse](r.Events())
		if len(asked) != 1 || asked[0].ToolCallID != "a" || len(answers) != 1 || !answers[0].Allowed() {
			t.Errorf("%s: asked %+v, answered %+v", method, asked, answers)
		}
	}
}
