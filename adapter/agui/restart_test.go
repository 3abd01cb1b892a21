package agui_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/adapter/agui"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/trace"
)

// TestAfterARestartAtAnyMomentTheNextRunKnowsWhatIsOnRecord: AG-UI has no way back into a
// run. The promise is that the turn has one end. The next run gets each word of the record
// once and each call with at most one result, and cancels what was open.
func TestAfterARestartAtAnyMomentTheNextRunKnowsWhatIsOnRecord(t *testing.T) {
	t.Parallel()
	var words []string
	for n := range 10 {
		words = append(words, text("m1", fmt.Sprintf("word%d ", n)))
	}
	f := newFake(t, map[string][]string{"go": {
		script(started, `{"type":"REASONING_MESSAGE_CONTENT","messageId":"r1","delta":"Hm."}`, script(words...), called("a", "look", `{"x":1}`), result("a", "seen"),
			called("b", "mail", `{}`), called("c", "mail", `{}`), interrupts(`{"id":"ib","reason":"tool_call","toolCallId":"b"}`, `{"id":"ic","reason":"tool_call","toolCallId":"c"}`)),
		script(started, result("b", "sent"), text("m2", "last1 "), result("c", "sent"), text("m3", "last2"), finished),
	}})
	rounds := agenttest.Rounds(t, 20)
	ends := map[string]int{}
	for round := range rounds {
		f.mu.Lock()
		f.run = map[string]int{}
		f.mu.Unlock()
		s := on(t, f.URL)
		s.host.OnPermit = allow("")
		if round%4 == 0 { // the gateway is restarted while the turn waits
			s.host.OnPermit = func(ctx context.Context, _ trace.PermissionRequest) trace.PermissionResponse {
				<-ctx.Done()
				return trace.PermissionResponse{Outcome: trace.Canceled}
			}
		}
		moment, seen := rand.IntN(45), 0 //nolint:gosec // a moment is no secret
		r, done := s.begin(t.Context(), trace.InputPart{Type: trace.InputText, Text: "go"})
		if _, err := r.Await(t.Context(), func(e trace.Event) bool {
			seen++
			return seen > moment || e.Payload.Kind() == trace.KindPark && round%4 == 0 || e.Payload.Kind() == trace.KindMessage && strings.Contains(string(encode(t, e.Payload)), "last2")
		}); err != nil {
			t.Fatal(err)
		}
		if err := s.session.Close(); err != nil {
			t.Fatal(err)
		}
		events := s.end(r, done)
		ends[agenttest.Each[trace.Stop](events)[0].Reason]++

		next, err := agui.Runtime{URL: f.URL}.Open(t.Context(), s.host, agent.Config{SessionID: "thread", Resume: "history"})
		if err != nil {
			t.Fatal(err)
		}
		s.session = next
		same(t, s.says("hello"), []string{"Hello.", "completed stop"})
		if err := next.Close(); err != nil {
			t.Fatal(err)
		}
		in := f.input(f.runs() - 1)
		said, results := "", map[string]int{}
		for _, m := range in.Messages {
			switch m["role"] {
			case "assistant":
				if m["content"] != nil {
					said += fmt.Sprint(m["content"])
				}
			case "tool":
				results[fmt.Sprint(m["toolCallId"])]++
			}
		}
		if want := strings.ReplaceAll(agenttest.Said(events), "\n", ""); said != want {
			t.Fatalf("round %d: on record is %q, and the next run is told %q", round, want, said)
		}
		open := map[string]bool{}
		for _, resume := range in.Resume {
			open[strings.TrimPrefix(fmt.Sprint(resume["interruptId"]), "i")] = true
		}
		for _, call := range agenttest.Each[trace.ToolCall](events) {
			if n := results[call.ToolCallID]; n > 1 || n == 0 && !open[call.ToolCallID] {
				t.Fatalf("round %d: the call %s has %d results in %s", round, call.ToolCallID, n, in.raw)
			}
		}
	}
	t.Logf("the turns end as %v", ends)
	if ends["closed"] == 0 {
		t.Errorf("the turns end as %v: no moment before their end", ends)
	}
}
