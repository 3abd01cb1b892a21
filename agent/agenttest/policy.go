package agenttest

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/trace"
)

// policyAllows and policyDenies decide every request without asking anybody.

func policyAllows(t *testing.T, s Suite) {
	events := decided(t, s, trace.AllowOnce)
	if got := statuses(t, events, true); !slices.Contains(got, trace.ToolCompleted) {
		t.Errorf("the policy allowed the call, and it ended as %v", got)
	}
	s.ran(t, events, true)
}

func policyDenies(t *testing.T, s Suite) {
	events := decided(t, s, trace.RejectOnce)
	if got := statuses(t, events, false); slices.Contains(got, trace.ToolCompleted) {
		t.Errorf("the policy denied the call, and it ended as %v", got)
	}
	s.ran(t, events, false)
}

// decided plays a turn whose requests a policy decides. The one who is asked all the
// same says the opposite.
func decided(t *testing.T, s Suite, kind trace.OptionKind) []trace.Event {
	t.Helper()
	opposite := trace.RejectOnce
	if kind == trace.RejectOnce {
		opposite = trace.AllowOnce
	}
	host := NewHost()
	host.Judge = func(r trace.PermissionRequest, _ trace.ToolCall) (trace.PermissionResponse, bool) {
		answer := Choose(kind)(context.Background(), r)
		answer.By = "policy"
		return answer, true
	}
	host.OnPermit = func(ctx context.Context, r trace.PermissionRequest) trace.PermissionResponse {
		t.Errorf("the policy decided request %s, and the adapter waits for an answer", r.RequestID)
		return Choose(opposite)(ctx, r)
	}
	st := newTestSession(t, s, host)
	events, err := st.end(t, st.start(t.Context(), s.Prompts[Permission]))
	if err != nil {
		t.Errorf("Prompt: %v", err)
	}
	return events
}

// ran checks whether the tool has run, and returns its input.
func (s Suite) ran(t *testing.T, events []trace.Event, want bool) json.RawMessage {
	t.Helper()
	if s.Runs == nil {
		t.Fatal("the suite has a prompt for permission, and no Runs")
	}
	input := s.Runs(t, events)
	switch got := input != nil; {
	case got && !want:
		t.Error("the tool has run although it was denied")
	case want && !got:
		t.Error("the tool was allowed and has not run")
	}
	return input
}

// ranAs checks that the tool ran with the input that the policy has judged, and that
// this input is on record.
func ranAs(t *testing.T, events []trace.Event, judged trace.ToolCall, input json.RawMessage) {
	t.Helper()
	if input == nil {
		return
	}
	hasEach(t, "the policy has judged", judged.Input, input)
	for _, call := range Each[trace.ToolCall](events) {
		if call.ToolCallID == judged.ToolCallID {
			hasEach(t, "on record is", call.Input, input)
		}
	}
}

// hasEach checks that an input has each field of the input that ran.
func hasEach(t *testing.T, what string, got, ran json.RawMessage) {
	t.Helper()
	var has, want map[string]json.RawMessage
	if json.Unmarshal(got, &has) != nil || json.Unmarshal(ran, &want) != nil {
		t.Errorf("%s %s, and the tool ran with %s", what, got, ran)
		return
	}
	for key, value := range want {
		if !SameJSON(has[key], value) {
			t.Errorf("%s %s, and the tool ran with %s", what, got, ran)
			return
		}
	}
}

// Leaves is a Suite.Runs for a tool that leaves a file behind when it runs with an input.
// Leaves removes the file.
func Leaves(file func() string, input string) func(testing.TB, []trace.Event) json.RawMessage {
	return func(testing.TB, []trace.Event) json.RawMessage {
		if os.Remove(file()) != nil {
			return nil
		}
		return json.RawMessage(input)
	}
}

// Tells is a Suite.Runs for an agent of which the text or a result has these words once
// its tool has run with an input.
func Tells(words, input string) func(testing.TB, []trace.Event) json.RawMessage {
	return func(_ testing.TB, events []trace.Event) json.RawMessage {
		if !strings.Contains(textAndResults(events), words) {
			return nil
		}
		return json.RawMessage(input)
	}
}

// textAndResults is what the agent said and its tools returned.
func textAndResults(events []trace.Event) string {
	var all strings.Builder
	all.WriteString(Said(events))
	for _, r := range Each[trace.ToolResult](events) {
		all.Write(r.Output)
		all.WriteByte('\n')
	}
	return all.String()
}
