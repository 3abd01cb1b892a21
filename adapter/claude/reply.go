package claude

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/tributary-dev/tributary/trace"
)

// act does what the agent's lines ask for.
func (s *session) act(proc *process, fresh news) {
	for _, r := range fresh.replies {
		if r.RequestID == helloID {
			select {
			case proc.answered <- r:
			default:
			}
		}
	}
	for _, a := range fresh.asks {
		s.goes.Go(func() { s.settle(proc, a) })
	}
	s.mu.Lock()
	for _, native := range fresh.withdrawn {
		if cancel, ok := s.asks[native]; ok {
			cancel()
			delete(s.asks, native)
		}
	}
	s.mu.Unlock()
	for _, id := range fresh.requests {
		s.goes.Go(func() {
			_ = proc.WriteLine(s.life, encode(map[string]any{
				"type": "control_response", "response": map[string]any{"subtype": "error", "request_id": id, "error": "not supported by this host"},
			}))
		})
	}
}

// settle gets the answer to a request and hands it to the agent.
func (s *session) settle(proc *process, a *ask) {
	ctx, cancel := context.WithCancel(s.life)
	defer cancel()
	s.mu.Lock()
	s.asks[a.native] = cancel
	if _, open := s.dec.asks[a.native]; !open && !a.decided && a.b != nil {
		cancel() // withdrawn before we got here
	}
	s.mu.Unlock()
	v := s.verdict(ctx, a)
	withdrawn := ctx.Err() != nil
	s.mu.Lock()
	delete(s.asks, a.native)
	s.mu.Unlock()
	if withdrawn {
		return
	}
	_ = proc.WriteLine(s.life, encode(map[string]any{
		"type": "control_response", "response": map[string]any{"subtype": "success", "request_id": a.native, "response": v},
	}))
}

// verdict is the answer as the agent wants it.
func (s *session) verdict(ctx context.Context, a *ask) verdict {
	if len(a.questions) > 0 {
		return s.askUser(ctx, a)
	}
	r := a.answer
	if !a.decided {
		var err error
		if r, err = s.host.Permit(ctx, a.id); err != nil {
			return verdict{Behavior: "deny", Message: "Permission could not be asked for."}
		}
		s.mu.Lock()
		s.dec.settle(a, r)
		s.mu.Unlock()
	}
	if !r.Allowed() {
		return verdict{Behavior: "deny", Message: orElse(r.Reason, refusal(r)), Interrupt: r.Interrupt}
	}
	v := verdict{Behavior: "allow", UpdatedInput: a.input}
	if len(r.UpdatedInput) > 0 {
		v.UpdatedInput = r.UpdatedInput
	}
	if r.OptionKind == trace.AllowAlways {
		v.UpdatedPermissions = always(a.suggestions)
	}
	return v
}

// refusal is what the model is told when nobody gave a reason.
func refusal(r trace.PermissionResponse) string {
	switch r.Outcome {
	case trace.Expired:
		return "Nobody answered the permission request in time."
	case trace.Canceled:
		return "The permission request was withdrawn."
	default:
		return "The user denied permission."
	}
}

// always chooses what "allow always" means of what the agent suggests: rules for
// just this if there are any, else all, such as another mode. It holds for the
// session: nothing is written into the user's workspace.
func always(suggestions []raw) []raw {
	var rules, all []raw
	for _, raw := range suggestions {
		var fields map[string]any
		if json.Unmarshal(raw, &fields) != nil {
			continue
		}
		if _, ok := fields["destination"]; ok {
			fields["destination"] = "session"
		}
		all = append(all, encode(fields))
		if fields["type"] != "setMode" {
			rules = append(rules, encode(fields))
		}
	}
	if len(rules) > 0 {
		return rules
	}
	return all
}

// askUser asks the questions, one after another.
func (s *session) askUser(ctx context.Context, a *ask) verdict {
	answers := map[string]string{}
	for _, q := range a.questions {
		answer, err := s.host.Ask(ctx, q.ID)
		if err == nil && answer.Outcome == trace.Selected {
			answers[q.Text] = strings.Join(answer.Values, ", ")
		}
	}
	s.mu.Lock()
	s.dec.settle(a, trace.PermissionResponse{})
	s.mu.Unlock()
	input := map[string]raw{}
	if json.Unmarshal(a.input, &input) != nil || len(answers) == 0 {
		return verdict{Behavior: "allow", UpdatedInput: a.input} // the agent then says that nobody answered
	}
	input["answers"] = encode(answers)
	return verdict{Behavior: "allow", UpdatedInput: encode(input)}
}
