package agentops

import (
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/trace"
)

// The orders of frames in this file were seen of a real session agent.

const (
	idleFrame     = `{"type":"agentStatus","status":"idle"}`
	notBusyFrame  = `{"type":"status","data":{"runnerBusy":false}}`
	secondEcho    = `{"type":"message","data":{"id":"p2","role":"user","content":"On","authorId":"u1"}}`
	secondBegin   = `{"type":"message","data":{"id":"t2","role":"assistant","content":"","parts":[]}}`
	secondSay     = `{"type":"chunk","content":"Two","messageId":"t2"}`
	secondEnd     = `{"type":"message.updated","data":{"id":"t2","role":"assistant","parts":[{"type":"text","text":"Two"},{"type":"finish","reason":"end_turn"}]}}`
	wantsToAsk    = `{"type":"message.updated","data":{"id":"t1","role":"assistant","parts":[{"type":"text","text":"One"},{"type":"tool-call","callId":"c","toolName":"question","status":"pending","args":{}}]}}`
	asksFrame     = `{"type":"interactive_prompt","prompt":{"id":"q","sessionId":"s","type":"question","title":"Which?","actions":[{"id":"option_0","label":"Red"}],"context":{}}}`
	askingFrame   = `{"type":"message.updated","data":{"id":"t1","role":"assistant","parts":[{"type":"text","text":"One"},{"type":"tool-call","callId":"c","toolName":"question","status":"running","args":{"questions":["Which?"]}}]}}`
	resolvedFrame = `{"type":"interactive_prompt_resolved","promptId":"q","promptType":"question","resolution":{"value":"Red","resolvedBy":"u1"}}`
)

// A runner that is stopped says twice that it is done. What it was given in between goes
// on, however far it has come.
func TestE24_ASecondEndOfWhatWasStoppedIsNotThatOfTheNext(t *testing.T) {
	t.Parallel()
	for n, steps := range []int{0, 1, 2, 3} {
		s := newDecoderStage(t, Options{User: "u1"})
		s.take(helloFrame)
		first := s.prompt("Go")
		s.take(echoFrame, beginFrame, sayFrame)
		s.abort()
		s.take(idleFrame, idleFrame, notBusyFrame)
		s.wants(first, ended)

		second := s.prompt("On")
		s.take(secondEcho)
		goes := []string{`{"type":"agentStatus","status":"thinking"}`, secondBegin, secondSay, secondEnd}
		s.take(goes[:steps]...)
		s.take(idleFrame, notBusyFrame)
		s.take(goes[steps:]...)
		s.wants(second, ended)
		if err := second.Finish(trace.Stop{}); err != nil {
			t.Fatal(err)
		}
		if stop, _ := second.Verdict(); stop.Outcome != trace.OutcomeCompleted || s.said["b"].String() != "Two" || len(s.begun) > 0 {
			t.Errorf("%d: the second turn said %q and ended as %+v, and %d more were begun", n, s.said["b"], stop, len(s.begun))
		}

		third := s.prompt("Go") // what comes after is the end of what was not stopped
		s.take(notBusyFrame, `{"type":"message","data":{"id":"p3","role":"user","content":"Go","authorId":"u1"}}`, notBusyFrame)
		s.wants(third, ended)
	}
}

// The question comes while the call behind it has no arguments yet.
func TestE21_AQuestionIsQuickerThanTheArgumentsOfItsCall(t *testing.T) {
	t.Parallel()
	s := newDecoderStage(t, Options{User: "u1"})
	s.take(helloFrame)
	b := s.prompt("Go")
	s.take(echoFrame, beginFrame, sayFrame, idleFrame, wantsToAsk, asksFrame)
	if shown := b.Asked(); len(shown) > 0 {
		t.Errorf("%q is put to the user before the call is whole", shown)
	}
	s.take(idleFrame, askingFrame)
	if shown := b.Asked(); len(shown) != 1 {
		t.Errorf("put to the user are %q", shown)
	}
	s.take(resolvedFrame)
	if err := b.Finish(trace.Stop{}); err != nil {
		t.Fatal(err)
	}
	var inputs []string
	for _, p := range *s.payloads["a"] {
		if c, ok := p.(trace.ToolCall); ok {
			inputs = append(inputs, string(c.Input))
		}
	}
	if len(inputs) != 1 || inputs[0] != `{"questions":["Which?"]}` {
		t.Errorf("the call has the inputs %q", inputs)
	}
}

// A session agent that was started anew gives the runner once more what it was given, and
// takes the runner's word that it is at it for the end, whether or not we were there in
// time to be told. Text and end come afterwards.
func TestE32_APromptThatIsGivenOnceMoreGoesOn(t *testing.T) {
	t.Parallel()
	given := []string{idleFrame, `{"type":"queue.state","data":{"pending":null}}`, `{"type":"status","data":{"promptDequeued":true,"remaining":0}}`}
	for n, missed := range []int{0, len(given)} {
		s := newDecoderStage(t, Options{User: "u1"})
		s.take(helloFrame)
		b := s.prompt("Go")
		s.take(echoFrame, beginFrame, sayFrame)
		s.take(strings.Replace(helloFrame, `"runnerBusy":false`, `"runnerBusy":true`, 1), `{"type":"chunk","content":", two","messageId":"t1"}`)
		s.take(given[missed:]...)
		s.take(`{"type":"chunk","content":", three","messageId":"t1"}`, notBusyFrame, `{"type":"chunk","content":", four","messageId":"t1"}`)
		s.wants(b, running)
		s.take(strings.Replace(endFrame, "One", "One, two, three, four", 1), notBusyFrame)
		s.wants(b, ended)
		if err := b.Finish(trace.Stop{}); err != nil {
			t.Fatal(err)
		}
		if stop, _ := b.Verdict(); stop.Outcome != trace.OutcomeCompleted || s.said["a"].String() != "One, two, three, four" || len(s.begun) > 0 {
			t.Errorf("%d: it said %q and ended as %+v, and %d more turns were begun", n, s.said["a"], stop, len(s.begun))
		}
	}
}
