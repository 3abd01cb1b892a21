package agentops

import (
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
