package agenttest

import (
	"context"
	"slices"
	"testing"

	"github.com/tributary-dev/tributary/trace"
)

// policyAllows and policyDenies decide every request without asking anybody.

func policyAllows(t *testing.T, s Suite) {
	events := decided(t, s, trace.AllowOnce)
	if got := statuses(t, events, true); !slices.Contains(got, trace.ToolCompleted) {
		t.Errorf("the policy allowed the call, and it ended as %v", got)
	}
	s.ran(t, true)
}

func policyDenies(t *testing.T, s Suite) {
	events := decided(t, s, trace.RejectOnce)
	if got := statuses(t, events, false); slices.Contains(got, trace.ToolCompleted) {
		t.Errorf("the policy denied the call, and it ended as %v", got)
	}
	s.ran(t, false)
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
	st := newStand(t, s, host)
	events, err := st.end(t, st.start(t.Context(), s.Prompts[Permission]))
	if err != nil {
		t.Errorf("Prompt: %v", err)
	}
	return events
}

// ran checks whether the tool has run, if that can be told.
func (s Suite) ran(t *testing.T, want bool) {
	t.Helper()
	if s.Effect == nil {
		return
	}
	switch got := s.Effect(t); {
	case got && !want:
		t.Error("the tool has run although it was denied")
	case want && !got:
		t.Error("the tool was allowed and has not run")
	}
}
