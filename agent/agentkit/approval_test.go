package agentkit_test

import (
	"context"
	"slices"
	"testing"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/trace"
)

// twoCalls asks for the permission of the calls one and two.
func twoCalls(t *testing.T, host *agenttest.Host) []agentkit.Approval {
	t.Helper()
	r := host.Turn(agent.Prompt{})
	t.Cleanup(func() {
		if err := r.Finish(trace.Stop{Outcome: trace.OutcomeCompleted}); err != nil {
			t.Error(err)
		}
	})
	var asked []trace.PermissionCheck
	for _, id := range []string{"one", "two"} {
		r.ToolCall(trace.ToolCall{ToolCallID: id, RawName: "shell", ToolKind: trace.ToolExecute, Title: id})
		asked = append(asked, trace.PermissionCheck{Request: trace.PermissionRequest{RequestID: "ask-" + id, ToolCallID: id, Title: id}})
	}
	return agentkit.Approve(r.Builder, asked...)
}

func TestApprovalsOfALocalAgentAreAnsweredOneByOne(t *testing.T) {
	t.Parallel()
	host := agenttest.NewHost()
	host.RequestSuffix = "-x"
	host.OnPermit = func(_ context.Context, r trace.PermissionRequest) trace.PermissionResponse {
		return trace.PermissionResponse{Outcome: trace.Selected, ChosenOption: map[string]string{"one": "always", "two": "deny"}[r.ToolCallID]}
	}
	approvals := twoCalls(t, host)
	var got []trace.OptionKind
	for _, a := range approvals {
		answer, err := a.Wait(t.Context(), host)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, answer.OptionKind)
	}
	if !slices.Equal(got, []trace.OptionKind{trace.AllowAlways, trace.RejectOnce}) {
		t.Errorf("the answers are %v", got)
	}
}

func TestAnApprovalThatThePolicyDecidesAsksNoUser(t *testing.T) {
	t.Parallel()
	host := agenttest.NewHost()
	host.Judge = func(r trace.PermissionRequest, _ trace.ToolCall) (trace.PermissionResponse, bool) {
		return trace.PermissionResponse{Outcome: trace.Selected, ChosenOption: r.Options[0].ID, OptionKind: r.Options[0].OptionKind}, true
	}
	host.OnPermit = func(context.Context, trace.PermissionRequest) trace.PermissionResponse {
		t.Error("a person was asked")
		return trace.PermissionResponse{}
	}
	approvals := twoCalls(t, host)
	for _, a := range approvals {
		if answer, err := a.Wait(t.Context(), host); err != nil || !answer.Allowed() {
			t.Errorf("the answer is %+v, %v", answer, err)
		}
	}
}

func TestARefusalGivesItsReason(t *testing.T) {
	t.Parallel()
	for want, r := range map[string]trace.PermissionResponse{
		"not today":                 {Outcome: trace.Selected, Reason: "not today"},
		"it was denied":             {Outcome: trace.Selected},
		"nobody answered in time":   {Outcome: trace.Expired},
		"the request was withdrawn": {Outcome: trace.Canceled},
	} {
		if got := agentkit.Refusal(r); got != want {
			t.Errorf("%+v gives %q, want %q", r, got, want)
		}
	}
}
