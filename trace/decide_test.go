package trace_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/trace"
)

// A policy may wait for a file system that hangs. The Builder is not locked
// meanwhile: the rest of the turn goes on.
func TestPolicyJudgesWithoutTheLockOfTheTurn(t *testing.T) {
	t.Parallel()
	began, goOn := make(chan struct{}), make(chan struct{})
	b := trace.NewBuilder(t.Context(), trace.Config{
		Turn:   "turn",
		Append: func(context.Context, []trace.Event) error { return nil },
		Decide: func(trace.PermissionRequest, trace.ToolCall) (trace.PermissionResponse, bool) {
			close(began)
			<-goOn
			return trace.PermissionResponse{}, false
		},
	})
	asked := make(chan struct{})
	go func() {
		defer close(asked)
		b.PermissionRequest(trace.PermissionRequest{RequestID: "r", ToolCallID: "c"}, trace.ToolCall{RawName: "Read", Input: json.RawMessage(`{}`)})
	}()
	<-began
	said := make(chan struct{})
	go func() {
		defer close(said)
		b.Message("m", "text")
	}()
	select {
	case <-said:
	case <-time.After(10 * time.Second):
		t.Error("the turn waits for the policy")
	}
	close(goOn)
	<-asked
	<-said
	if err := b.Finish(trace.Stop{Outcome: trace.OutcomeCompleted}); err != nil {
		t.Fatal(err)
	}
}

// A quiet request is on record unless the policy allows the call, and a call that an earlier answer
// of a person allows is on record too. A person chooses of what Offer leaves.
func TestAQuietRequestThatThePolicyAllowsLeavesNoRecord(t *testing.T) {
	t.Parallel()
	all := []trace.PermissionOption{{ID: "y", OptionKind: trace.AllowOnce}, {ID: "a", OptionKind: trace.AllowAlways}, {ID: "n", OptionKind: trace.RejectOnce}}
	for name, c := range map[string]struct {
		answer  trace.PermissionResponse
		decided bool
		want    string
	}{
		"allowed":            {trace.PermissionResponse{Outcome: trace.Selected, ChosenOption: "y", OptionKind: trace.AllowOnce}, true, ""},
		"allowed by a grant": {trace.PermissionResponse{Outcome: trace.Selected, ChosenOption: "y", OptionKind: trace.AllowOnce, By: "grant"}, true, "tool_call permission_request permission_response "},
		"denied":             {trace.PermissionResponse{Outcome: trace.Selected, ChosenOption: "n", OptionKind: trace.RejectOnce}, true, "tool_call permission_request permission_response "},
		"open":               {trace.PermissionResponse{}, false, "tool_call permission_request "},
	} {
		var kinds string
		judged, offered := 0, 0
		b := trace.NewBuilder(t.Context(), trace.Config{
			Turn: "turn",
			Append: func(_ context.Context, events []trace.Event) error {
				for _, e := range events {
					if r, is := e.Payload.(trace.PermissionRequest); is {
						offered = len(r.Options)
					}
					if k := e.Payload.Kind(); k == "tool_call" || k == "permission_request" || k == "permission_response" {
						kinds += string(k) + " "
					}
				}
				return nil
			},
			Decide: func(_ trace.PermissionRequest, call trace.ToolCall) (trace.PermissionResponse, bool) {
				if judged++; string(call.Input) != `{"path":"a"}` {
					t.Errorf("%s: the policy judges %s", name, call.Input)
				}
				return c.answer, c.decided
			},
			Offer: func(r trace.PermissionRequest) []trace.PermissionOption { return r.Options[:1] },
		})
		d := b.PermissionRequests(trace.PermissionCheck{
			Quiet:   true,
			Request: trace.PermissionRequest{RequestID: "r", ToolCallID: "c", Options: all},
			Call:    trace.ToolCall{ToolCallID: "c", RawName: "read", ToolKind: trace.ToolRead, Input: json.RawMessage(`{"path":"a"}`)},
		})[0]
		if err := b.Flush(); err != nil {
			t.Fatal(err)
		}
		if open := !c.decided; open && offered != 1 || !open && c.want != "" && offered != len(all) || len(all) != 3 {
			t.Errorf("%s: %d options are on record", name, offered)
		}
		if kinds != c.want || d.Decided != c.decided || judged != 1 || (d.ID == "") != (c.want == "") {
			t.Errorf("%s: on record is %q; %+v; judged %d times", name, kinds, d, judged)
		}
		if err := b.Finish(trace.Stop{Outcome: trace.OutcomeCompleted}); err != nil {
			t.Fatal(err)
		}
	}
}

// A chosen mode lets a call run without a person only if the policy leaves the call open and "always" is
// offered. Where a rule wants a person, "always" is not offered.
func TestAModeOverrulesNoRule(t *testing.T) {
	t.Parallel()
	options := []trace.PermissionOption{{ID: "once", OptionKind: trace.AllowOnce}, {ID: "always", OptionKind: trace.AllowAlways}, {ID: "no", OptionKind: trace.RejectOnce}}
	denied := trace.PermissionResponse{Outcome: trace.Selected, ChosenOption: "no", OptionKind: trace.RejectOnce}
	for name, c := range map[string]struct {
		granted, asks    bool
		policy           *trace.PermissionResponse
		decided, allowed bool
	}{
		"the mode grants":            {granted: true, decided: true, allowed: true},
		"a rule asks":                {granted: true, asks: true},
		"the policy denies":          {granted: true, policy: &denied, decided: true},
		"the mode does not speak":    {},
		"a rule asks, and no mode":   {asks: true},
		"a rule denies, and no mode": {policy: &denied, decided: true},
	} {
		b := trace.NewBuilder(t.Context(), trace.Config{
			Turn: "t", Append: func(context.Context, []trace.Event) error { return nil },
			Decide: func(trace.PermissionRequest, trace.ToolCall) (answer trace.PermissionResponse, decided bool) {
				if c.policy == nil {
					return answer, false
				}
				return *c.policy, true
			},
			Offer: func(r trace.PermissionRequest) []trace.PermissionOption {
				return slices.DeleteFunc(slices.Clone(r.Options), func(o trace.PermissionOption) bool { return c.asks && o.OptionKind == trace.AllowAlways })
			},
		})
		d := b.PermissionRequests(trace.PermissionCheck{
			Granted: c.granted, Request: trace.PermissionRequest{RequestID: "r", ToolCallID: "c", Options: options},
			Call: trace.ToolCall{ToolCallID: "c", RawName: "edit", ToolKind: trace.ToolEdit, Input: json.RawMessage(`{"path":"a"}`)},
		})[0]
		if d.Decided != c.decided || d.Decided && d.Answer.Allowed() != c.allowed {
			t.Errorf("%s: %+v", name, d)
		}
		if err := b.Finish(trace.Stop{Outcome: trace.OutcomeCompleted}); err != nil {
			t.Fatal(err)
		}
	}
}
