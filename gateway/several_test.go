package gateway_test

import (
	"context"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
)

// pair is an agent that wants to run two commands and asks for both at once. Another
// command of the same step ends while it waits.
type pair struct{}

func (pair) Open(_ context.Context, host agent.Host, _ agent.Config) (agent.Session, error) {
	return pairSession{host}, nil
}

type pairSession struct{ host agent.Host }

func (pairSession) Close() error { return nil }

func (s pairSession) Prompt(ctx context.Context, p agent.Prompt, b *trace.Builder) error {
	calls := []string{"c1", "c2"}
	if p.Text() == "one" {
		calls = calls[:1]
		b.ToolCall(trace.ToolCall{ToolCallID: "sibling", RawName: "bash"})
	}
	var asks []trace.PermissionCheck
	for _, id := range calls {
		b.ToolCall(trace.ToolCall{ToolCallID: id, RawName: "bash"})
		asks = append(asks, trace.PermissionCheck{Request: trace.PermissionRequest{RequestID: "p", ToolCallID: id, Title: "Run " + id, Options: []trace.PermissionOption{
			{ID: "yes", Name: "Allow", OptionKind: trace.AllowOnce}, {ID: "no", Name: "Deny", OptionKind: trace.RejectOnce},
		}}})
	}
	decisions := b.PermissionRequests(asks...)
	b.ToolResult(trace.ToolResult{ToolCallID: "sibling", Output: []byte(`"the sibling is done"`)})
	for i, d := range decisions {
		answer, err := s.host.Permit(ctx, d.ID)
		if err != nil {
			return err
		}
		if answer.Allowed() {
			b.ToolResult(trace.ToolResult{ToolCallID: calls[i], Output: []byte(`"ran"`)})
		}
	}
	b.Message("m", "Done.")
	b.End(trace.Stop{Reason: "end_turn", Outcome: trace.OutcomeCompleted})
	return nil
}

func newPairStand(t *testing.T) stand {
	t.Helper()
	return newStand(t, func(o *session.Options) {
		o.Agents["pair"] = session.Agent{Runtime: pair{}, Cwd: t.TempDir()}
	})
}

// A person sees what was decided, in every way to look at the message.
func TestAnAnsweredRequestReadsAsAnsweredWhileAnotherIsOpen(t *testing.T) {
	s := newPairStand(t)
	p := s.pause("c1", "both", "?agent=pair&client=7")
	if status, _, body := s.do("POST", "/api/sessions/c1/permissions/"+p.request(), `{"option":"no"}`); status != 200 {
		t.Fatal(status, body)
	}
	_, _, messages := s.do("GET", "/api/sessions/c1/messages?client=7", "")
	if strings.Count(messages, `"state":"approval-responded"`) != 1 || strings.Count(messages, `"state":"approval-requested"`) != 1 {
		t.Errorf("history: %s", messages)
	}
	_, _, messages = s.do("GET", "/api/sessions/c1/messages", "")
	if strings.Count(messages, `"state":"output-denied"`) != 1 || strings.Count(messages, `"state":"approval-requested"`) != 1 {
		t.Errorf("history of the default client: %s", messages)
	}
	_, _, resumed := s.do("GET", "/api/chat/c1/stream?client=7", "")
	if !strings.Contains(resumed, `{"type":"tool-approval-response","approvalId":"`+p.request()+`","approved":false,`) || strings.Contains(resumed, "Done.") || !strings.HasSuffix(resumed, "data: [DONE]\n\n") {
		t.Errorf("resumed: %s", resumed)
	}
	_, _, resumed = s.do("GET", "/api/chat/c1/stream", "")
	if !strings.Contains(resumed, `"type":"tool-output-denied"`) {
		t.Errorf("resumed by the default client: %s", resumed)
	}
}

// The result came while the turn waited, for a message that its reader has left.
func TestASiblingsResultReachesWhoAnswersInWords(t *testing.T) {
	s := newPairStand(t)
	s.pause("c1", "one", "?agent=pair")
	_, _, body := s.do("POST", "/api/chat", submit("c1", "u2", "yes"))
	for _, want := range []string{"the sibling is done", `"output":"ran"`, "Done."} {
		if !strings.Contains(body, want) {
			t.Errorf("the answer's stream lacks %q: %s", want, body)
		}
	}
	_, _, messages := s.do("GET", "/api/sessions/c1/messages", "")
	if strings.Contains(messages, `"state":"input-available"`) || strings.Count(messages, "the sibling is done") != 1 {
		t.Errorf("history: %s", messages)
	}
}
