package agentops_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/export/agentops"
	"github.com/tributary-dev/tributary/trace"
)

// The newest messages of a long session cost no more memory than they take up.
func TestATranscriptCostsNoMoreThanItHolds(t *testing.T) {
	const turns, most = 3000, 1 << 20
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before, most1 := heap(), uint64(0)
	records := func(yield func(trace.Record, error) bool) {
		for i := range turns {
			turn := fmt.Sprintf("t%d", i)
			if i%500 == 499 {
				most1 = max(most1, heap())
			}
			for _, p := range []trace.Payload{
				trace.Prompt{Message: trace.UserMessage{ID: "u" + turn, Parts: []trace.InputPart{{Type: trace.InputText, Text: "go"}}}},
				trace.Reply{MessageID: "a" + turn, Cause: trace.CausePrompt},
				trace.Message{Part: "text-1", Role: trace.RoleAssistant, Text: turn + strings.Repeat("x", 20<<10)},
				trace.Stop{Reason: "end_turn", Outcome: trace.OutcomeCompleted},
			} {
				if !yield(trace.Record{Session: "s", Turn: turn, Event: trace.Event{Time: time.Unix(1, 0), Payload: p}}, nil) {
					return
				}
			}
		}
	}
	all, err := agentops.Transcript(records, agentops.Options{Session: "s"}, most)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) == 0 || all[len(all)-1].ID != fmt.Sprintf("at%d", turns-1) || len(all[len(all)-1].Parts) != 2 {
		t.Fatalf("%d messages", len(all))
	}
	if most1 > before+16*most {
		t.Errorf("at most %d MB", (most1-before)>>20)
	}
}
