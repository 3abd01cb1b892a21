package agui_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/adapter/agui"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/trace"
)

// TestAfterARestartAtAnyMomentTheNextRunKnowsTheRecord: AG-UI has no way back into a
// run. The promise is that the turn has one end. The next run gets each word of the record
// once and each call with at most one result, and cancels what was open.
func TestAfterARestartAtAnyMomentTheNextRunKnowsTheRecord(t *testing.T) {
	t.Parallel()
	var words []string
	for n := range 10 {
		words = append(words, text("m1", fmt.Sprintf("word%d ", n)))
	}
	scripts := map[string][]string{"go": {
		script(started, `{"type":"REASONING_MESSAGE_CONTENT","messageId":"r1","delta":"Hm."}`, script(words...), called("a", "look", `{"x":1}`), result("a", "seen"),
			called("b", "mail", `{}`), called("c", "mail", `{}`), interrupts(`{"id":"ib","reason":"tool_call","toolCallId":"b"}`, `{"id":"ic","reason":"tool_call","toolCallId":"c"}`)),
		script(started, result("b", "sent"), text("m2", "last1 "), result("c", "sent"), text("m3", "last2"), finished),
	}}
	rounds, random := agenttest.Rounds(t, 20), agenttest.Random(t)
	ends := map[string]int{}
	for round := range rounds {
		f := newFake(t, scripts) // a run of the round before may still be on its way to its own
		s := newStage(t, f.URL)
		s.host.OnPermit = allow("")
		if round%4 == 0 { // the gateway is restarted while the turn waits
			s.host.OnPermit = func(ctx context.Context, _ trace.PermissionRequest) trace.PermissionResponse {
				<-ctx.Done()
				return trace.PermissionResponse{Outcome: trace.Canceled}
			}
		}
		moment, seen := random.IntN(45), 0
		r, done := s.begin(t.Context(), trace.InputPart{Type: trace.InputText, Text: "go"})
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		if _, err := r.Await(ctx, func(e trace.Event) bool {
			seen++
			return seen > moment || e.Payload.Kind() == trace.KindPause && round%4 == 0 || e.Payload.Kind() == trace.KindMessage && strings.Contains(string(encode(t, e.Payload)), "last2")
		}); err != nil {
			t.Fatalf("round %d, moment %d: %v: %v", round, moment, err, r.Events())
		}
		cancel()
		if err := s.session.Close(); err != nil {
			t.Fatal(err)
		}
		events := s.end(r, done)
		ends[agenttest.Each[trace.Stop](events)[0].Reason]++
		if n := len(s.host.Begun()); n != 0 {
			t.Fatalf("round %d: the end of the session has begun %d turns", round, n)
		}

		next, err := agui.Runtime{URL: f.URL}.Open(t.Context(), s.host, agent.Config{SessionID: "thread", Resume: "history"})
		if err != nil {
			t.Fatal(err)
		}
		s.session = next
		same(t, s.says("hello"), []string{"Hello.", "completed stop"})
		if err := next.Close(); err != nil {
			t.Fatal(err)
		}
		in := f.input(f.runs() - 1)
		said, results := "", map[string]int{}
		for _, m := range in.Messages {
			switch m["role"] {
			case "assistant":
				if m["content"] != nil {
					said += fmt.Sprint(m["content"])
				}
			case "tool":
				results[fmt.Sprint(m["toolCallId"])]++
			}
		}
		if want := strings.ReplaceAll(agenttest.Said(events), "\n", ""); said != want {
			t.Fatalf("round %d: on record is %q, and the next run gets %q", round, want, said)
		}
		open := map[string]bool{}
		for _, resume := range in.Resume {
			open[strings.TrimPrefix(fmt.Sprint(resume["interruptId"]), "i")] = true
		}
		for _, call := range agenttest.Each[trace.ToolCall](events) {
			if n := results[call.ToolCallID]; n > 1 || n == 0 && !open[call.ToolCallID] {
				t.Fatalf("round %d: the call %s has %d results in %s", round, call.ToolCallID, n, in.raw)
			}
		}
	}
	t.Logf("the turns end as %v", ends)
	if ends["closed"] == 0 {
		t.Errorf("the turns end as %v: no moment before their end", ends)
	}
}

// TestATurnThatWaitsSurvivesARestart: the endpoint gets the run that it would have got
// without the restart, and nothing is asked twice.
func TestATurnThatWaitsSurvivesARestart(t *testing.T) {
	t.Parallel()
	pending := func(context.Context, trace.PermissionRequest) trace.PermissionResponse {
		return trace.PermissionResponse{Outcome: trace.Canceled}
	}
	for name, c := range map[string]struct {
		run     []string
		answers int // before the restart
	}{
		"interrupts": {[]string{
			text("m", "Let me see."), called("a", "mail", `{"to":"ann"}`), called("b", "mail", `{}`), called("x", "look", `{}`), result("x", "seen"), `{"type":"STATE_SNAPSHOT","snapshot":{"n":1}}`,
			interrupts(`{"id":"ia","reason":"tool_call","toolCallId":"a"}`, `{"id":"ib","reason":"tool_call","toolCallId":"b"}`, `{"id":"q","reason":"confirmation","message":"Sure?"}`),
		}, 2},
		"a tool of the app":                  {[]string{text("m", "Pick."), called("c", "pick", `{"of":3}`), finished}, 0},
		"interrupts of endpoints before 1.0": {[]string{`{"type":"CUSTOM","name":"on_interrupt","value":"Send it?"}`, `{"type":"RUN_FINISHED"}`}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t, map[string][]string{"go": {script(append([]string{started}, c.run...)...), script(started, result("a", "1"), result("b", "2"), text("n", "Done."), finished)}})
			whole := newStage(t, f.URL, tools)
			whole.host.OnPermit, whole.host.OnAsk = allow(""), answer("Yes")
			want := whole.says("go")

			f.run = map[string]int{}
			s := newStage(t, f.URL, tools)
			s.host.OnPermit = allow("")
			s.host.OnAsk = func(ctx context.Context, _ trace.Question) trace.Answer {
				<-ctx.Done()
				return trace.Answer{Outcome: trace.Canceled}
			}
			ctx, leave := context.WithCancelCause(t.Context())
			r, done := s.begin(ctx, words("go"))
			seen := map[string]bool{} // each event comes more than once
			if _, err := r.Await(ctx, func(e trace.Event) bool {
				if k := e.Payload.Kind(); k == trace.KindQuestion || k == trace.KindPermissionResponse {
					seen[e.ID] = true
				}
				return len(seen) == 1+c.answers
			}); err != nil {
				t.Fatal(err)
			}
			if err := r.Detach(); err != nil {
				t.Fatal(err)
			}
			leave(agent.ErrDetached)
			<-done
			if err := s.session.Close(); err != nil {
				t.Fatal(err)
			}

			next := newStage(t, f.URL, tools)
			next.host.OnPermit, next.host.OnAsk = pending, answer("Yes")
			again, left := next.host.OpenTurn(r)
			left.Prompt = &trace.Prompt{Message: trace.UserMessage{ID: "u1", Parts: []trace.InputPart{words("go")}}}
			ended := make(chan error, 1)
			go func() { ended <- agui.Runtime{}.Reattach(t.Context(), next.session, left) }()
			same(t, outline(next.end(again, ended)), want)
			first, second := f.input(1), f.input(3)
			same(t, second.brief(), first.brief())
			if fmt.Sprint(second.Resume, second.State, second.ForwardedProps) != fmt.Sprint(first.Resume, first.State, first.ForwardedProps) {
				t.Errorf("without a restart, the input is\n%s\nand with one it is\n%s", first.raw, second.raw)
			}
		})
	}
}

func TestATurnThatRanIsLostWithTheGateway(t *testing.T) {
	t.Parallel()
	f := newFake(t, map[string][]string{"go": {script(started, text("m", "so far"))}})
	f.hang = true
	s := newStage(t, f.URL)
	ctx, leave := context.WithCancelCause(t.Context())
	r, done := s.begin(ctx, words("go"))
	if _, err := r.Await(ctx, func(e trace.Event) bool { return e.Payload.Kind() == trace.KindMessageDelta }); err != nil {
		t.Fatal(err)
	}
	if err := r.Detach(); err != nil {
		t.Fatal(err)
	}
	leave(agent.ErrDetached)
	<-done
	next := newStage(t, f.URL)
	again, left := next.host.OpenTurn(r)
	err := agui.Runtime{}.Reattach(t.Context(), next.session, left)
	if err == nil || !strings.Contains(err.Error(), "AG-UI has no way back into a run: send the prompt again") {
		t.Error(err)
	}
	_ = again.Finish(trace.Stop{})
}
