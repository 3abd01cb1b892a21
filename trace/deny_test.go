package trace_test

import (
	"testing"

	"github.com/tributary-dev/tributary/trace"
)

func refuse(b *trace.Builder, id, reason string) {
	b.PermissionResponse(trace.PermissionResponse{RequestID: id, Outcome: trace.Selected, OptionKind: trace.RejectOnce, By: "ann", Reason: reason})
}

func TestARefusedCallIsDeniedOnceItsAgentGoesOn(t *testing.T) {
	t.Parallel()
	ask := func(b *trace.Builder) {
		b.ToolCall(trace.ToolCall{ToolCallID: "c"})
		request(b, "p", "c")
	}
	for name, c := range map[string]struct {
		say    func(*trace.Builder)
		status trace.ToolStatus
		why    string
		before trace.Kind // the kind of record that the result comes before
	}{
		"with text":      {func(b *trace.Builder) { refuse(b, "p", "not today"); b.MessageDelta("m", "I see.") }, trace.ToolDenied, "not today", trace.KindMessageStart},
		"with a thought": {func(b *trace.Builder) { refuse(b, "p", ""); b.ThoughtDelta("m", "I see.") }, trace.ToolDenied, "Not allowed.", trace.KindThoughtStart},
		"with a step":    {func(b *trace.Builder) { refuse(b, "p", ""); b.StepStart(trace.Step{NativeID: "2"}) }, trace.ToolDenied, "Not allowed.", trace.KindStep},
		"at the end":     {func(b *trace.Builder) { refuse(b, "p", "no") }, trace.ToolDenied, "no", trace.KindStop},
		"expired": {func(b *trace.Builder) {
			b.PermissionResponse(trace.PermissionResponse{RequestID: "p", Outcome: trace.Expired})
		}, trace.ToolDenied, "Nobody answered in time.", trace.KindStop},
		"the agent's own words": {func(b *trace.Builder) {
			refuse(b, "p", "no")
			b.ToolResult(trace.ToolResult{ToolCallID: "c", Status: trace.ToolFailed, Error: "ENOPERM"})
			b.MessageDelta("m", "x")
		}, trace.ToolDenied, "ENOPERM", trace.KindMessageStart},
		"stopped": {func(b *trace.Builder) {
			refuse(b, "p", "no")
			b.ToolResult(trace.ToolResult{ToolCallID: "c", Status: trace.ToolCanceled, Error: "stopped"})
		}, trace.ToolDenied, "no", trace.KindStop},
		"the agent has run the call": {func(b *trace.Builder) {
			refuse(b, "p", "no")
			b.ToolResult(trace.ToolResult{ToolCallID: "c"})
		}, trace.ToolCompleted, "", trace.KindStop},
		"said by the adapter": {func(b *trace.Builder) { refuse(b, "p", "no"); b.Denied("c", ""); b.Denied("c", "again") }, trace.ToolDenied, "no", trace.KindStop},
		"with another reason": {func(b *trace.Builder) { refuse(b, "p", "no"); b.Denied("c", "by rule 3") }, trace.ToolDenied, "by rule 3", trace.KindStop},
		"withdrawn": {func(b *trace.Builder) {
			b.PermissionResponse(trace.PermissionResponse{RequestID: "p"})
			b.MessageDelta("m", "x")
		}, trace.ToolCanceled, "", trace.KindStop},
		"asked again, allowed": {func(b *trace.Builder) {
			refuse(b, "p", "no")
			request(b, "p2", "c")
			respond(b, "p2")
			b.MessageDelta("m", "x")
		}, trace.ToolCanceled, "", trace.KindStop},
		"a sub-agent's text": {func(b *trace.Builder) { refuse(b, "p", "no"); b.Under("c").Message("m", "x") }, trace.ToolDenied, "no", trace.KindStop},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, events, _ := written[trace.Payload](t, func(b *trace.Builder) { ask(b); c.say(b) })
			n := 0
			for i, e := range events {
				r, ok := e.Payload.(trace.ToolResult)
				if !ok {
					continue
				}
				n++
				next := events[i+1].Payload.Kind()
				if end, is := events[i+1].Payload.(trace.Step); is && end.Phase == trace.PhaseEnd { // the border of the step before
					next = events[i+2].Payload.Kind()
				}
				if r.Status != c.status || c.why != "" && r.Error != c.why || next != c.before && next != trace.KindStep {
					t.Errorf("%+v before %s, want %s %q before %s", r, next, c.status, c.why, c.before)
				}
			}
			if n != 1 {
				t.Errorf("%d results", n)
			}
		})
	}
}

func TestACallThatThePolicyRefusesIsDenied(t *testing.T) {
	t.Parallel()
	results, _, _ := written[trace.ToolResult](t, func(b *trace.Builder) {
		b.ToolCall(trace.ToolCall{ToolCallID: "c"})
		request(b, "p", "c")
	}, func(c *trace.Config) {
		c.Decide = func(trace.PermissionRequest, trace.ToolCall) (trace.PermissionResponse, bool) {
			return trace.PermissionResponse{Outcome: trace.Selected, OptionKind: trace.RejectOnce, Reason: "outside the workspace"}, true
		}
	})
	if r := results[0]; r.Status != trace.ToolDenied || r.Error != "outside the workspace" {
		t.Errorf("%+v", r)
	}
}

func TestARefusedCallOfATurnThatIsTakenUpAgainIsDenied(t *testing.T) {
	t.Parallel()
	b, log := newTurn()
	b.ToolCall(trace.ToolCall{ToolCallID: "c"})
	request(b, "p", "c")
	refuse(b, "p", "no")
	if err := b.Detach(); err != nil {
		t.Fatal(err)
	}
	var records []trace.Record
	for _, e := range log.events {
		records = append(records, trace.Record{Turn: "t", Event: e})
	}
	again := trace.Restore(t.Context(), trace.Config{Turn: "t", Append: log.append}, records)
	if err := again.Finish(trace.Stop{Outcome: trace.OutcomeFailed}); err != nil {
		t.Fatal(err)
	}
	for _, e := range log.events {
		if r, ok := e.Payload.(trace.ToolResult); ok && (r.Status != trace.ToolDenied || r.Error != "no") {
			t.Errorf("%+v", r)
		}
	}
}

func TestSeveralPermissionsArePutToTheUserTogetherAfterThePolicy(t *testing.T) {
	t.Parallel()
	var l tape
	b := trace.NewBuilder(t.Context(), trace.Config{Turn: "t", Append: l.append, Decide: func(r trace.PermissionRequest, c trace.ToolCall) (trace.PermissionResponse, bool) {
		return trace.PermissionResponse{Outcome: trace.Selected, OptionKind: trace.AllowOnce}, c.RawName == "read"
	}})
	ask := func(id, tool string) trace.PermissionCheck {
		b.ToolCall(trace.ToolCall{ToolCallID: id, RawName: tool})
		return trace.PermissionCheck{Request: trace.PermissionRequest{RequestID: "p" + id, ToolCallID: id}, Call: trace.ToolCall{RawName: tool}}
	}
	got := b.PermissionRequests(ask("1", "bash"), ask("2", "read"), ask("3", "bash"))
	if got[0].Decided || !got[1].Decided || got[2].Decided || !got[1].Answer.Allowed() || got[2].ID != "p3" {
		t.Errorf("%+v", got)
	}
	if asked := b.Asked(); len(asked) != 2 || asked[0] != "p1" || asked[1] != "p3" {
		t.Errorf("the user is asked %v", asked)
	}
	if err := b.Finish(trace.Stop{}); err != nil {
		t.Fatal(err)
	}
	if d := b.PermissionRequests(ask("4", "bash"))[0]; !d.Decided || d.Answer.Allowed() {
		t.Errorf("after the turn: %+v", d)
	}
	if err := check(l.events); err != nil {
		t.Error(err)
	}
}
