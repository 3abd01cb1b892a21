package agentops_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/tributary-dev/tributary/adapter/agentops"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/trace"
)

// decoderStage gives a Decoder the turns of a live session. The turn of a prompt is open before
// the prompt is sent.
type decoderStage struct {
	t            *testing.T
	d            *agentops.Decoder
	current      *trace.Builder
	other        *trace.Builder
	begun        []agent.TurnInfo
	texts        map[string]*strings.Builder
	n            int
	openRequests map[string]bool // requests that wait for an answer, by their ids there

	mu     sync.Mutex // Builders append on their own
	events map[string][]trace.Event
}

func newDecoderStage(t *testing.T, o agentops.Options) *decoderStage {
	return &decoderStage{t: t, d: agentops.NewDecoder(o), texts: map[string]*strings.Builder{}, openRequests: map[string]bool{}, events: map[string][]trace.Event{}}
}

func (s *decoderStage) open() *trace.Builder {
	s.n++
	name := string(rune('a' + s.n - 1))
	text := &strings.Builder{}
	s.texts[name] = text
	b := trace.NewBuilder(s.t.Context(), trace.Config{Turn: name, Append: func(_ context.Context, events []trace.Event) error {
		s.mu.Lock()
		s.events[name] = append(s.events[name], events...)
		s.mu.Unlock()
		for _, e := range events {
			if m, ok := e.Payload.(trace.Message); ok {
				text.WriteString(m.Text)
			}
		}
		return nil
	}})
	s.t.Cleanup(func() { _ = b.Finish(trace.Stop{}) })
	return b
}

// written returns the events that a turn has on record.
func (s *decoderStage) written(b *trace.Builder) []trace.Event {
	s.t.Helper()
	if err := b.Flush(); err != nil {
		s.t.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.events[b.Turn()]
}

func (s *decoderStage) Prompted(p trace.Prompt) *trace.Builder {
	return s.Begin(agent.TurnInfo{Prompt: &p})
}

func (s *decoderStage) Begin(info agent.TurnInfo) *trace.Builder {
	s.begun = append(s.begun, info)
	s.other = s.open()
	return s.other
}

// otherTurn returns the newest turn that another user began.
func (s *decoderStage) otherTurn() *trace.Builder {
	s.t.Helper()
	if s.other == nil {
		s.t.Fatal("no other user has a turn")
	}
	return s.other
}

func (s *decoderStage) Current() *trace.Builder { return s.current }
func (s *decoderStage) Note(trace.Payload)      {}

func (s *decoderStage) decode(dir agent.Dir, frame string) error {
	effects, err := s.d.Decode(agent.Message{Dir: dir, Data: json.RawMessage(frame)}, s)
	for _, e := range effects {
		switch e := e.(type) {
		case agent.Ask:
			s.openRequests[e.Native] = true
		case agent.Permit:
			s.openRequests[e.Native] = true
		case agent.Withdraw:
			delete(s.openRequests, e.Native)
		}
	}
	return err
}

// settle ends the turns that wait for a last frame. A frame without a meaning brings the effects.
func (s *decoderStage) settle() {
	s.t.Helper()
	s.d.AtEnd(s)
	s.receive(`{"type":"pong"}`)
}

func (s *decoderStage) receive(frames ...string) {
	s.t.Helper()
	for _, f := range frames {
		if err := s.decode(agent.Out, f); err != nil {
			s.t.Fatal(err)
		}
	}
}

// abort tells the session agent to stop.
func (s *decoderStage) abort() {
	s.t.Helper()
	if err := s.decode(agent.In, `{"type":"abort"}`); err != nil {
		s.t.Fatal(err)
	}
}

// prompt sends a prompt whose turn is open.
func (s *decoderStage) prompt(text string) *trace.Builder {
	s.t.Helper()
	b := s.open()
	s.current = b
	if err := s.decode(agent.In, `{"type":"prompt","content":"`+text+`"}`); err != nil {
		s.t.Fatal(err)
	}
	return b
}

const (
	helloFrame = `{"type":"init","session":{"id":"s","status":"running"},"data":{"runnerBusy":false,"pendingPrompt":null}}`
	echoFrame  = `{"type":"message","data":{"id":"p1","role":"user","content":"Go","authorId":"u1"}}`
	beginFrame = `{"type":"message","data":{"id":"t1","role":"assistant","content":"","parts":[]}}`
	sayFrame   = `{"type":"chunk","content":"One","messageId":"t1"}`
	endFrame   = `{"type":"message.updated","data":{"id":"t1","role":"assistant","parts":[{"type":"text","text":"One"},{"type":"finish","reason":"end_turn"}]}}`
	hangFrame  = `{"type":"message.updated","data":{"id":"t1","role":"assistant","parts":[{"type":"text","text":"One"},{"type":"tool-call","callId":"c","toolName":"bash","status":"running","args":{"x":1}},{"type":"finish","reason":"end_turn"}]}}`
)

// checkOver checks that a turn has ended, and goesOn that it has not.
func (s *decoderStage) checkOver(b *trace.Builder) {
	s.t.Helper()
	if !b.Over() {
		s.t.Errorf("turn %s goes on", b.Turn())
	}
}

func (s *decoderStage) checkOpen(b *trace.Builder) {
	s.t.Helper()
	if b.Over() {
		stop, _ := b.Result()
		s.t.Errorf("turn %s is over: %+v", b.Turn(), stop)
	}
}

func TestAPromptIsInItsOwnTurn(t *testing.T) {
	t.Parallel()
	s := newDecoderStage(t, agentops.Options{User: "u1"})
	s.receive(helloFrame)
	b := s.prompt("Go")
	s.checkOpen(b)
	s.receive(echoFrame)
	s.checkOpen(b)
	s.receive(beginFrame, sayFrame)
	s.checkOpen(b)
	s.receive(hangFrame)
	s.checkOpen(b)
	s.settle()
	s.checkOver(b)
	if v, ok := b.Result(); !ok || v.Outcome != trace.OutcomeCompleted || len(s.begun) > 0 {
		t.Errorf("%+v, and %d turns were begun", v, len(s.begun))
	}
}

// A prompt of this gateway waits while a turn of another user runs. The gateway has not seen the
// beginning of that turn.
func TestE34_APromptOfAnotherUserHasItsOwnTurn(t *testing.T) {
	t.Parallel()
	s := newDecoderStage(t, agentops.Options{User: "u1"})
	s.receive(strings.Replace(helloFrame, `"runnerBusy":false`, `"runnerBusy":true`, 1))
	b := s.prompt("Go")
	s.receive(`{"type":"queue.state","data":{"pending":{"messageId":"p1","content":"Go"}}}`, `{"type":"status","data":{"promptQueued":true,"queueReason":"busy"}}`)
	s.checkOpen(b)
	s.receive(`{"type":"agentStatus","status":"streaming"}`, `{"type":"chunk","content":"theirs","messageId":"t0"}`)
	s.checkOpen(b)
	if len(s.begun) != 1 {
		t.Fatalf("%d turns were begun for another user", len(s.begun))
	}
	s.receive(`{"type":"message.updated","data":{"id":"t0","role":"assistant","parts":[{"type":"text","text":"It is theirs"},{"type":"finish","reason":"end_turn"}]}}`)
	s.checkOpen(b)
	s.receive(echoFrame, `{"type":"queue.state","data":{"pending":null}}`, `{"type":"status","data":{"promptDequeued":true}}`, beginFrame, sayFrame)
	s.checkOpen(b)
	s.receive(endFrame)
	if err := b.Finish(trace.Stop{}); err != nil || s.texts["a"].String() != "One" {
		t.Errorf("our turn says %q (%v)", s.texts["a"], err)
	}
}

func TestE34_TurnsOfOthersCanBeLeftOut(t *testing.T) {
	t.Parallel()
	s := newDecoderStage(t, agentops.Options{User: "u1", OwnOnly: true})
	s.receive(helloFrame, strings.Replace(echoFrame, "u1", "u2", 1), beginFrame, sayFrame, endFrame)
	if len(s.begun) > 0 {
		t.Errorf("%d turns were begun", len(s.begun))
	}
}

func TestE30_AWithdrawnPromptEndsWithAReason(t *testing.T) {
	t.Parallel()
	s := newDecoderStage(t, agentops.Options{})
	s.receive(helloFrame)
	b := s.prompt("Go")
	s.receive(`{"type":"queue.withdrawn","data":{"messageId":"p1","content":"Go"}}`)
	if v, ok := b.Result(); !ok || v.Reason != "withdrawn" || v.Outcome != trace.OutcomeCanceled || v.Error == "" {
		t.Errorf("%+v", v)
	}
}

func TestD16_UnknownTypesAreReported(t *testing.T) {
	t.Parallel()
	s := newDecoderStage(t, agentops.Options{})
	s.receive(helloFrame, `{"type":"audit_log","entry":{}}`)
	if err := s.decode(agent.Out, `{"type":"brand-new"}`); !errors.Is(err, agent.ErrUnknownEvent) || !strings.Contains(err.Error(), "brand-new") {
		t.Errorf("%v", err)
	}
}

func TestARequestThatIsAnsweredElsewhereIsWithdrawn(t *testing.T) {
	t.Parallel()
	s := newDecoderStage(t, agentops.Options{})
	s.receive(helloFrame)
	b := s.prompt("Go")
	s.receive(echoFrame, beginFrame, `{"type":"interactive_prompt","prompt":{"id":"q","type":"question","title":"Which?","actions":[],"context":{}}}`)
	if !s.openRequests["q"] || len(b.Asked()) != 1 {
		t.Fatalf("%v, %v", s.openRequests, b.Asked())
	}
	s.receive(`{"type":"interactive_prompt_resolved","promptId":"q","resolution":{"value":"x","resolvedBy":"u2"}}`)
	if len(s.openRequests) != 0 || len(b.Asked()) != 0 {
		t.Errorf("%v, %v", s.openRequests, b.Asked())
	}
}

// An error about a frame goes to its sender alone, and ends no turn of another user.
func TestD18_AnErrorOfAPromptDoesNotEndAnotherUsersTurn(t *testing.T) {
	t.Parallel()
	s := newDecoderStage(t, agentops.Options{User: "u1"})
	s.receive(helloFrame, strings.Replace(echoFrame, "u1", "u2", 1), beginFrame, sayFrame)
	const wrong = `{"type":"error","message":"Missing content or attachments"}`
	s.receive(wrong)
	s.checkOpen(s.otherTurn())
	b := s.prompt("Mine")
	s.receive(wrong)
	if v, ok := b.Result(); !ok || v.Outcome != trace.OutcomeFailed || v.Error != "Missing content or attachments" {
		t.Errorf("%+v", v)
	}
	s.checkOpen(s.otherTurn())
}

// A queued prompt of another user is not mistaken for our prompt.
func TestE08_AQueuedPromptOfAnotherUserIsNotTakenForThisOne(t *testing.T) {
	t.Parallel()
	s := newDecoderStage(t, agentops.Options{User: "u1"})
	s.receive(helloFrame)
	b := s.prompt("Mine")
	s.receive(`{"type":"queue.state","data":{"pending":{"messageId":"p9","content":"Theirs"}}}`, `{"type":"status","data":{"promptQueued":true,"queueReason":"busy"}}`)
	s.checkOpen(b)
	s.receive(`{"type":"queue.state","data":{"pending":{"messageId":"p1","content":"Mine"}}}`, `{"type":"status","data":{"promptQueued":true,"queueReason":"busy"}}`)
	s.checkOpen(b)
}

// The turns of others are left out, and do not block our prompt.
func TestE34_ATurnThatIsLeftOutDoesNotBlockAPrompt(t *testing.T) {
	t.Parallel()
	s := newDecoderStage(t, agentops.Options{User: "u1", OwnOnly: true})
	s.receive(strings.Replace(helloFrame, `,"pendingPrompt":null`, "", 1), strings.Replace(echoFrame, "u1", "u2", 1), `{"type":"agentStatus","status":"thinking"}`)
	b := s.prompt("Mine")
	s.receive(`{"type":"queue.state","data":{"pending":{"messageId":"p2","content":"Mine"}}}`, `{"type":"status","data":{"promptQueued":true,"queuePosition":1}}`)
	s.checkOpen(b)
	s.receive(`{"type":"message","data":{"id":"t0","role":"assistant","content":"","parts":[]}}`, `{"type":"chunk","content":"theirs","messageId":"t0"}`)
	s.checkOpen(b)
	s.receive(`{"type":"message","data":{"id":"p2","role":"user","content":"Mine","authorId":"u1"}}`, `{"type":"status","data":{"promptDequeued":true,"remaining":0}}`, `{"type":"agentStatus","status":"thinking"}`, beginFrame, sayFrame)
	s.checkOpen(b)
	if len(s.begun) > 0 {
		t.Errorf("%d turns were begun", len(s.begun))
	}
}

// A whole of very many parts costs no more than in proportion to its size.
func TestASnapshotOfVeryManyPartsIsReadInLinearTime(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it takes many megabytes")
	}
	s := newDecoderStage(t, agentops.Options{User: "u1"})
	s.receive(strings.Replace(helloFrame, `"pendingPrompt":null`, `"auditLog":[]`, 1))
	s.prompt("Go")
	s.receive(echoFrame, beginFrame)
	const n = 19_000
	parts := make([]string, n)
	for i := range parts {
		parts[i] = fmt.Sprintf(`{"type":"text","text":"%d %s"}`, i, strings.Repeat("x", 80))
	}
	whole := `{"type":"message.updated","data":{"id":"t1","role":"assistant","parts":[` + strings.Join(parts, ",") + `]}}`
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	s.receive(whole, whole)
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 2<<28 {
		t.Errorf("two frames of %d bytes cost %d", len(whole), grown)
	}
}

// Prompts of others that are large and never run cost bounded memory.
func TestLargePromptsOfOthersAreBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes many megabytes")
	}
	s := newDecoderStage(t, agentops.Options{User: "u1"})
	s.receive(helloFrame)
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	content := strings.Repeat("x", 1<<20)
	for i := range 26 {
		s.receive(fmt.Sprint(`{"type":"message","data":{"id":"p`, i, `","role":"user","content":"`, content, `","authorId":"u2"}}`))
	}
	if after := heap(); after > before+20<<20 {
		t.Errorf("26 prompts of 1 MB keep %d MB", (after-before)>>20)
	}
	b := s.prompt("Go")
	s.receive(`{"type":"message","data":{"id":"mine","role":"user","content":"Go","authorId":"u1"}}`)
	s.checkOpen(b)
}

// E08: a prompt was stopped before the first frame of its turn. The turn is over when the agent
// gets the next prompt, and shows none of the answer to that one.
func TestE08_APromptThatNeverBeganEndsWhenTheNextOneStarts(t *testing.T) {
	t.Parallel()
	second := `{"type":"message","data":{"id":"p2","role":"user","content":"Two","authorId":"u2"}}`
	for name, frames := range map[string][]string{
		"today": {
			helloFrame, echoFrame, `{"type":"queue.state","data":{"pending":{"messageId":"p2","content":"Two"}}}`, `{"type":"agentStatus","status":"idle"}`,
			second, `{"type":"queue.state","data":{"pending":null}}`,
		},
	} {
		s := newDecoderStage(t, agentops.Options{User: "u1"})
		s.receive(frames[0])
		b := s.prompt("Go")
		s.receive(frames[1])
		s.checkOpen(b)
		s.receive(frames[2:]...)
		s.receive(`{"type":"status","data":{"promptDequeued":true,"remaining":0}}`, beginFrame, sayFrame, endFrame)
		if _, ended := b.Result(); !ended || s.texts["a"].String() != "" || len(s.begun) != 1 || s.begun[0].Prompt == nil || s.begun[0].Prompt.By != "u2" {
			t.Errorf("%s: the first has ended: %v, and said %q; %d turns were begun", name, ended, s.texts["a"], len(s.begun))
		}
	}
}

// E35: the server takes a prompt for the answer to a question. Only the turn of that prompt ends.
func TestE35_TheTurnOfAPromptThatWasTheAnswerEnds(t *testing.T) {
	t.Parallel()
	in := func(frame, channel string) string {
		return strings.Replace(frame, `"content"`, channel+`"content"`, 1)
	}
	for name, c := range map[string]struct {
		channel, by string
		over        bool
	}{
		"the owner's in its channel": {`"channelType":"slack","channelId":"C1",`, "u1", true},
		"somebody else has answered": {`"channelType":"slack","channelId":"C1",`, "u2", false},
		"of the web":                 {"", "u1", false},
		"in a thread":                {`"channelType":"thread","channelId":"T","threadId":"T",`, "u1", true},
		"in a thread without a type": {`"threadId":"T",`, "u1", false},
	} {
		s := newDecoderStage(t, agentops.Options{User: "u1"})
		s.receive(helloFrame, in(echoFrame, c.channel), in(beginFrame, c.channel))
		s.receive(in(`{"type":"interactive_prompt","content":"","prompt":{"id":"q","type":"question","title":"Which?","actions":[],"context":{"threadId":""}}}`, c.channel))
		b := s.open()
		s.current = b
		if err := s.decode(agent.In, in(`{"type":"prompt","content":"Blue"}`, c.channel)); err != nil {
			t.Fatal(err)
		}
		s.receive(`{"type":"interactive_prompt_resolved","promptId":"q","promptType":"question","resolution":{"value":"Blue","resolvedBy":"` + c.by + `"}}`)
		if b.Over() != c.over {
			t.Errorf("%s: the prompt is over: %v", name, b.Over())
		}
	}
}
