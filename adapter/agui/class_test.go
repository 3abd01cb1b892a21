package agui_test

import (
	"testing"

	"github.com/tributary-dev/tributary/adapter/agui"
	"github.com/tributary-dev/tributary/internal/testkit/replay/replaytest"
	"github.com/tributary-dev/tributary/trace"
)

// A provider's failure behind an endpoint is none of the agent's, if the endpoint says so.
func TestTheCodeOfARunErrorTellsTheClass(t *testing.T) {
	t.Parallel()
	for event, want := range map[string]trace.Class{
		`{"type":"RUN_ERROR","message":"no","code":"rate_limit_exceeded"}`:          trace.ClassRateLimit,
		`{"type":"RUN_ERROR","message":"no","code":401}`:                            trace.ClassAuth,
		`{"type":"RUN_ERROR","message":"status_code: 529, model_name: m, body: x"}`: trace.ClassOverloaded,
		`{"type":"RUN_ERROR","message":"the model exploded","code":"odd"}`:          "",
	} {
		p := replaytest.Play(t, agui.NewDecoder(), []byte(`{"type":"RUN_STARTED","threadId":"t","runId":"r"}`+"\n"+event+"\n"))
		records := p.Turns[0]
		if stop, _ := records[len(records)-1].Payload.(trace.Stop); stop.Outcome != trace.OutcomeFailed || stop.Class != want {
			t.Errorf("%s ended as %+v, want the class %q", event, stop, want)
		}
	}
}
