package toolloop_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/agent/toolloop"
	"github.com/tributary-dev/tributary/trace"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// script is a model that says one message after the other.
type script struct {
	messages []toolloop.Message
	seen     [][]toolloop.Message
	fail     error
}

func (s *script) Step(_ context.Context, messages []toolloop.Message, _ []toolloop.Tool, b *trace.Builder) (toolloop.Message, toolloop.Finish, error) {
	s.seen = append(s.seen, messages)
	if len(s.messages) == 0 {
		if s.fail != nil {
			return toolloop.Message{}, "", s.fail
		}
		b.Message("end", "That is all.")
		return toolloop.Message{Text: "That is all."}, toolloop.Done, nil
	}
	next := s.messages[0]
	s.messages = s.messages[1:]
	if next.Text != "" {
		b.Message(next.Text, next.Text)
	}
	return next, toolloop.Done, nil
}

func calls(names ...string) toolloop.Message {
	var m toolloop.Message
	for i, name := range names {
		m.Calls = append(m.Calls, toolloop.Call{ID: fmt.Sprintf("c%d", i+1), Name: name, Input: json.RawMessage(fmt.Sprintf(`{"text":"%d"}`, i+1))})
	}
	return m
}

type counter = atomic.Int32

// echo returns the field text of its input.
func echo(name string, ran *counter) toolloop.Tool {
	return toolloop.Tool{
		Name: name, Schema: json.RawMessage(`{"type":"object","required":["text"]}`),
		Run: func(_ context.Context, in json.RawMessage, out io.Writer) (json.RawMessage, error) {
			ran.Add(1)
			var v struct{ Text json.RawMessage }
			err := json.Unmarshal(in, &v)
			_, _ = io.WriteString(out, "working\n")
			return v.Text, err
		},
	}
}

func prompt(text string) agent.Prompt {
	return agent.Prompt{Message: trace.UserMessage{ID: "u", Parts: []trace.InputPart{{Type: trace.InputText, Text: text}}}, By: "tester"}
}

// play runs one turn and returns its events.
func play(t *testing.T, host *agenttest.Host, m toolloop.Model, tools []toolloop.Tool, o toolloop.Options) []trace.Event {
	t.Helper()
	return playUntil(t.Context(), t, host, m, tools, o)
}

// playUntil is play for a turn that is stopped when ctx ends.
func playUntil(ctx context.Context, t *testing.T, host *agenttest.Host, m toolloop.Model, tools []toolloop.Tool, o toolloop.Options) []trace.Event {
	t.Helper()
	r := host.Turn(prompt("go"))
	toolloop.Run(ctx, host, r.Builder, m, []toolloop.Message{toolloop.UserMessage(prompt("go"))}, tools, o)
	stop, ok := r.Result()
	if !ok {
		t.Fatal("the turn did not end")
	}
	if err := r.Finish(stop); err != nil {
		t.Fatal(err)
	}
	events := r.Events()
	if err := agenttest.CheckTurn(events); err != nil {
		t.Fatalf("the turn is not well formed: %v", err)
	}
	return events
}

func choose(kind trace.OptionKind) func(context.Context, trace.PermissionRequest) trace.PermissionResponse {
	return func(_ context.Context, r trace.PermissionRequest) trace.PermissionResponse {
		for _, o := range r.Options {
			if o.OptionKind == kind {
				return trace.PermissionResponse{Outcome: trace.Selected, ChosenOption: o.ID, OptionKind: kind, By: "tester"}
			}
		}
		return trace.PermissionResponse{Outcome: trace.Canceled}
	}
}

func statuses(events []trace.Event) (all []string) {
	for _, r := range agenttest.Each[trace.ToolResult](events) {
		all = append(all, r.ToolCallID+" "+string(r.Status))
	}
	return all
}

func stopOf(events []trace.Event) trace.Stop { return agenttest.Each[trace.Stop](events)[0] }

func TestPermissionsOfAStepAreAskedTogether(t *testing.T) {
	host := agenttest.NewHost()
	host.OnPermit = choose(trace.AllowOnce)
	var ran atomic.Int32
	m := &script{messages: []toolloop.Message{calls("one", "two")}}
	events := play(t, host, m, []toolloop.Tool{echo("one", &ran), echo("two", &ran)}, toolloop.Options{})
	pauses := agenttest.Each[trace.Pause](events)
	if len(pauses) == 0 || len(pauses[0].Requests) != 2 {
		t.Errorf("the user is asked %+v, want both requests at once", pauses)
	}
	if ran.Load() != 2 || stopOf(events).Outcome != trace.OutcomeCompleted {
		t.Errorf("%d calls ran, the turn ended as %+v", ran.Load(), stopOf(events))
	}
	if got := m.seen[1][1].Calls; got[0].Answer() != "1" || got[1].Answer() != "2" {
		t.Errorf("the model got %q and %q", got[0].Answer(), got[1].Answer())
	}
}

func TestStepEndsOnlyAfterItsTools(t *testing.T) {
	host := agenttest.NewHost()
	host.Judge = func(trace.PermissionRequest, trace.ToolCall) (trace.PermissionResponse, bool) {
		return trace.PermissionResponse{Outcome: trace.Selected, OptionKind: trace.AllowOnce}, true
	}
	var ran atomic.Int32
	events := play(t, host, &script{messages: []toolloop.Message{calls("one")}}, []toolloop.Tool{echo("one", &ran)}, toolloop.Options{})
	var order []string
	for _, e := range events {
		switch p := e.Payload.(type) {
		case trace.Step:
			order = append(order, string(p.Phase))
		case trace.ToolResult:
			order = append(order, "result")
		}
	}
	if got := strings.Join(order, " "); got != "start result end start end" {
		t.Errorf("the order is %s", got)
	}
}

func TestADeniedCallDoesNotRunAndTheModelLearnsIt(t *testing.T) {
	host := agenttest.NewHost()
	host.OnPermit = func(ctx context.Context, r trace.PermissionRequest) trace.PermissionResponse {
		a := choose(trace.RejectOnce)(ctx, r)
		a.Reason = "Not today."
		return a
	}
	var ran atomic.Int32
	m := &script{messages: []toolloop.Message{calls("one")}}
	events := play(t, host, m, []toolloop.Tool{echo("one", &ran)}, toolloop.Options{})
	if ran.Load() != 0 || fmt.Sprint(statuses(events)) != "[c1 denied]" {
		t.Errorf("%d calls ran: %v", ran.Load(), statuses(events))
	}
	if got := m.seen[1][1].Calls[0].Answer(); got != "The call was denied and did not run: Not today." {
		t.Errorf("the model got %q", got)
	}
}

func TestPolicyDecidesFirst(t *testing.T) {
	for kind, want := range map[trace.OptionKind]int32{trace.AllowOnce: 1, trace.RejectOnce: 0} {
		host := agenttest.NewHost()
		host.Judge = func(trace.PermissionRequest, trace.ToolCall) (trace.PermissionResponse, bool) {
			return trace.PermissionResponse{Outcome: trace.Selected, OptionKind: kind, By: "policy"}, true
		}
		var ran counter
		events := play(t, host, &script{messages: []toolloop.Message{calls("one")}}, []toolloop.Tool{echo("one", &ran)}, toolloop.Options{})
		if ran.Load() != want || len(agenttest.Each[trace.Pause](events)) != 0 {
			t.Errorf("%s: %d calls ran, and a person was asked %d times", kind, ran.Load(), len(agenttest.Each[trace.Pause](events)))
		}
	}
}

func TestTheApproversInputRuns(t *testing.T) {
	host := agenttest.NewHost()
	host.OnPermit = func(ctx context.Context, r trace.PermissionRequest) trace.PermissionResponse {
		a := choose(trace.AllowOnce)(ctx, r)
		a.UpdatedInput = json.RawMessage(`{"text":"changed"}`)
		return a
	}
	var ran atomic.Int32
	m := &script{messages: []toolloop.Message{calls("one")}}
	events := play(t, host, m, []toolloop.Tool{echo("one", &ran)}, toolloop.Options{})
	if got := agenttest.Each[trace.ToolResult](events)[0]; string(got.Output) != `"changed"` {
		t.Errorf("the call returned %s", got.Output)
	}
	past := remember(t, events)
	if got := past[1].Calls[0]; string(got.Input) != `{"text":"changed"}` || got.Answer() != "changed" {
		t.Errorf("history has %s and %q", got.Input, got.Answer())
	}
}

// remember rebuilds the conversation from the events of turns.
func remember(t *testing.T, turns ...[]trace.Event) []toolloop.Message {
	t.Helper()
	host := agenttest.NewHost()
	for i, events := range turns {
		for _, e := range events {
			if !trace.Ephemeral(e.Payload) {
				host.Past = append(host.Past, trace.Record{Turn: fmt.Sprint(i), Event: e})
			}
		}
	}
	past, err := toolloop.History(t.Context(), host)
	if err != nil {
		t.Fatal(err)
	}
	return past.Messages
}

func TestTheHistoryHoldsTheModelsInput(t *testing.T) {
	host := agenttest.NewHost()
	host.OnPermit = choose(trace.AllowOnce)
	var ran atomic.Int32
	first := calls("one", "two", "nothing")
	first.Text = "Let me see."
	m := &script{messages: []toolloop.Message{first, calls("one")}}
	events := play(t, host, m, []toolloop.Tool{echo("one", &ran), echo("two", &ran)}, toolloop.Options{})
	past := remember(t, events)
	live := append(m.seen[2], toolloop.Message{Role: trace.RoleAssistant, Text: "That is all."})
	if got, want := outline(past), outline(live); got != want {
		t.Errorf("history is\n%s\nand the model had\n%s", got, want)
	}
}

func outline(messages []toolloop.Message) string {
	var b strings.Builder
	for _, m := range messages {
		fmt.Fprintf(&b, "%s %q %v\n", m.Role, m.Text, m.Parts)
		for _, c := range m.Calls {
			fmt.Fprintf(&b, "  %s %s -> %s\n", c.Name, c.Input, c.Answer())
		}
	}
	return b.String()
}

func TestFailedTurnLeavesAnsweredCallsInHistory(t *testing.T) {
	host := agenttest.NewHost()
	host.OnPermit = choose(trace.AllowOnce)
	ctx, cancel := context.WithCancel(t.Context())
	stuck := toolloop.Tool{Name: "one", Run: func(ctx context.Context, _ json.RawMessage, _ io.Writer) (json.RawMessage, error) {
		cancel()
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	events := playUntil(ctx, t, host, &script{messages: []toolloop.Message{calls("one")}}, []toolloop.Tool{stuck}, toolloop.Options{})
	if stop := stopOf(events); stop.Outcome != trace.OutcomeCanceled || stop.Reason != "stopped" {
		t.Errorf("the turn ended as %+v", stop)
	}
	past := remember(t, events, events)
	if len(past) != 6 || past[1].Calls[0].Answer() != "The call was stopped. The turn was stopped." {
		t.Errorf("history is\n%s", outline(past))
	}
	if past[2].Text != "(The turn was stopped here.)" || past[3].Role != trace.RoleUser {
		t.Errorf("the next prompt follows a call:\n%s", outline(past))
	}
}

func TestEveryCallIsAnswered(t *testing.T) {
	var ran atomic.Int32
	panics := toolloop.Tool{Name: "panics", Run: func(context.Context, json.RawMessage, io.Writer) (json.RawMessage, error) { panic("ouch") }}
	fails := toolloop.Tool{Name: "fails", Run: func(context.Context, json.RawMessage, io.Writer) (json.RawMessage, error) {
		return json.RawMessage(`"half"`), errors.New("disk full")
	}}
	said := calls("one", "unknown", "panics", "fails", "one", "one")
	said.Calls[4].Input = json.RawMessage(`{"text":"cut o`)
	said.Calls[5].Input = json.RawMessage(`{}`)
	host := agenttest.NewHost()
	host.OnPermit = choose(trace.AllowOnce)
	m := &script{messages: []toolloop.Message{said}}
	events := play(t, host, m, []toolloop.Tool{echo("one", &ran), panics, fails}, toolloop.Options{})
	if got := len(statuses(events)); got != 6 {
		t.Errorf("%d of 6 calls have a result", got)
	}
	if n := len(agenttest.Each[trace.PermissionRequest](events)); n != 3 {
		t.Errorf("%d permissions were asked: calls that cannot run are not asked about", n)
	}
	for i, want := range []string{"1", `There is no tool "unknown". The tools are: one, panics, fails.`, "the tool panics broke: ouch", "half\nError: disk full", "not a JSON object", `lacks "text"`} {
		if got := m.seen[1][1].Calls[i].Answer(); !strings.Contains(got, want) {
			t.Errorf("call %d: the model got %q, want %q", i+1, got, want)
		}
	}
	if ran.Load() != 1 {
		t.Errorf("%d calls ran", ran.Load())
	}
}

func TestDenialCanEndTheTurn(t *testing.T) {
	host := agenttest.NewHost()
	host.OnPermit = func(ctx context.Context, r trace.PermissionRequest) trace.PermissionResponse {
		if !strings.HasPrefix(r.RequestID, "allow-c1") {
			<-ctx.Done()
			return trace.PermissionResponse{Outcome: trace.Canceled}
		}
		a := choose(trace.RejectOnce)(ctx, r)
		a.Interrupt = true
		return a
	}
	var ran atomic.Int32
	events := play(t, host, &script{messages: []toolloop.Message{calls("one", "one")}}, []toolloop.Tool{echo("one", &ran)}, toolloop.Options{})
	if stop := stopOf(events); stop.Reason != "interrupted" || ran.Load() != 0 {
		t.Errorf("the turn ended as %+v, %d calls ran", stop, ran.Load())
	}
}

func TestStepsAreBounded(t *testing.T) {
	host := agenttest.NewHost()
	host.OnPermit = choose(trace.AllowOnce)
	var ran atomic.Int32
	m := &script{messages: []toolloop.Message{calls("one"), calls("one"), calls("one")}}
	events := play(t, host, m, []toolloop.Tool{echo("one", &ran)}, toolloop.Options{MaxSteps: 2})
	if stop := stopOf(events); stop.Reason != "max_steps" || stop.Class != trace.ClassLimit || ran.Load() != 2 {
		t.Errorf("the turn ended as %+v after %d calls", stop, ran.Load())
	}
}

func TestFaultOfTheModelEndsTheTurn(t *testing.T) {
	events := play(t, agenttest.NewHost(), &script{fail: &toolloop.Fault{Reason: "budget", Class: trace.ClassLimit, Sentence: "All is spent."}}, nil, toolloop.Options{})
	if stop := stopOf(events); stop.Reason != "budget" || stop.Class != trace.ClassLimit || stop.Error != "All is spent." || stop.Outcome != trace.OutcomeFailed {
		t.Errorf("the turn ended as %+v", stop)
	}
}

func TestCallsOfAStepRunSideBySide(t *testing.T) {
	host := agenttest.NewHost()
	host.OnPermit = choose(trace.AllowOnce)
	meet := make(chan struct{})
	both := toolloop.Tool{Name: "one", Run: func(ctx context.Context, _ json.RawMessage, _ io.Writer) (json.RawMessage, error) {
		select {
		case meet <- struct{}{}:
		case <-meet:
		case <-time.After(time.Minute):
			return nil, errors.New("the other call does not run")
		}
		return nil, nil
	}}
	events := play(t, host, &script{messages: []toolloop.Message{calls("one", "one")}}, []toolloop.Tool{both}, toolloop.Options{})
	for _, r := range agenttest.Each[trace.ToolResult](events) {
		if r.Status != trace.ToolCompleted {
			t.Errorf("a call ended as %+v", r)
		}
	}
}
