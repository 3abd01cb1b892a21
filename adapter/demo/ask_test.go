package demo_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/policy/workspace"
	"github.com/tributary-dev/tributary/trace"
)

func TestApprove(t *testing.T) {
	t.Parallel()
	with := func(r trace.PermissionResponse, change func(*trace.PermissionResponse)) trace.PermissionResponse {
		change(&r)
		return r
	}
	for _, c := range []struct {
		name    string
		answer  trace.PermissionResponse
		status  trace.ToolStatus
		output  string // in the result: output or error
		says    string
		outcome trace.Outcome
	}{
		{"allow", choice("allow"), trace.ToolCompleted, `{"exit_code":0,"stdout":"hello\n"}`, "I was allowed to run it: echo hello", trace.OutcomeCompleted},
		{"always", choice("always"), trace.ToolCompleted, `{"exit_code":0,"stdout":"hello\n"}`, "I am always allowed", trace.OutcomeCompleted},
		{"deny", choice("deny"), trace.ToolDenied, "it was denied", "I did not run the command: it was denied.", trace.OutcomeCompleted},
		{
			"deny with a reason", with(choice("deny"), func(r *trace.PermissionResponse) { r.Reason = "not today" }),
			trace.ToolDenied, "not today", "I did not run the command: not today.", trace.OutcomeCompleted,
		},
		{
			"deny with a sentence", with(choice("deny"), func(r *trace.PermissionResponse) { r.Reason = "Denied by user." }),
			trace.ToolDenied, "Denied by user.", "I did not run the command: Denied by user.\n", trace.OutcomeCompleted,
		},
		{
			"edited", with(choice("allow"), func(r *trace.PermissionResponse) { r.UpdatedInput = json.RawMessage(`{"command":"echo bye"}`) }),
			trace.ToolCompleted, `{"exit_code":0,"stdout":"bye\n"}`, "I was allowed to run it: echo bye", trace.OutcomeCompleted,
		},
		{
			"edited wrongly", with(choice("allow"), func(r *trace.PermissionResponse) { r.UpdatedInput = json.RawMessage(`[]`) }),
			trace.ToolFailed, "The edited input has no command.", "I could not run that", trace.OutcomeCompleted,
		},
		{"withdrawn", trace.PermissionResponse{Outcome: trace.Canceled}, trace.ToolDenied, "the request was withdrawn", "I did not run the command", trace.OutcomeCompleted},
		{"expired", trace.PermissionResponse{Outcome: trace.Expired}, trace.ToolDenied, "nobody answered in time", "I did not run the command", trace.OutcomeCompleted},
		{
			"denied and interrupted", with(choice("deny"), func(r *trace.PermissionResponse) { r.Interrupt = true }),
			trace.ToolDenied, "it was denied", "I would like to run a command.", trace.OutcomeCanceled,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			host := desk()
			host.OnPermit = func(context.Context, trace.PermissionRequest) trace.PermissionResponse { return c.answer }
			events := play(t, open(t, host, 0, ""), host, "approve")
			result := agenttest.Each[trace.ToolResult](events)[0]
			got := result.Error
			if result.Status == trace.ToolCompleted {
				got = string(result.Output)
			}
			if result.Status != c.status || got != c.output {
				t.Errorf("the call ended as %s: %s, want %s: %s", result.Status, got, c.status, c.output)
			}
			if said := agenttest.Said(events); !strings.Contains(said, c.says) {
				t.Errorf("the demo said %q, want %q", said, c.says)
			}
			if stop := agenttest.Each[trace.Stop](events)[0]; stop.Outcome != c.outcome {
				t.Errorf("the turn ended as %s, want %s", stop.Outcome, c.outcome)
			}
		})
	}
}

// Of two that are asked at once, each command is run or not as its own answer says,
// in the order of the answers.
func TestBoth(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		host := desk()
		host.OnPermit = func(_ context.Context, r trace.PermissionRequest) trace.PermissionResponse {
			if r.Title == "Run echo one" {
				time.Sleep(time.Minute)
				return choice("allow")
			}
			return choice("deny")
		}
		events := play(t, open(t, host, 0, ""), host, "both")
		var got []trace.ToolStatus
		for _, r := range agenttest.Each[trace.ToolResult](events) {
			got = append(got, r.Status)
		}
		if !slices.Equal(got, []trace.ToolStatus{trace.ToolDenied, trace.ToolCompleted}) {
			t.Errorf("the calls ended as %v", got)
		}
		if said := agenttest.Said(events); !strings.HasSuffix(said, "run it: echo one\n\nI did not run the command: it was denied.\n") {
			t.Errorf("the demo said %q", said)
		}
	})
}

// A refusal that interrupts ends the waiting for the other answer too.
func TestBothInterrupted(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"both", "mixed"} {
		host := desk()
		host.OnPermit = func(ctx context.Context, r trace.PermissionRequest) trace.PermissionResponse {
			if r.Title == "Run echo one" {
				<-ctx.Done()
			}
			answer := choice("deny")
			answer.Interrupt = true
			return answer
		}
		events := play(t, open(t, host, 0, ""), host, word)
		if stop := agenttest.Each[trace.Stop](events)[0]; stop.Outcome != trace.OutcomeCanceled || stop.Reason != "interrupted" {
			t.Errorf("%s ended as %+v", word, stop)
		}
	}
}

func TestWithdraw(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		host := desk()
		for wait, says := range map[time.Duration]string{
			99 * time.Second:  "I was allowed to run it",
			101 * time.Second: "the request was withdrawn",
		} {
			host.OnPermit = func(ctx context.Context, _ trace.PermissionRequest) trace.PermissionResponse {
				select {
				case <-time.After(wait):
				case <-ctx.Done():
				}
				return choice("allow")
			}
			if said := agenttest.Said(play(t, open(t, host, time.Second, ""), host, "withdraw")); !strings.Contains(said, says) {
				t.Errorf("answered after %s the demo said %q", wait, said)
			}
		}
	})
}

// The demo asks nobody if the policy decides.
func TestApproveByPolicy(t *testing.T) {
	t.Parallel()
	host := desk()
	host.OnPermit = func(context.Context, trace.PermissionRequest) trace.PermissionResponse {
		t.Error("the demo asked though the policy had decided")
		return choice("deny")
	}
	host.Judge = func(r trace.PermissionRequest, c trace.ToolCall) (trace.PermissionResponse, bool) {
		if c.ToolKind != trace.ToolExecute || c.RawName != "shell" {
			t.Errorf("the policy was shown %+v", c)
		}
		return choice(r.Options[0].ID), true
	}
	events := play(t, open(t, host, 0, ""), host, "approve")
	if result := agenttest.Each[trace.ToolResult](events)[0]; result.Status != trace.ToolCompleted {
		t.Errorf("the call ended as %s", result.Status)
	}
}

func TestAsk(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		answer trace.Answer
		says   string
	}{
		{trace.Answer{Outcome: trace.Selected, Values: []string{"blue"}}, "You chose blue."},
		{trace.Answer{Outcome: trace.Selected, Values: []string{"something else"}}, "You chose something else."},
		{trace.Answer{Outcome: trace.Selected, Values: []string{"red", "green"}}, "You chose red, green."},
		{trace.Answer{Outcome: trace.Selected}, "Nobody answered"},
		{trace.Answer{Outcome: trace.Canceled, Values: []string{"red"}}, "Nobody answered"},
		{trace.Answer{Outcome: trace.Expired}, "Nobody answered"},
	} {
		host := desk()
		host.OnAsk = func(context.Context, trace.Question) trace.Answer { return c.answer }
		if said := agenttest.Said(play(t, open(t, host, 0, ""), host, "ask")); !strings.Contains(said, c.says) {
			t.Errorf("after %+v the demo said %q, want %q", c.answer, said, c.says)
		}
	}
}

func TestAskSeveral(t *testing.T) {
	t.Parallel()
	for word, says := range map[string]string{
		"several": "You said: red; pike, eel; nothing.",
		"freely":  "Nobody answered, so it has no name.",
	} {
		host := desk()
		host.OnAsk = func(_ context.Context, q trace.Question) trace.Answer {
			switch q.Header {
			case "Colour":
				return trace.Answer{Outcome: trace.Selected, Values: []string{"red"}}
			case "Fish":
				return trace.Answer{Outcome: trace.Selected, Values: []string{"pike", "eel"}}
			}
			return trace.Answer{Outcome: trace.Canceled}
		}
		if said := agenttest.Said(play(t, open(t, host, 0, ""), host, word)); !strings.HasSuffix(said, says+"\n") {
			t.Errorf("after %s the demo said %q", word, said)
		}
	}
}

// mute is a host that cannot ask anybody.
type mute struct{ *agenttest.Host }

func (mute) Permit(context.Context, string) (trace.PermissionResponse, error) {
	return trace.PermissionResponse{}, errors.New("nobody is here")
}

func (mute) Ask(context.Context, string) (trace.Answer, error) {
	return trace.Answer{}, errors.New("nobody is here")
}
func (mute) Files() workspace.Dir { return workspace.Dir{} }

var _ agent.Host = mute{}

func TestHostCannotAsk(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"approve", "both", "ask", "freely", "several", "mixed"} {
		host := desk()
		events := play(t, open(t, mute{host}, 0, ""), host, word)
		stop := agenttest.Each[trace.Stop](events)[0]
		if stop.Outcome != trace.OutcomeFailed || !strings.Contains(stop.Error, "nobody is here") {
			t.Errorf("%s ended as %+v", word, stop)
		}
	}
}
