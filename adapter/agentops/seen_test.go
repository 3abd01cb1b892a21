package agentops_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/adapter/agentops"
	"github.com/tributary-dev/tributary/trace"
)

// A real session agent has sent its frames in the orders of this file.

const (
	idleFrame    = `{"type":"agentStatus","status":"idle"}`
	notBusyFrame = `{"type":"status","data":{"runnerBusy":false}}`
	secondEcho   = `{"type":"message","data":{"id":"p2","role":"user","content":"On","authorId":"u1"}}`
	secondBegin  = `{"type":"message","data":{"id":"t2","role":"assistant","content":"","parts":[]}}`
	secondSay    = `{"type":"chunk","content":"Two","messageId":"t2"}`
	secondEnd    = `{"type":"message.updated","data":{"id":"t2","role":"assistant","parts":[{"type":"text","text":"Two"},{"type":"finish","reason":"end_turn"}]}}`
)

// A stopped runner sends its end twice. A prompt that began in between goes on.
func TestE24_ASecondEndOfAStoppedTurnDoesNotEndTheNext(t *testing.T) {
	t.Parallel()
	for n, steps := range []int{0, 1, 2, 3} {
		s := newDecoderStage(t, agentops.Options{User: "u1"})
		s.receive(helloFrame)
		first := s.prompt("Go")
		s.receive(echoFrame, beginFrame, sayFrame)
		s.abort()
		s.receive(idleFrame, idleFrame, notBusyFrame)
		s.checkOver(first)

		second := s.prompt("On")
		s.receive(secondEcho)
		goes := []string{`{"type":"agentStatus","status":"thinking"}`, secondBegin, secondSay, secondEnd}
		s.receive(goes[:steps]...)
		s.receive(idleFrame, notBusyFrame)
		s.receive(goes[steps:]...)
		s.checkOver(second)
		if err := second.Finish(trace.Stop{}); err != nil {
			t.Fatal(err)
		}
		if stop, _ := second.Result(); stop.Outcome != trace.OutcomeCompleted || s.texts["b"].String() != "Two" || len(s.begun) > 0 {
			t.Errorf("%d: the second turn said %q and ended as %+v, and %d more were begun", n, s.texts["b"], stop, len(s.begun))
		}

		third := s.prompt("Go") // what comes after is the end of what was not stopped
		s.receive(notBusyFrame, `{"type":"message","data":{"id":"p3","role":"user","content":"Go","authorId":"u1"}}`, notBusyFrame)
		s.checkOver(third)
	}
}

// A request comes while its call has no arguments yet.
func TestE21_ARequestMayComeBeforeTheArgumentsOfItsCall(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ tool, args, ask, answer string }{
		{
			"question", `{"questions":["Which?"]}`,
			`{"type":"interactive_prompt","prompt":{"id":"q","sessionId":"s","type":"question","title":"Which?","actions":[{"id":"option_0","label":"Red"}],"context":{}}}`,
			`{"type":"interactive_prompt_resolved","promptId":"q","promptType":"question","resolution":{"value":"Red","resolvedBy":"u1"}}`,
		},
		{
			"call_tool", `{"tool_id":"gmail:send","params":"{}"}`,
			`{"type":"interactive_prompt","prompt":{"id":"q","sessionId":"s","type":"approval","title":"Action requires approval","body":"Send it","actions":[],"context":{"toolId":"gmail:send","params":{}}}}`,
			`{"type":"interactive_prompt_resolved","promptId":"q","promptType":"approval","resolution":{"actionId":"approve","resolvedBy":"u1"}}`,
		},
	} {
		call := func(status, args string) string {
			return fmt.Sprintf(`{"type":"message.updated","data":{"id":"t1","role":"assistant","parts":[{"type":"text","text":"One"},{"type":"tool-call","callId":"c","toolName":%q,"status":%q,"args":%s}]}}`, c.tool, status, args)
		}
		begin := func() (*decoderStage, *trace.Builder) {
			s := newDecoderStage(t, agentops.Options{User: "u1"})
			s.receive(helloFrame)
			b := s.prompt("Go")
			s.receive(echoFrame, beginFrame, sayFrame, idleFrame, call("pending", "{}"), c.ask)
			if shown := b.Asked(); len(shown) > 0 {
				t.Errorf("%s: %q is shown to the user before the call is complete", c.tool, shown)
			}
			return s, b
		}
		s, b := begin()
		s.receive(idleFrame, call("running", c.args))
		if shown := b.Asked(); len(shown) != 1 {
			t.Errorf("%s: put to the user are %q", c.tool, shown)
		}
		s.receive(c.answer)
		if err := b.Finish(trace.Stop{}); err != nil {
			t.Fatal(err)
		}
		var calls, about []string
		for _, e := range s.events["a"] {
			switch p := e.Payload.(type) {
			case trace.ToolCall:
				calls = append(calls, p.RawName+string(p.Input))
			case trace.Question:
				about = append(about, p.ToolCallID)
			case trace.PermissionRequest:
				about = append(about, p.ToolCallID)
			}
		}
		if !slices.Equal(calls, []string{c.tool + c.args}) || !slices.Equal(about, []string{"c"}) {
			t.Errorf("%s: the calls are %q, and the requests are about %q", c.tool, calls, about)
		}

		s, b = begin() // the arguments do not come
		s.settle()
		b.Present() // as the hub does after a while
		if shown := b.Asked(); len(shown) != 1 {
			t.Errorf("%s: put to the user are %q", c.tool, shown)
		}
		s, b = begin() // it has its answer before that
		s.receive(c.answer)
		s.settle()
		if shown := b.Asked(); len(shown) != 0 {
			t.Errorf("%s: put to the user are %q", c.tool, shown)
		}
	}
}

// A request comes before its message, or before its call. On record, the earlier text comes first,
// then one call, then the request.
func TestE21_ARequestMayComeBeforeItsCall(t *testing.T) {
	t.Parallel()
	const text = `{"type":"text","text":"One"}`
	for _, c := range []struct{ tool, args, ask, answer string }{
		{
			"question", `{"questions":["Which?"]}`,
			`{"type":"interactive_prompt","prompt":{"id":"que_1","sessionId":"s","type":"question","title":"Which?","actions":[{"id":"option_0","label":"Red"}],"context":{}}}`,
			`{"type":"interactive_prompt_resolved","promptId":"que_1","promptType":"question","resolution":{"value":"Red","resolvedBy":"u1"}}`,
		},
		{
			"call_tool", `{"tool_id":"gmail:send","params":"{}"}`,
			`{"type":"interactive_prompt","prompt":{"id":"q","sessionId":"s","type":"approval","title":"Action requires approval","body":"Send it","actions":[],"context":{"toolId":"gmail:send","params":{}}}}`,
			`{"type":"interactive_prompt_resolved","promptId":"q","promptType":"approval","resolution":{"actionId":"approve","resolvedBy":"u1"}}`,
		},
	} {
		call := func(status, args string) string {
			return fmt.Sprintf(`{"type":"message.updated","data":{"id":"t1","role":"assistant","parts":[%s,{"type":"tool-call","callId":"c","toolName":%q,"status":%q,"args":%s}]}}`, text, c.tool, status, args)
		}
		later := []string{`{"type":"agentStatus","status":"streaming"}`, beginFrame, sayFrame, idleFrame, call("pending", "{}")}
		for n := range later {
			s := newDecoderStage(t, agentops.Options{User: "u1"})
			s.receive(helloFrame)
			b := s.prompt("Go")
			s.receive(echoFrame, `{"type":"agentStatus","status":"thinking"}`)
			s.receive(later[:n]...)
			s.receive(c.ask)
			s.receive(later[n:]...)
			if shown := b.Asked(); len(shown) > 0 {
				t.Errorf("%s, after %d: %q is shown to the user before the call is complete", c.tool, n, shown)
			}
			s.receive(idleFrame, call("running", c.args))
			if shown := b.Asked(); len(shown) != 1 {
				t.Errorf("%s, after %d: the user sees %q", c.tool, n, shown)
			}
			s.receive(c.answer)
			if err := b.Finish(trace.Stop{}); err != nil {
				t.Fatal(err)
			}
			var order []string
			for _, e := range s.events["a"] {
				switch p := e.Payload.(type) {
				case trace.Message:
					order = append(order, p.Text)
				case trace.ToolCall:
					order = append(order, p.RawName+string(p.Input))
				case trace.Question:
					order = append(order, "asked about "+p.ToolCallID)
				case trace.PermissionRequest:
					order = append(order, "asked about "+p.ToolCallID)
				}
			}
			if !slices.Equal(order, []string{"One", c.tool + c.args, "asked about c"}) {
				t.Errorf("%s, after %d: there are %q", c.tool, n, order)
			}
		}

		s := newDecoderStage(t, agentops.Options{User: "u1"}) // no call comes
		s.receive(helloFrame)
		b := s.prompt("Go")
		s.receive(echoFrame, c.ask)
		s.settle()
		b.Present()
		if shown := b.Asked(); len(shown) != 1 {
			t.Errorf("%s: put to the user are %q", c.tool, shown)
		}
	}
}

// Several questions of one call are asked together, as soon as the call is known.
func TestE21_SeveralQuestionsOfOneCallWaitTogether(t *testing.T) {
	t.Parallel()
	ask := func(n int) string {
		return fmt.Sprintf(`{"type":"interactive_prompt","prompt":{"id":"que_1:%d","sessionId":"s","type":"question","title":"Which?","actions":[],"context":{}}}`, n)
	}
	call := func(status, args string) string {
		return fmt.Sprintf(`{"type":"message.updated","data":{"id":"t1","role":"assistant","parts":[{"type":"tool-call","callId":"c","toolName":"question","status":%q,"args":%s}]}}`, status, args)
	}
	rest := []string{beginFrame, call("pending", "{}"), call("running", `{"questions":["Which?","Where?","When?"]}`)}
	for n := range len(rest) + 1 {
		s := newDecoderStage(t, agentops.Options{User: "u1"})
		s.receive(helloFrame)
		s.prompt("Go")
		s.receive(echoFrame)
		s.receive(rest[:n]...)
		s.receive(ask(0), ask(1), ask(2))
		if asked := len(s.openRequests); (asked == 0) != (n < len(rest)) {
			t.Errorf("%d: %d requests are open at first", n, asked)
		}
		s.receive(rest[n:]...)
		if asked := len(s.openRequests); asked != 3 {
			t.Errorf("%d: %d requests are open", n, asked)
		}
	}
}

// After a restart, the session agent gives the runner its prompt again, and mistakes the
// receipt for the end. The text and the end come later.
func TestE32_ARedispatchedPromptGoesOn(t *testing.T) {
	t.Parallel()
	given := []string{idleFrame, `{"type":"queue.state","data":{"pending":null}}`, `{"type":"status","data":{"promptDequeued":true,"remaining":0}}`}
	for n, missed := range []int{0, len(given)} {
		s := newDecoderStage(t, agentops.Options{User: "u1"})
		s.receive(helloFrame)
		b := s.prompt("Go")
		s.receive(echoFrame, beginFrame, sayFrame)
		s.receive(strings.Replace(helloFrame, `"runnerBusy":false`, `"runnerBusy":true`, 1), `{"type":"chunk","content":", two","messageId":"t1"}`)
		s.receive(given[missed:]...)
		s.receive(`{"type":"chunk","content":", three","messageId":"t1"}`, notBusyFrame, `{"type":"chunk","content":", four","messageId":"t1"}`)
		s.checkOpen(b)
		s.receive(strings.Replace(endFrame, "One", "One, two, three, four", 1), notBusyFrame)
		s.checkOver(b)
		if err := b.Finish(trace.Stop{}); err != nil {
			t.Fatal(err)
		}
		if stop, _ := b.Result(); stop.Outcome != trace.OutcomeCompleted || s.texts["a"].String() != "One, two, three, four" || len(s.begun) > 0 {
			t.Errorf("%d: it said %q and ended as %+v, and %d more turns were begun", n, s.texts["a"], stop, len(s.begun))
		}
	}
}

// A user in Agent Ops promotes a prompt that waits, and the running turn is stopped. The session
// agent queues the prompt again under another id, or gives the prompt to the agent under that id.
func TestE08_APromotedPromptKeepsItsTurn(t *testing.T) {
	t.Parallel()
	const empty = `{"type":"queue.state","data":{"pending":null}}`
	waits := func(id string) []string {
		return []string{
			fmt.Sprintf(`{"type":"queue.state","data":{"pending":{"messageId":%q,"content":"On"}}}`, id),
			`{"type":"status","data":{"promptQueued":true,"queuePosition":1,"queueReason":"busy"}}`,
		}
	}
	for n, frames := range [][]string{
		slices.Concat([]string{empty, idleFrame}, waits("p2"), []string{idleFrame, secondEcho, empty, idleFrame, `{"type":"status","data":{"promptDequeued":true,"remaining":0}}`}),
		{empty, secondEcho},
	} {
		s := newDecoderStage(t, agentops.Options{User: "u1"})
		s.receive(helloFrame, strings.Replace(strings.Replace(echoFrame, `"Go"`, `"Theirs"`, 1), `"u1"`, `"u2"`, 1), beginFrame, sayFrame)
		b := s.prompt("On")
		s.receive(waits("p0")...)
		if n > 0 {
			s.receive(endFrame)
		}
		s.receive(frames...)
		s.receive(secondBegin, secondSay, secondEnd, notBusyFrame)
		s.checkOver(b)
		if err := b.Finish(trace.Stop{}); err != nil {
			t.Fatal(err)
		}
		if stop, _ := b.Result(); stop.Outcome != trace.OutcomeCompleted || s.texts[b.Turn()].String() != "Two" || len(s.begun) != 1 {
			t.Errorf("%d: it said %q and ended as %+v, and %d were begun", n, s.texts[b.Turn()], stop, len(s.begun))
		}
	}
}

// The session agent repeats the requests of a stopped turn until they expire. No later turn asks
// them.
func TestE28_ARequestOfAStoppedTurnIsNotAskedByTheNext(t *testing.T) {
	t.Parallel()
	for _, ask := range []string{
		`{"type":"interactive_prompt","prompt":{"id":"que_1","sessionId":"s","type":"question","title":"Which?","actions":[],"context":{}}}`,
		`{"type":"interactive_prompt","prompt":{"id":"q","sessionId":"s","type":"approval","title":"Action requires approval","actions":[],"context":{"toolId":"gmail:send"}}}`,
	} {
		s := newDecoderStage(t, agentops.Options{User: "u1"})
		s.receive(helloFrame)
		first := s.prompt("Go")
		s.receive(echoFrame, beginFrame, sayFrame, ask)
		s.settle()
		s.abort()
		s.receive(idleFrame, notBusyFrame, notBusyFrame)
		s.checkOver(first)
		b := s.prompt("On")
		s.receive(secondEcho, secondBegin, busyFrame, ask) // through a new connection
		s.settle()
		if asked := len(s.openRequests); asked != 0 {
			t.Errorf("%d are asked", asked)
		}
		s.receive(secondSay, secondEnd, notBusyFrame)
		s.checkEnd(b, trace.OutcomeCompleted, "Two")

		s = newDecoderStage(t, agentops.Options{User: "u1"}) // a connection for this turn alone
		s.receive(helloFrame)
		b = s.prompt("On")
		s.receive(ask)
		s.settle()
		if asked := len(s.openRequests); asked != 0 {
			t.Errorf("%d are asked", asked)
		}
		s.receive(secondEcho, secondBegin, secondSay, secondEnd, notBusyFrame)
		s.checkEnd(b, trace.OutcomeCompleted, "Two")
	}
}

// A session agent gives each error an id. An error of the runner fails the next prompt too.
func TestG03_TheSameErrorFailsTheNextPromptToo(t *testing.T) {
	t.Parallel()
	s := newDecoderStage(t, agentops.Options{User: "u1"})
	s.receive(strings.Replace(helloFrame, `"pendingPrompt":null`, `"auditLog":[]`, 1))
	for n := range 3 {
		b := s.prompt("Go")
		s.receive(strings.Replace(echoFrame, "p1", fmt.Sprint("p", n), 1))
		s.receive(fmt.Sprintf(`{"type":"error","messageId":"e%d","error":"no model"}`, n), notBusyFrame, idleFrame)
		if stop, _ := b.Result(); stop.Outcome != trace.OutcomeFailed || stop.Error != "no model" {
			t.Errorf("the turn ended as %+v", stop)
		}
	}
}

// The number of open requests is bounded. Deferred requests count too.
func TestOpenRequestsAreBounded(t *testing.T) {
	t.Parallel()
	s := newDecoderStage(t, agentops.Options{User: "u1"})
	s.receive(helloFrame)
	s.prompt("Go")
	s.receive(echoFrame, beginFrame, `{"type":"message.updated","data":{"id":"t1","role":"assistant","parts":[{"type":"tool-call","callId":"c","toolName":"call_tool","status":"pending","args":{}}]}}`)
	for n := range 2 * 256 {
		s.receive(fmt.Sprintf(`{"type":"interactive_prompt","prompt":{"id":"a%d","type":"approval","title":"May I?","actions":[],"context":{"toolId":"gmail:send"}}}`, n))
		s.receive(fmt.Sprintf(`{"type":"interactive_prompt","prompt":{"id":"q%d","type":"question","title":"Which?","actions":[],"context":{}}}`, n))
	}
	s.settle()
	if n := len(s.openRequests); n != 256 {
		t.Errorf("%d are asked", n)
	}
}

// A deferred request that the session agent repeats is asked once.
func TestARepeatedDeferredRequestIsAskedOnce(t *testing.T) {
	t.Parallel()
	s := newDecoderStage(t, agentops.Options{User: "u1"})
	s.receive(helloFrame)
	b := s.prompt("Go")
	call := func(status, args string) string {
		return fmt.Sprintf(`{"type":"message.updated","data":{"id":"t1","role":"assistant","parts":[{"type":"tool-call","callId":"c","toolName":"question","status":%q,"args":%s}]}}`, status, args)
	}
	const ask = `{"type":"interactive_prompt","prompt":{"id":"q","sessionId":"s","type":"question","title":"Which?","actions":[],"context":{}}}`
	s.receive(echoFrame, beginFrame, call("pending", "{}"), ask, call("pending", `{"questions":["Which?"]}`), ask, call("running", `{"questions":["Which?"]}`))
	asked := 0
	for _, e := range s.written(b) {
		if _, is := e.Payload.(trace.Question); is {
			asked++
		}
	}
	if asked != 1 {
		t.Errorf("it is asked %d times", asked)
	}
}
