package agenttest

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/trace"
)

// Choose answers permission requests with the first option of a kind.
func Choose(kind trace.OptionKind) func(context.Context, trace.PermissionRequest) trace.PermissionResponse {
	return func(_ context.Context, r trace.PermissionRequest) trace.PermissionResponse {
		for _, o := range r.Options {
			if o.OptionKind == kind {
				return trace.PermissionResponse{Outcome: trace.Selected, ChosenOption: o.ID, OptionKind: kind, By: "tester"}
			}
		}
		return trace.PermissionResponse{Outcome: trace.Selected, OptionKind: kind, By: "tester"}
	}
}

func firstChoice(_ context.Context, q trace.Question) trace.Answer {
	value := "yes"
	if len(q.Choices) > 0 {
		value = q.Choices[0].Label
	}
	return trace.Answer{Outcome: trace.Selected, Values: []string{value}, By: "tester"}
}

func lastChoice(ctx context.Context, q trace.Question) trace.Answer {
	if len(q.Choices) > 0 {
		q.Choices = q.Choices[len(q.Choices)-1:]
	}
	return firstChoice(ctx, q)
}

func permissionAllowed(t *testing.T, s Suite) {
	host := NewHost()
	host.OnPermit = Choose(trace.AllowOnce)
	var judged trace.ToolCall
	host.Judge = func(_ trace.PermissionRequest, call trace.ToolCall) (trace.PermissionResponse, bool) {
		judged = call
		return trace.PermissionResponse{}, false
	}
	events := newTestSession(t, s, host).play(t, s.Prompts[Permission])
	if got := statuses(t, events, true); !slices.Contains(got, trace.ToolCompleted) {
		t.Errorf("the call was allowed and ended as %v", got)
	}
	ranAs(t, events, judged, s.ran(t, events, true))
}

func permissionDenied(t *testing.T, s Suite) {
	host := NewHost()
	host.OnPermit = func(ctx context.Context, r trace.PermissionRequest) trace.PermissionResponse {
		answer := Choose(trace.RejectOnce)(ctx, r)
		answer.Reason = mentioning
		return answer
	}
	tap := &SentTap{}
	st := newTapped(t, s, host, tap.Tap)
	events, err := st.end(t, st.start(t.Context(), s.Prompts[Permission]))
	if err != nil {
		t.Errorf("Prompt: %v", err)
	}
	if got := statuses(t, events, false); slices.Contains(got, trace.ToolCompleted) {
		t.Errorf("the call was denied and ended as %v", got)
	}
	s.ran(t, events, false)
	if !s.AsWritten && bytes.Contains(tap.Sent(), []byte(mentioning)) {
		t.Errorf("the reason of the refusal mentions a file outside the workspace: %s", tap.Sent())
	}
}

// mentioning are words beside a prompt, which some agent may take for a mention of a file outside
// the workspace. An agent that is no application gets unmentioning.
const mentioning, unmentioning = "not @/etc/passwd", "not @ /etc/passwd"

func inWords(context.Context, trace.Question) trace.Answer {
	return trace.Answer{Outcome: trace.Selected, Values: []string{mentioning}, By: "tester"}
}

// statuses returns how the calls ended that permission was asked for, and checks
// the recorded answers.
func statuses(t *testing.T, events []trace.Event, allowed bool) (ends []trace.ToolStatus) {
	t.Helper()
	requests := Each[trace.PermissionRequest](events)
	if len(requests) == 0 {
		t.Fatalf("the agent did not ask for permission")
	}
	for _, r := range Each[trace.PermissionResponse](events) {
		if r.Outcome != trace.Selected || r.Allowed() != allowed {
			t.Errorf("the answer on record is %+v, want one that says allowed: %v", r, allowed)
		}
	}
	for _, r := range Each[trace.ToolResult](events) {
		if slices.ContainsFunc(requests, func(q trace.PermissionRequest) bool { return q.ToolCallID == r.ToolCallID }) {
			ends = append(ends, r.Status)
		}
	}
	return ends
}

// question answers once with the first choice, once with the last, and once in words: an agent that gets
// another answer than the one that was given says something else.
func question(t *testing.T, s Suite) {
	for _, c := range []struct {
		name   string
		choose func(context.Context, trace.Question) trace.Answer
	}{{"first choice", firstChoice}, {"last choice", lastChoice}, {"words", inWords}} {
		// The sessions must not be open at once: on a server that shares one between its
		// clients, both would answer.
		t.Run(c.name, func(t *testing.T) {
			host := NewHost()
			host.OnAsk = c.choose
			events := newTestSession(t, s, host).play(t, s.Prompts[Question])
			for i, e := range events {
				if a, is := e.Payload.(trace.Answer); is && !s.AsWritten && slices.Equal(a.Values, []string{mentioning}) {
					a.Values = []string{unmentioning}
					events[i].Payload = a // as the agent has it
				}
			}
			answered(t, events)
		})
	}
}

// answered checks that answers are on record, and that the agent has them.
func answered(t *testing.T, events []trace.Event) {
	t.Helper()
	if len(Each[trace.Question](events)) == 0 {
		t.Fatalf("the agent did not ask")
	}
	says := textAndResults(events)
	for _, a := range Each[trace.Answer](events) {
		if a.Outcome != trace.Selected || len(a.Values) == 0 {
			t.Errorf("the answer on record is %+v, want the one that was given", a)
			continue
		}
		if !strings.Contains(says, a.Values[0]) {
			t.Errorf("the answer was %q, and the agent has another one, or none: %s", a.Values[0], says)
		}
	}
}

func cancelPermission(t *testing.T, s Suite) {
	host := NewHost()
	host.OnPermit = func(ctx context.Context, _ trace.PermissionRequest) trace.PermissionResponse {
		<-ctx.Done()
		return trace.PermissionResponse{}
	}
	cancelAsk[trace.PermissionRequest](t, newTestSession(t, s, host), s.Prompts[Permission])
}

func cancelQuestion(t *testing.T, s Suite) {
	host := NewHost()
	host.OnAsk = func(ctx context.Context, _ trace.Question) trace.Answer {
		<-ctx.Done()
		return trace.Answer{}
	}
	cancelAsk[trace.Question](t, newTestSession(t, s, host), s.Prompts[Question])
}

func cancelAsk[P trace.Payload](t *testing.T, st *testSession, prompt string) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r := st.start(ctx, prompt)
	st.waitForText(t, r, "the request", func(e trace.Event) bool { _, ok := e.Payload.(P); return ok })
	cancel()
	st.stopped(t, r, prompt)
}

// resume closes the session and opens one with its token in a new runtime.
func resume(t *testing.T, s Suite) {
	st := newTestSession(t, s, NewHost())
	past := Each[trace.Message](st.play(t, s.Prompts[Tell]))
	begun := len(st.host.Begun())
	token := st.host.Token()
	if token == "" {
		t.Fatal("the agent gave no resume token")
	}
	st.close(t)
	st.runtime = s.Open(t)
	st.open(t, token)
	events := st.play(t, s.Prompts[Recall])
	if said := Said(events); !strings.Contains(said, s.Word) {
		t.Errorf("after a resume the agent does not know %q and answers: %s", s.Word, said)
	}
	nothingOfThePast(t, events, past)
	if n := len(st.host.Begun()) - begun; n > 0 {
		t.Errorf("a resume began %d turns: the agent's history is on record already", n)
	}
}

// nothingOfThePast checks the turn after a resume: agents tell the conversation so far
// when it is loaded. The last message may be like an earlier one, for it is the answer.
func nothingOfThePast(t *testing.T, events []trace.Event, past []trace.Message) {
	t.Helper()
	now := Each[trace.Message](events)
	for i, m := range now {
		if i < len(now)-1 && slices.ContainsFunc(past, func(p trace.Message) bool { return p.Text == m.Text }) {
			t.Errorf("after a resume the agent's earlier words are written again: %.80q", m.Text)
		}
	}
	if n := len(Each[trace.Prompt](events)); n > 1 {
		t.Errorf("after a resume %d earlier prompts are written again", n-1)
	}
}
