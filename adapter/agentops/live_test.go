package agentops

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/trace"
)

// decoderStage is the turns of a session that is alive: those of our prompts are opened
// before they are sent.
type decoderStage struct {
	t       *testing.T
	d       *Decoder
	current *trace.Builder
	begun   []agent.TurnInfo
	said    map[string]*strings.Builder
	n       int

	mu     sync.Mutex // Builders append on their own
	events map[string][]trace.Event
}

func newDecoderStage(t *testing.T, o Options) *decoderStage {
	return &decoderStage{t: t, d: NewDecoder(o), said: map[string]*strings.Builder{}, events: map[string][]trace.Event{}}
}

func (s *decoderStage) open() *trace.Builder {
	s.n++
	name := string(rune('a' + s.n - 1))
	text := &strings.Builder{}
	s.said[name] = text
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

// wrote is what a turn has on record.
func (s *decoderStage) wrote(b *trace.Builder) []trace.Event {
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
	return s.open()
}
func (s *decoderStage) Current() *trace.Builder { return s.current }
func (s *decoderStage) Note(trace.Payload)      {}

func (s *decoderStage) take(frames ...string) {
	s.t.Helper()
	for _, f := range frames {
		if _, err := s.d.Decode(agent.Message{Dir: agent.Out, Data: json.RawMessage(f)}, s); err != nil {
			s.t.Fatal(err)
		}
	}
}

// abort tells the session agent to stop.
func (s *decoderStage) abort() {
	s.t.Helper()
	if _, err := s.d.Decode(agent.Message{Dir: agent.In, Data: json.RawMessage(`{"type":"abort"}`)}, s); err != nil {
		s.t.Fatal(err)
	}
}

// prompt sends a prompt whose turn is open.
func (s *decoderStage) prompt(text string) *trace.Builder {
	s.t.Helper()
	b := s.open()
	s.current = b
	if _, err := s.d.Decode(agent.Message{Dir: agent.In, Data: json.RawMessage(`{"type":"prompt","content":"` + text + `"}`)}, s); err != nil {
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

func (s *decoderStage) wants(b *trace.Builder, want phase) {
	s.t.Helper()
	if got := s.d.phase(b); got != want {
		s.t.Errorf("the prompt is in phase %d, want %d", got, want)
	}
}

func TestAPromptIsInItsOwnTurn(t *testing.T) {
	t.Parallel()
	s := newDecoderStage(t, Options{User: "u1"})
	s.take(helloFrame)
	b := s.prompt("Go")
	s.wants(b, sent)
	s.take(echoFrame)
	s.wants(b, given)
	s.take(beginFrame, sayFrame)
	s.wants(b, running)
	s.take(hangFrame)
	s.wants(b, finishing)
	s.d.settle(s)
	s.wants(b, ended)
	if v, ok := b.Verdict(); !ok || v.Outcome != trace.OutcomeCompleted || len(s.begun) > 0 {
		t.Errorf("%+v, and %d turns were begun", v, len(s.begun))
	}
}

// TestE34_WhatOthersAskIsNotOurs: our prompt waits while another's turn runs, whose
// beginning nobody here has seen.
func TestE34_WhatOthersAskIsNotOurs(t *testing.T) {
	t.Parallel()
	s := newDecoderStage(t, Options{User: "u1"})
	s.take(strings.Replace(helloFrame, `"runnerBusy":false`, `"runnerBusy":true`, 1))
	b := s.prompt("Go")
	s.take(`{"type":"queue.state","data":{"pending":{"messageId":"p1","content":"Go"}}}`, `{"type":"status","data":{"promptQueued":true,"queueReason":"busy"}}`)
	s.wants(b, queued)
	s.take(`{"type":"agentStatus","status":"streaming"}`, `{"type":"chunk","content":"theirs","messageId":"t0"}`)
	s.wants(b, queued)
	if len(s.begun) != 1 {
		t.Fatalf("%d turns were begun for somebody else", len(s.begun))
	}
	s.take(`{"type":"message.updated","data":{"id":"t0","role":"assistant","parts":[{"type":"text","text":"It is theirs"},{"type":"finish","reason":"end_turn"}]}}`)
	s.wants(b, queued)
	s.take(echoFrame, `{"type":"queue.state","data":{"pending":null}}`, `{"type":"status","data":{"promptDequeued":true}}`, beginFrame, sayFrame)
	s.wants(b, running)
	s.take(endFrame)
	if err := b.Finish(trace.Stop{}); err != nil || s.said["a"].String() != "One" {
		t.Errorf("our turn says %q (%v)", s.said["a"], err)
	}
}

func TestE34_TurnsOfOthersCanBeLeftOut(t *testing.T) {
	t.Parallel()
	s := newDecoderStage(t, Options{User: "u1", OwnOnly: true})
	s.take(helloFrame, strings.Replace(echoFrame, "u1", "u2", 1), beginFrame, sayFrame, endFrame)
	if len(s.begun) > 0 {
		t.Errorf("%d turns were begun", len(s.begun))
	}
}

func TestE30_WhoWaitsForAPromptThatIsTakenBackIsTold(t *testing.T) {
	t.Parallel()
	s := newDecoderStage(t, Options{})
	s.take(helloFrame)
	b := s.prompt("Go")
	s.take(`{"type":"queue.withdrawn","data":{"messageId":"p1","content":"Go"}}`)
	if v, ok := b.Verdict(); !ok || v.Reason != "withdrawn" || v.Outcome != trace.OutcomeCanceled || v.Error == "" {
		t.Errorf("%+v", v)
	}
}

func TestE31_ASessionIsOnItsWayUpUntilSomethingRuns(t *testing.T) {
	t.Parallel()
	s := newDecoderStage(t, Options{})
	s.take(strings.Replace(helloFrame, `"status":"running"`, `"status":"hibernated"`, 1))
	if !s.d.waking() {
		t.Error("a session that sleeps does not wake")
	}
	s.prompt("Go")
	s.take(`{"type":"status","data":{"status":"restoring"}}`, `{"type":"status","data":{"promptQueued":true,"queueReason":"waking"}}`)
	if !s.d.waking() {
		t.Error("it is awake already")
	}
	s.take(echoFrame, beginFrame)
	if s.d.waking() {
		t.Error("it still wakes")
	}
}

func TestD16_TypesThatNobodyKnowsAreTold(t *testing.T) {
	t.Parallel()
	s := newDecoderStage(t, Options{})
	s.take(helloFrame, `{"type":"brand-new"}`, `{"type":"audit_log","entry":{}}`)
	if fresh := s.d.take(); len(fresh.unknown) != 1 || fresh.unknown[0] != "brand-new" {
		t.Errorf("%q", fresh.unknown)
	}
	if fresh := s.d.take(); len(fresh.unknown) != 0 {
		t.Error("they are told twice")
	}
}

func TestWhatIsAskedAndSettledElsewhereIsTold(t *testing.T) {
	t.Parallel()
	s := newDecoderStage(t, Options{})
	s.take(helloFrame)
	b := s.prompt("Go")
	s.take(echoFrame, beginFrame, `{"type":"interactive_prompt","prompt":{"id":"q","type":"question","title":"Which?","actions":[],"context":{}}}`)
	fresh := s.d.take()
	if len(fresh.asks) != 1 || !fresh.asks[0].question || fresh.asks[0].id != "q" || len(b.Asked()) != 1 {
		t.Fatalf("%+v", fresh.asks)
	}
	s.take(`{"type":"interactive_prompt_resolved","promptId":"q","resolution":{"value":"x","resolvedBy":"u2"}}`)
	if fresh := s.d.take(); len(fresh.settled) != 1 || fresh.settled[0] != "q" || len(b.Asked()) != 0 {
		t.Errorf("%+v", fresh.settled)
	}
}

// What is wrong with a frame is told to its sender alone, and is no end of what runs
// for somebody else.
func TestD18_WhatIsWrongWithAPromptEndsNobodyElsesTurn(t *testing.T) {
	t.Parallel()
	s := newDecoderStage(t, Options{User: "u1"})
	s.take(helloFrame, strings.Replace(echoFrame, "u1", "u2", 1), beginFrame, sayFrame)
	const wrong = `{"type":"error","message":"Missing content or attachments"}`
	s.take(wrong)
	if len(s.d.runs) != 1 {
		t.Fatal("the other's turn has ended")
	}
	b := s.prompt("Mine")
	s.take(wrong)
	if v, ok := b.Verdict(); !ok || v.Outcome != trace.OutcomeFailed || v.Error != "Missing content or attachments" || len(s.d.runs) != 1 {
		t.Errorf("%+v, and %d turns run", v, len(s.d.runs))
	}
}

// A prompt keeps its sender, whoever prompts next.
func TestE38_APromptIsThatOfWhoSentIt(t *testing.T) {
	t.Parallel()
	s := newDecoderStage(t, Options{User: "u1", Told: true})
	s.take(helloFrame)
	first := s.prompt("Go")
	s.d.user = "u2"
	second := s.prompt("Other")
	s.take(echoFrame, beginFrame, sayFrame)
	s.wants(first, running)
	s.wants(second, sent)
	s.take(`{"type":"user.joined","userId":"u3"}`, `{"type":"message","data":{"id":"p2","role":"user","content":"Other","authorId":"u2"}}`)
	s.wants(second, given)
}

// Another's prompt that waits is not ours that waits.
func TestE08_AnothersPromptThatWaitsIsNotOurs(t *testing.T) {
	t.Parallel()
	s := newDecoderStage(t, Options{User: "u1"})
	s.take(helloFrame)
	b := s.prompt("Mine")
	s.take(`{"type":"queue.state","data":{"pending":{"messageId":"p9","content":"Theirs"}}}`, `{"type":"status","data":{"promptQueued":true,"queueReason":"busy"}}`)
	s.wants(b, sent)
	s.take(`{"type":"queue.state","data":{"pending":{"messageId":"p1","content":"Mine"}}}`, `{"type":"status","data":{"promptQueued":true,"queueReason":"busy"}}`)
	s.wants(b, queued)
}

// What others began is left out, and does not stand in the way of what is ours.
func TestE34_WhatIsLeftOutDoesNotTakeOurPlace(t *testing.T) {
	t.Parallel()
	s := newDecoderStage(t, Options{User: "u1", OwnOnly: true})
	s.take(strings.Replace(helloFrame, `,"pendingPrompt":null`, "", 1), strings.Replace(echoFrame, "u1", "u2", 1), `{"type":"agentStatus","status":"thinking"}`)
	b := s.prompt("Mine")
	s.take(`{"type":"queue.state","data":{"pending":{"messageId":"p2","content":"Mine"}}}`, `{"type":"status","data":{"promptQueued":true,"queuePosition":1}}`)
	s.wants(b, queued)
	s.take(`{"type":"message","data":{"id":"t0","role":"assistant","content":"","parts":[]}}`, `{"type":"chunk","content":"theirs","messageId":"t0"}`)
	s.wants(b, queued)
	s.take(`{"type":"message","data":{"id":"p2","role":"user","content":"Mine","authorId":"u1"}}`, `{"type":"status","data":{"promptDequeued":true,"remaining":0}}`, `{"type":"agentStatus","status":"thinking"}`, beginFrame, sayFrame)
	s.wants(b, running)
	if len(s.begun) > 0 {
		t.Errorf("%d turns were begun", len(s.begun))
	}
}

// A whole of very many parts costs no more than in proportion to its size.
func TestAWholeOfVeryManyPartsIsReadInLinearTime(t *testing.T) {
	t.Parallel()
	s := newDecoderStage(t, Options{User: "u1"})
	s.take(strings.Replace(helloFrame, `"pendingPrompt":null`, `"auditLog":[]`, 1))
	s.prompt("Go")
	s.take(echoFrame, beginFrame)
	const n = 19_000
	parts := make([]string, n)
	for i := range parts {
		parts[i] = fmt.Sprintf(`{"type":"text","text":"%d %s"}`, i, strings.Repeat("x", 800))
	}
	whole := `{"type":"message.updated","data":{"id":"t1","role":"assistant","parts":[` + strings.Join(parts, ",") + `]}}`
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	s.take(whole, whole)
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 2<<30 {
		t.Errorf("two frames of %d bytes cost %d", len(whole), grown)
	}
}

// Prompts of others that are large and never run cost bounded memory.
func TestLargePromptsOfOthersAreBounded(t *testing.T) {
	s := newDecoderStage(t, Options{User: "u1"})
	s.take(helloFrame)
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	content := strings.Repeat("x", 1<<20)
	for i := range 70 {
		s.take(fmt.Sprintf(`{"type":"message","data":{"id":"p%d","role":"user","content":%q,"authorId":"u2"}}`, i, content))
	}
	if after := heap(); after > before+40<<20 {
		t.Errorf("70 prompts of 1 MB keep %d MB", (after-before)>>20)
	}
	b := s.prompt("Go")
	s.take(`{"type":"message","data":{"id":"mine","role":"user","content":"Go","authorId":"u1"}}`)
	s.wants(b, given)
}

// E08: a prompt that was stopped before anything was seen of its turn is over when the
// next one is given to the agent, which is not to speak in its place.
func TestE08_APromptThatNeverBeganIsOverWhenTheNextIsGiven(t *testing.T) {
	t.Parallel()
	second := `{"type":"message","data":{"id":"p2","role":"user","content":"Two","authorId":"u2"}}`
	for name, frames := range map[string][]string{
		"today": {
			helloFrame, echoFrame, `{"type":"queue.state","data":{"pending":{"messageId":"p2","content":"Two"}}}`, `{"type":"agentStatus","status":"idle"}`,
			second, `{"type":"queue.state","data":{"pending":null}}`,
		},
	} {
		s := newDecoderStage(t, Options{User: "u1"})
		s.take(frames[0])
		b := s.prompt("Go")
		s.take(frames[1])
		s.wants(b, given)
		s.take(frames[2:]...)
		s.take(`{"type":"status","data":{"promptDequeued":true,"remaining":0}}`, beginFrame, sayFrame, endFrame)
		if _, ended := b.Verdict(); !ended || s.said["a"].String() != "" || len(s.begun) != 1 || s.begun[0].Prompt == nil || s.begun[0].Prompt.By != "u2" {
			t.Errorf("%s: the first has ended: %v, and said %q; %d turns were begun", name, ended, s.said["a"], len(s.begun))
		}
	}
}

// E35: what is ended because it was the answer is the turn of the prompt that was taken for
// it, and no other.
func TestE35_TheTurnOfAPromptThatWasTheAnswerEnds(t *testing.T) {
	t.Parallel()
	in := func(frame, channel string) string {
		return strings.Replace(frame, `"content"`, channel+`"content"`, 1)
	}
	for name, c := range map[string]struct {
		channel, by string
		want        phase
	}{
		"the owner's in its channel": {`"channelType":"slack","channelId":"C1",`, "u1", ended},
		"somebody else has answered": {`"channelType":"slack","channelId":"C1",`, "u2", sent},
		"of the web":                 {"", "u1", sent},
		"in a thread":                {`"channelType":"thread","channelId":"T","threadId":"T",`, "u1", ended},
		"in a thread without a type": {`"threadId":"T",`, "u1", sent},
	} {
		s := newDecoderStage(t, Options{User: "u1"})
		s.take(helloFrame, in(echoFrame, c.channel), in(beginFrame, c.channel))
		s.take(in(`{"type":"interactive_prompt","content":"","prompt":{"id":"q","type":"question","title":"Which?","actions":[],"context":{"threadId":""}}}`, c.channel))
		b := s.open()
		s.current = b
		if _, err := s.d.Decode(agent.Message{Dir: agent.In, Data: json.RawMessage(in(`{"type":"prompt","content":"Blue"}`, c.channel))}, s); err != nil {
			t.Fatal(err)
		}
		s.take(`{"type":"interactive_prompt_resolved","promptId":"q","promptType":"question","resolution":{"value":"Blue","resolvedBy":"` + c.by + `"}}`)
		if got := s.d.phase(b); got != c.want {
			t.Errorf("%s: the prompt is in phase %d, want %d", name, got, c.want)
		}
	}
}
