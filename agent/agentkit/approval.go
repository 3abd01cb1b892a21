package agentkit

import (
	"context"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/trace"
)

// Approval is a permission that an agent in this process has asked for.
type Approval struct{ trace.PermissionDecision }

// Approve asks for the permission of calls. The user sees the requests together. If a
// request has no options, the user can allow the call once, allow it always, or deny it.
func Approve(b *trace.Builder, asked ...trace.PermissionCheck) []Approval {
	for i := range asked {
		if asked[i].Request.Options != nil {
			continue
		}
		asked[i].Request.Options = []trace.PermissionOption{
			{ID: "allow", Name: "Allow", OptionKind: trace.AllowOnce},
			{ID: "always", Name: "Always allow", OptionKind: trace.AllowAlways},
			{ID: "deny", Name: "Deny", OptionKind: trace.RejectOnce},
		}
	}
	approvals := make([]Approval, len(asked))
	for i, d := range b.PermissionRequests(asked...) {
		approvals[i] = Approval{d}
	}
	return approvals
}

// Wait returns the answer of the policy or of a person. The answer is canceled when ctx
// ends.
func (a Approval) Wait(ctx context.Context, host agent.Host) (trace.PermissionResponse, error) {
	if a.Decided {
		return a.Answer, nil
	}
	return host.Permit(ctx, a.ID)
}

// Refusal says why a call may not run: in the words of the person or of the policy, if
// there are any.
func Refusal(answer trace.PermissionResponse) string {
	switch {
	case answer.Reason != "":
		return answer.Reason
	case answer.Outcome == trace.Expired:
		return "nobody answered in time"
	case answer.Outcome == trace.Canceled:
		return "the request was withdrawn"
	default:
		return "it was denied"
	}
}

// Unchanged is an answer for an agent that takes no other input: it refuses a call that the
// person has changed, because the call must not run with its first input.
func Unchanged(answer trace.PermissionResponse) trace.PermissionResponse {
	if answer.Allowed() && len(answer.UpdatedInput) > 0 {
		answer.OptionKind, answer.Reason, answer.UpdatedInput = trace.RejectOnce, "The user wants another input: "+string(answer.UpdatedInput), nil
	}
	return answer
}
