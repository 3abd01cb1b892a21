package claude

import (
	"encoding/json"
	"strings"

	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/trace"
)

// answerLine is the line that answers a can_use_tool request, or a hook.
func answerLine(native string, v any) json.RawMessage {
	return agentkit.Encode(map[string]any{
		"type": "control_response", "response": map[string]any{"subtype": "success", "request_id": native, "response": v},
	})
}

// Why a request is refused.
const (
	unsupported = "not supported by this host"
	sameID      = "an earlier request with the same id has no answer yet: use another id"
)

// refusalLine is the line that refuses a request.
func refusalLine(native, why string) json.RawMessage {
	return agentkit.Encode(map[string]any{
		"type": "control_response", "response": map[string]any{"subtype": "error", "request_id": native, "error": why},
	})
}

// permitted encodes the answer to a permission request.
func (a *ask) permitted(r trace.PermissionResponse) json.RawMessage {
	if !r.Allowed() {
		return answerLine(a.native, permissionReply{Behavior: "deny", Message: agentkit.Refusal(r), Interrupt: r.Interrupt})
	}
	v := permissionReply{Behavior: "allow", UpdatedInput: a.Input}
	if len(r.UpdatedInput) > 0 {
		v.UpdatedInput = r.UpdatedInput
	}
	return answerLine(a.native, v)
}

// answered encodes the answers to questions.
func (a *ask) answered(all []trace.Answer) json.RawMessage {
	answers := map[string]string{}
	for i, answer := range all {
		if answer.Outcome == trace.Selected {
			answers[a.questions[i].Question] = strings.Join(answer.Values, ", ")
		}
	}
	input := map[string]raw{}
	if json.Unmarshal(a.Input, &input) != nil || len(answers) == 0 {
		return answerLine(a.native, permissionReply{Behavior: "allow", UpdatedInput: a.Input}) // the agent then says that nobody answered
	}
	input["answers"] = agentkit.Encode(answers)
	return answerLine(a.native, permissionReply{Behavior: "allow", UpdatedInput: agentkit.Encode(input)})
}
