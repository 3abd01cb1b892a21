package agenttest_test

import (
	"context"
	"errors"
	"testing"

	"go.uber.org/goleak"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/trace"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestHostAnswers(t *testing.T) {
	t.Parallel()
	host := agenttest.NewHost()
	host.OnPermit = func(_ context.Context, r trace.PermissionRequest) trace.PermissionResponse {
		return trace.PermissionResponse{Outcome: trace.Selected, ChosenOption: r.Options[0].ID, By: "ann"}
	}
	host.OnAsk = func(_ context.Context, q trace.Question) trace.Answer {
		return trace.Answer{Outcome: trace.Selected, Values: []string{q.Choices[0].Label}, By: "ann"}
	}
	r := host.Turn(agent.Prompt{})
	r.ToolCall(trace.ToolCall{ToolCallID: "c"})
	request, _, _ := r.PermissionRequest(trace.PermissionRequest{
		RequestID: "p", ToolCallID: "c", Options: []trace.PermissionOption{{ID: "x", OptionKind: trace.AllowOnce}},
	}, trace.ToolCall{})

	if answer, err := host.Permit(t.Context(), request); err != nil || !answer.Allowed() {
		t.Errorf("Permit returned %+v, %v", answer, err)
	}
	question := r.Question(trace.Question{QuestionID: "q", Choices: []trace.Choice{{Label: "red"}}})
	if answer, err := host.Ask(t.Context(), question); err != nil || len(answer.Values) != 1 || answer.Values[0] != "red" {
		t.Errorf("Ask returned %+v, %v", answer, err)
	}
	if err := r.Finish(trace.Stop{Outcome: trace.OutcomeCompleted}); err != nil {
		t.Fatal(err)
	}
	if err := agenttest.CheckTurn(r.Events()); err != nil {
		t.Error(err)
	}
	responses, answers := agenttest.Each[trace.PermissionResponse](r.Events()), agenttest.Each[trace.Answer](r.Events())
	if len(responses) != 1 || !responses[0].Allowed() || len(answers) != 1 || answers[0].Outcome != trace.Selected {
		t.Errorf("on record are %+v and %+v", responses, answers)
	}
}

// A request that was never asked, or gets no answer, ends with the context as
// canceled.
func TestHostWithdraws(t *testing.T) {
	t.Parallel()
	host := agenttest.NewHost()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if answer, err := host.Permit(ctx, "x"); err != nil || answer.Outcome != trace.Canceled {
		t.Errorf("Permit returned %+v, %v", answer, err)
	}
	if answer, err := host.Ask(ctx, "x"); err != nil || answer.Outcome != trace.Canceled {
		t.Errorf("Ask returned %+v, %v", answer, err)
	}
}

func TestHostRecords(t *testing.T) {
	t.Parallel()
	host := agenttest.NewHost()
	if host.Token() != "" || len(host.Notes()) != 0 || len(host.Begun()) != 0 {
		t.Error("a new host has records")
	}
	host.Resume("a")
	host.Resume("b")
	host.Note(trace.Status{State: trace.StateIdle})
	b := host.Begin(agent.TurnInfo{Prompt: &trace.Prompt{By: "bob"}})
	b.MessageDelta("k", "x")
	if host.Token() != "b" || len(host.Notes()) != 1 || len(host.Begun()) != 1 {
		t.Errorf("the host has token %q, notes %v, turns %v", host.Token(), host.Notes(), host.Begun())
	}
	if err := b.Finish(trace.Stop{Outcome: trace.OutcomeCompleted}); err != nil {
		t.Fatal(err)
	}
	events := host.Begun()[0].Events()
	if err := agenttest.CheckTurn(events); err != nil || agenttest.Said(events) != "x\n" {
		t.Errorf("the turn says %q, %v", agenttest.Said(events), err)
	}
}

func TestAwait(t *testing.T) {
	t.Parallel()
	r := agenttest.NewRecorder()
	isDelta := func(e trace.Event) bool { return e.Payload.Kind() == trace.KindMessageDelta }
	ctx, cancel := context.WithCancel(t.Context())
	go r.MessageDelta("k", "x")
	if e, err := r.Await(ctx, isDelta); err != nil || e.Payload != (trace.MessageDelta{Part: "text-1", Delta: "x"}) {
		t.Errorf("Await returned %+v, %v", e, err)
	}
	cancel()
	if _, err := r.Await(ctx, func(trace.Event) bool { return false }); !errors.Is(err, context.Canceled) {
		t.Errorf("Await returned %v", err)
	}
	if err := r.Finish(trace.Stop{}); err != nil {
		t.Error(err)
	}
}
