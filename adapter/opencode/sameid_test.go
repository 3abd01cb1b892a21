package opencode_test

import (
	"testing"

	"github.com/tributary-dev/tributary/adapter/opencode"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/trace"
)

// The server repeats requests that wait. One of the same id and of another content takes the place
// of the first, whose answer would be sent for either.
func TestARequestOfAnotherContentIsAskedAnew(t *testing.T) {
	t.Parallel()
	r := agenttest.NewRecorder()
	decoder, turn := opencode.NewDecoder(opencode.Options{}), agenttest.OneTurn(r.Builder)
	begin(t, decoder, turn, "bash", object{"command": "ls"})
	ask := func(command string) []agent.Effect {
		return say(t, decoder, turn, "permission.asked", object{
			"id": "per_1", "permission": "bash", "patterns": []string{command}, "metadata": object{"command": command}, "tool": object{"messageID": "msg_2", "callID": "c"},
		})
	}
	first, isFirst := ask("ls")[0].(agent.Permit)
	if effects := ask("ls"); len(effects) > 0 {
		t.Errorf("a request that is repeated is asked again: %+v", effects)
	}
	effects := ask("rm b")
	second, is := effects[len(effects)-1].(agent.Permit)
	if !isFirst || !is || second.RequestID == first.RequestID || second.Native != "per_1" {
		t.Fatalf("another content is not asked anew: %+v", effects)
	}
	if err := r.Finish(trace.Stop{Outcome: trace.OutcomeCompleted}); err != nil {
		t.Fatal(err)
	}
	answers := agenttest.Each[trace.PermissionResponse](r.Events())
	if len(answers) != 2 || answers[0].RequestID != first.RequestID || answers[0].Outcome != trace.Canceled {
		t.Errorf("the answers are %+v, want that the first request is canceled at once, and the second waits until the end", answers)
	}
}
