package agentops_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/adapter/agentops"
	"github.com/tributary-dev/tributary/trace"
)

// The frames about the end of a turn, or about the next turn, do not always belong to the turn
// that runs. The tests of this file say which turn each frame belongs to.

// busyFrame is the first frame of a new connection if a turn runs.
var busyFrame = strings.Replace(helloFrame, `"runnerBusy":false`, `"runnerBusy":true`, 1)

// givenFrames follow the message of a queued prompt when the agent gets the prompt.
var givenFrames = []string{`{"type":"queue.state","data":{"pending":null}}`, `{"type":"status","data":{"promptDequeued":true,"remaining":0}}`}

// otherPrompt is the message of a prompt of another user.
func otherPrompt(id, text string) string {
	return `{"type":"message","data":{"id":"` + id + `","role":"user","content":"` + text + `","authorId":"u2"}}`
}

// checkEnd checks how a turn has ended, and what it has said.
func (s *decoderStage) checkEnd(b *trace.Builder, want trace.Outcome, text string) {
	s.t.Helper()
	if err := b.Flush(); err != nil {
		s.t.Fatal(err)
	}
	stop, ended := b.Result()
	if err := b.Finish(trace.Stop{}); err != nil {
		s.t.Fatal(err)
	}
	if said := s.texts[b.Turn()].String(); !ended || stop.Outcome != want || said != text {
		s.t.Errorf("turn %s has ended %v as %+v and said %q, want %s and %q", b.Turn(), ended, stop, said, want, text)
	}
}

// A session agent that restarts in mid-turn sends the prompt to the agent again, and then believes
// that the agent is idle. A client that connects after that reads only "not busy". The next frames,
// or a tool that runs, show that the turn goes on.
func TestE32_ATurnMayGoOnAlthoughItsAgentIsReportedIdle(t *testing.T) {
	t.Parallel()
	atRest := func(connected bool, parts string) string {
		return fmt.Sprintf(`{"type":"init","session":{"id":"s","status":"running","messages":[`+
			`{"id":"p1","role":"user","content":"Go","authorId":"u1"},{"id":"t1","role":"assistant","content":"One","parts":[%s]}]},`+
			`"data":{"runnerConnected":%v,"runnerBusy":false,"pendingPrompt":null}}`, parts, connected)
	}
	tool := func(status string) string {
		return fmt.Sprintf(`{"type":"tool-call","callId":"c","toolName":"bash","status":%q,"args":{"command":"sleep 5"},"result":"ok"}`, status)
	}
	const one = `{"type":"text","text":"One"}`
	end := func(parts string) string {
		return `{"type":"message.updated","data":{"id":"t1","role":"assistant","parts":[` + parts + `,{"type":"finish","reason":"end_turn"}]}}`
	}
	begin := func() (*decoderStage, *trace.Builder) {
		s := newDecoderStage(t, agentops.Options{User: "u1"})
		s.receive(helloFrame)
		b := s.prompt("Go")
		s.receive(echoFrame, beginFrame, sayFrame)
		return s, b
	}

	s, b := begin() // more is said
	s.receive(atRest(true, one))
	s.checkOpen(b)
	s.receive(`{"type":"chunk","content":", two","messageId":"t1"}`)
	s.settle()
	s.checkOpen(b)
	s.receive(`{"type":"chunk","content":", three","messageId":"t1"}`, end(`{"type":"text","text":"One, two, three"}`), notBusyFrame)
	s.checkEnd(b, trace.OutcomeCompleted, "One, two, three")

	s, b = begin() // a tool is at work
	s.receive(atRest(true, one+","+tool("running")))
	s.settle()
	s.checkOpen(b)
	s.receive(end(one+","+tool("completed")+`,{"type":"text","text":"Two"}`), notBusyFrame)
	s.checkEnd(b, trace.OutcomeCompleted, "OneTwo")

	s, b = begin() // nothing comes
	s.receive(atRest(true, one))
	s.settle()
	s.checkEnd(b, trace.OutcomeCompleted, "One")

	s, b = begin() // no runner is connected that might go on
	s.receive(atRest(false, one))
	s.checkEnd(b, trace.OutcomeCompleted, "One")

	// The server has sent no part of the answer yet, so the answer is still to come.
	const unanswered = `{"type":"init","session":{"id":"s","status":"running","messages":[{"id":"p1","role":"user","content":"Go","authorId":"u1"}]},` +
		`"data":{"runnerConnected":true,"runnerBusy":false,"pendingPrompt":null}}`
	for _, seen := range [][]string{nil, {`{"type":"agentStatus","status":"thinking"}`}} {
		s := newDecoderStage(t, agentops.Options{User: "u1"})
		s.receive(helloFrame)
		b := s.prompt("Go")
		s.receive(append([]string{echoFrame}, seen...)...)
		s.receive(unanswered)
		s.settle()
		if b.Over() {
			t.Fatalf("%q: it is over before its answer", seen)
		}
		s.receive(beginFrame, sayFrame, end(one), notBusyFrame)
		s.checkEnd(b, trace.OutcomeCompleted, "One")
	}
}

// A stop with a single end does not swallow the end of a later turn.
func TestE24_ASingleEndDoesNotHideALaterEnd(t *testing.T) {
	t.Parallel()
	s := newDecoderStage(t, agentops.Options{User: "u1"})
	s.receive(helloFrame)
	s.prompt("Go")
	s.receive(echoFrame, beginFrame, sayFrame)
	s.abort()
	s.receive(idleFrame, notBusyFrame)
	s.settle()
	second := s.prompt("On")
	s.receive(secondEcho, secondBegin, notBusyFrame) // so a turn fails of which nothing is told
	s.checkEnd(second, trace.OutcomeFailed, "")
}

// No known turn runs, so an end belongs to an unknown turn. The next prompt does not wait for
// another end.
func TestE24_AnEndWithoutAKnownTurnDelaysNoPrompt(t *testing.T) {
	t.Parallel()
	s := newDecoderStage(t, agentops.Options{User: "u1", OwnOnly: true})
	s.receive(helloFrame)
	s.prompt("Stopped")
	s.receive(strings.NewReplacer("p1", "p0", "Go", "Stopped").Replace(echoFrame), strings.Replace(beginFrame, "t1", "t0", 1))
	s.abort()
	s.receive(notBusyFrame, busyFrame, notBusyFrame)
	b := s.prompt("Go")
	s.receive(echoFrame)
	s.checkOpen(b)
	s.receive(beginFrame, sayFrame, endFrame)
	s.checkEnd(b, trace.OutcomeCompleted, "One")
}

// A prompt that the agent got twice has its own end, and so has the next prompt.
func TestE32_TheEndAfterARedispatchedPromptBelongsToTheNext(t *testing.T) {
	t.Parallel()
	s := newDecoderStage(t, agentops.Options{User: "u1"})
	s.receive(helloFrame)
	first := s.prompt("Go")
	s.receive(echoFrame, beginFrame, sayFrame, busyFrame, endFrame)
	s.checkEnd(first, trace.OutcomeCompleted, "One")
	second := s.prompt("On")
	s.receive(secondEcho)
	s.receive(givenFrames...)
	s.receive(secondBegin, notBusyFrame)
	s.checkEnd(second, trace.OutcomeFailed, "")
}

// A turn that is stopped after a reconnect ends as canceled, not as completed.
func TestE32_ATurnThatIsStoppedAfterALossIsNotComplete(t *testing.T) {
	t.Parallel()
	s := newDecoderStage(t, agentops.Options{User: "u1"})
	s.receive(helloFrame)
	b := s.prompt("Go")
	s.receive(echoFrame, beginFrame, sayFrame, busyFrame, `{"type":"chunk","content":", two","messageId":"t1"}`)
	s.receive(idleFrame, idleFrame, notBusyFrame, notBusyFrame) // by somebody else
	s.checkEnd(b, trace.OutcomeCanceled, "One, two")
}

// After a restart, a server gives the runner its old prompt first. A queued prompt goes on
// waiting, and gets none of the text.
func TestE32_AQueuedPromptGetsNoTextOfARedispatchedOne(t *testing.T) {
	t.Parallel()
	s := newDecoderStage(t, agentops.Options{User: "u1"})
	s.receive(helloFrame, otherPrompt("p0", "Theirs"), beginFrame, sayFrame)
	first := s.otherTurn()
	ours := s.prompt("On")
	s.receive(`{"type":"queue.state","data":{"pending":{"messageId":"p2","content":"On"}}}`, `{"type":"status","data":{"promptQueued":true,"queueReason":"busy"}}`)
	s.checkOpen(ours)
	s.receive(idleFrame)
	s.receive(givenFrames...) // without a message: it was shown before
	s.checkOpen(ours)
	s.receive(`{"type":"agentStatus","status":"thinking"}`, strings.Replace(beginFrame, "t1", "t3", 1), strings.Replace(sayFrame, "t1", "t3", 1), strings.Replace(endFrame, "t1", "t3", 1))
	s.checkOpen(ours)
	s.checkEnd(first, trace.OutcomeCompleted, "OneOne")
	s.receive(secondEcho)
	s.receive(givenFrames...)
	s.receive(secondBegin, secondSay, secondEnd)
	s.checkEnd(ours, trace.OutcomeCompleted, "Two")
	if len(s.begun) != 1 {
		t.Errorf("%d turns were begun for others", len(s.begun))
	}
}

// A prompt that returned to the queue, because its runner was lost, has not ended.
func TestE32_ARequeuedPromptHasNotEnded(t *testing.T) {
	t.Parallel()
	s := newDecoderStage(t, agentops.Options{User: "u1"})
	s.receive(helloFrame)
	b := s.prompt("Go")
	s.receive(echoFrame, beginFrame, sayFrame)
	s.receive(`{"type":"init","session":{"id":"s","status":"running","messages":[{"id":"p1","role":"user","content":"Go","authorId":"u1"},{"id":"t1","role":"assistant","content":"","parts":[{"type":"text","text":"One"}]}]},"data":{"runnerBusy":false,"pendingPrompt":{"messageId":"p1","content":"Go"}}}`)
	s.receive(idleFrame)
	s.receive(givenFrames...)
	s.receive(secondBegin, secondSay, secondEnd, notBusyFrame)
	s.checkEnd(b, trace.OutcomeCompleted, "OneTwo")
}

// A turn whose end was missed is over at the latest when the agent answers the next prompt,
// of which it gets nothing.
func TestE08_AnAnswerBelongsToThePromptThatTheAgentGot(t *testing.T) {
	t.Parallel()
	s := newDecoderStage(t, agentops.Options{User: "u1"})
	s.receive(helloFrame, otherPrompt("p0", "Theirs"), beginFrame, sayFrame, busyFrame)
	first := s.otherTurn()
	s.receive(notBusyFrame) // which is taken for a repetition
	ours := s.prompt("On")
	s.receive(secondEcho, `{"type":"agentStatus","status":"thinking"}`, secondBegin, secondSay, secondEnd, notBusyFrame)
	s.checkEnd(first, trace.OutcomeCompleted, "One")
	s.checkEnd(ours, trace.OutcomeCompleted, "Two")
}

// A prompt that is collected with others is shown while the agent is at another one, and
// gets nothing of what another model says to that.
func TestE29_E08_ACollectedPromptGetsNoTextOfARunningTurn(t *testing.T) {
	t.Parallel()
	s := newDecoderStage(t, agentops.Options{User: "u1"})
	s.receive(helloFrame)
	b := s.prompt("Go")
	s.receive(echoFrame, beginFrame, sayFrame, otherPrompt("c1", "Collect"), secondBegin, secondSay, secondEnd, notBusyFrame)
	s.checkEnd(b, trace.OutcomeCompleted, "OneTwo")
	if len(s.begun) != 0 {
		t.Errorf("%d turns were begun for others", len(s.begun))
	}
}

// A prompt that nobody has heard of yet is not an earlier one that says the same.
func TestE38_APromptIsNotAnEarlierOneThatSaysTheSame(t *testing.T) {
	t.Parallel()
	s := newDecoderStage(t, agentops.Options{User: "u1"})
	s.receive(helloFrame)
	first := s.prompt("Go")
	s.receive(echoFrame, beginFrame, sayFrame, endFrame, notBusyFrame)
	s.checkEnd(first, trace.OutcomeCompleted, "One")
	second := s.prompt("Go")
	s.receive(`{"type":"init","session":{"id":"s","status":"running","messages":[{"id":"p0","role":"user","content":"Go","authorId":"u1"},{"id":"p1","role":"user","content":"Go","authorId":"u1"},{"id":"t1","role":"assistant","content":"One","parts":[{"type":"text","text":"One"},{"type":"finish","reason":"end_turn"}]}]},"data":{"runnerBusy":false,"pendingPrompt":null}}`)
	s.checkOpen(second)
	s.receive(strings.Replace(secondEcho, `"On"`, `"Go"`, 1), secondBegin, secondSay, secondEnd)
	s.checkEnd(second, trace.OutcomeCompleted, "Two")
}

// H27, E32: a prompt that the agent got while nobody looked, and of which nothing was said yet,
// may be given to the agent once more.
func TestH27_E32_APromptFromBeforeARestartIsRedispatched(t *testing.T) {
	t.Parallel()
	s := newDecoderStage(t, agentops.Options{User: "u1"})
	b := s.prompt("Go")
	s.receive(`{"type":"init","session":{"id":"s","status":"running","messages":[{"id":"p1","role":"user","content":"Go","authorId":"u1"}]},"data":{"runnerBusy":true,"pendingPrompt":null}}`)
	s.checkOpen(b)
	s.receive(givenFrames...)
	s.checkOpen(b)
	s.receive(beginFrame, sayFrame, endFrame)
	s.checkEnd(b, trace.OutcomeCompleted, "One")
}

// H27: a message of the history is the answer to the prompt before it.
func TestH27_WhoseAnswerAMessageIs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, history string // p is a prompt, t a message, ! its end
		first, second string // the messages of each turn
	}{
		{"one after the other", "p1 t1! p2 t2", "t1", "t2"},
		{"the first said nothing", "p1 p2 t2", "", "t2"},
		{"the first was stopped", "p1 t1 p2 t2", "t1", "t2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newDecoderStage(t, agentops.Options{User: "u1"})
			s.receive(helloFrame)
			first := s.prompt("p1")
			second := s.prompt("p2")
			var messages []string
			for word := range strings.FieldsSeq(c.history) {
				id, ended := strings.CutSuffix(word, "!")
				role, parts := "user", ""
				if id[0] == 't' {
					role, parts = "assistant", fmt.Sprintf(`{"type":"text","text":%q}`, id)
				}
				if ended {
					parts += `,{"type":"finish","reason":"end_turn"}`
				}
				messages = append(messages, fmt.Sprintf(`{"id":%q,"role":%q,"content":%q,"parts":[%s]}`, id, role, id, parts))
			}
			s.receive(fmt.Sprintf(`{"type":"init","session":{"id":"s","status":"running","messages":[%s]},"data":{"runnerBusy":true,"pendingPrompt":null}}`, strings.Join(messages, ",")))
			s.checkOver(first)
			s.checkOpen(second)
			for b, want := range map[*trace.Builder]string{first: c.first, second: c.second} {
				said := ""
				for _, e := range s.written(b) {
					if step, is := e.Payload.(trace.Step); is && step.NativeID != "" {
						said = step.NativeID
					}
				}
				if said != want {
					t.Errorf("turn %s has the message %q, want %q", b.Turn(), said, want)
				}
			}
		})
	}
}
