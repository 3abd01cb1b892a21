package agui_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/adapter/agui"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/trace"
)

// The state and the activities stay in memory until the turn ends, so they count with what a turn
// may hold. A value that takes the place of another one counts once.
func TestAStateCountsWithWhatATurnHolds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		event string
		ends  bool
	}{
		"activities":           {`{"type":"ACTIVITY_SNAPSHOT","messageId":"a%d","activityType":"PLAN","content":{"a":"X"}}`, true},
		"states of sub-agents": {`{"type":"STATE_SNAPSHOT","subagentRunId":"r%d","snapshot":{"a":"X"}}`, true},
		"one activity":         {`{"type":"ACTIVITY_SNAPSHOT","messageId":"a","activityType":"PLAN","content":{"%d":"X"}}`, false},
		"one state":            {`{"type":"STATE_SNAPSHOT","snapshot":{"%d":"X"}}`, false},
	} {
		var exceeded trace.Bound
		r := agenttest.NewRecorder(func(cfg *trace.Config) {
			cfg.MaxHeld, cfg.Exceeded = 1<<20, func(b trace.Bound) { exceeded = b }
		})
		d := agui.NewDecoder()
		event := strings.Replace(c.event, "X", strings.Repeat("x", 100<<10), 1)
		for n := range 20 {
			lines := []string{`{"type":"RUN_STARTED","threadId":"t","runId":"r"}`, fmt.Sprintf(event, n)}
			for _, line := range lines[min(n, 1):] {
				if _, err := d.Decode(agent.Message{Dir: agent.Out, Data: json.RawMessage(line)}, agenttest.OneTurn(r.Builder)); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := r.Finish(trace.Stop{Outcome: trace.OutcomeCompleted}); err != nil {
			t.Fatal(err)
		}
		if (exceeded == trace.BoundHeld) != c.ends {
			t.Errorf("%s: the turn has exceeded the bound %d", name, exceeded)
		}
	}
}
