package wire_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tributary-dev/tributary/adapter/agentops/wire"
)

func yes() *bool { t := true; return &t }

// frames are one of each kind, as they go over the wire and as they are here.
func frames() []struct {
	d     wire.Direction
	wire  string
	frame wire.Frame
} {
	thread := wire.Channel{ChannelType: "thread", ChannelID: "t1"}
	return []struct {
		d     wire.Direction
		wire  string
		frame wire.Frame
	}{
		{
			wire.ToBrowser, `{"type":"message","data":{"id":"m","role":"assistant","content":"","parts":[],"createdAt":1772150401}}`,
			wire.MessageAdded{Data: wire.Message{ID: "m", Role: wire.RoleAssistant, Parts: wire.Parts{}, CreatedAt: 1772150401}},
		},
		{
			wire.ToBrowser, `{"type":"chunk","content":"Hi <b>","messageId":"m","channelType":"thread","channelId":"t1"}`,
			wire.Chunk{Content: "Hi <b>", MessageID: "m", Channel: thread},
		},
		{
			wire.ToBrowser, `{"type":"message.updated","data":{"id":"m","role":"assistant","content":"x","parts":[{"type":"text","text":"x"},{"type":"tool-call","callId":"c","toolName":"bash","status":"pending","args":{}},{"type":"finish","reason":"end_turn"}]}}`,
			wire.MessageUpdated{Data: wire.Message{ID: "m", Role: "assistant", Content: "x", Parts: wire.Parts{
				{Type: "text", Text: "x"},
				{Type: "tool-call", CallID: "c", ToolName: "bash", Status: "pending", Args: json.RawMessage(`{}`)},
				{Type: "finish", Reason: "end_turn"},
			}}},
		},
		{
			wire.ToBrowser, `{"type":"agentStatus","status":"tool_calling","detail":"bash"}`,
			wire.AgentStatus{Status: wire.StatusToolCalling, Detail: "bash"},
		},
		{
			wire.ToBrowser, `{"type":"status","data":{"runnerBusy":true}}`,
			wire.Status{Data: wire.StatusData{RunnerBusy: yes()}},
		},
		{wire.ToBrowser, `{"type":"queue.state","data":{"pending":null}}`, wire.QueueState{}},
		{wire.ToBrowser, `{"type":"error","message":"Invalid JSON"}`, wire.Error{Message: "Invalid JSON"}},
		{
			wire.ToBrowser, `{"type":"user.left","userId":"u","connectedUsers":[{"id":"v"}]}`,
			wire.UserLeft{Presence: wire.Presence{UserID: "u", ConnectedUsers: []wire.User{{ID: "v"}}}},
		},
		{wire.ToBrowser, `{"type":"pong"}`, wire.Pong{}},
		{
			wire.ToBrowser, `{"type":"interactive_prompt_resolved","promptId":"p","promptType":"question","resolution":{"value":"v","resolvedBy":"u"}}`,
			wire.InteractivePromptResolved{PromptID: "p", PromptType: "question", Resolution: wire.Resolution{Value: "v", ResolvedBy: "u"}},
		},
		{
			wire.FromBrowser, `{"type":"prompt","content":"Go","queueMode":"steer","channelType":"thread","channelId":"t1","threadId":"t1"}`,
			wire.Prompt{Content: "Go", QueueMode: wire.QueueSteer, Channel: thread, ThreadID: "t1"},
		},
		{
			wire.FromBrowser, `{"type":"answer","questionId":"q","answer":true}`,
			wire.Answer{QuestionID: "q", Answer: wire.AnswerValue{Bool: yes()}},
		},
		{
			wire.FromBrowser, `{"type":"answer","questionId":"q","answer":"blue"}`,
			wire.Answer{QuestionID: "q", Answer: wire.AnswerValue{Text: "blue"}},
		},
		{wire.FromBrowser, `{"type":"abort"}`, wire.Abort{}},
		{wire.FromBrowser, `{"type":"queue.replace","content":"Go"}`, wire.QueueReplace{Prompt: wire.Prompt{Content: "Go"}}},
		{wire.FromRunner, `{"type":"message.create","turnId":"t"}`, wire.MessageCreate{TurnID: "t"}},
		{wire.FromRunner, `{"type":"message.part.text-delta","turnId":"t","delta":"d"}`, wire.TextDelta{TurnID: "t", Delta: "d"}},
		{
			wire.FromRunner, `{"type":"message.part.tool-update","turnId":"t","callId":"c","toolName":"read","status":"completed","result":"x"}`,
			wire.ToolUpdate{TurnID: "t", CallID: "c", ToolName: "read", Status: "completed", Result: json.RawMessage(`"x"`)},
		},
		{wire.FromRunner, `{"type":"message.finalize","reason":"error","error":"no"}`, wire.Finalize{Reason: "error", Error: "no"}},
		{wire.ToRunner, `{"type":"init"}`, wire.RunnerInit{}},
		{wire.ToRunner, `{"type":"opencode-config","config":{"isOrchestrator":false}}`, wire.OpencodeConfig{}},
		{
			wire.ToRunner, `{"type":"prompt","messageId":"m","content":"Go","traceparent":"00-1-2-01"}`,
			wire.RunnerPrompt{MessageID: "m", Content: "Go", Traceparent: "00-1-2-01"},
		},
	}
}

func TestFramesThereAndBack(t *testing.T) {
	t.Parallel()
	for _, f := range frames() {
		got, err := wire.Decode(f.d, []byte(f.wire))
		if err != nil {
			t.Errorf("%s: %v", f.wire, err)
			continue
		}
		if diff := cmp.Diff(f.frame, got); diff != "" {
			t.Errorf("%s: decoded (-want +got):\n%s", f.wire, diff)
		}
		wire, err := wire.Encode(f.frame)
		if err != nil || string(wire) != f.wire {
			t.Errorf("encoded\n%s\nwant\n%s (%v)", wire, f.wire, err)
		}
	}
}

func TestResultsAnswerRequests(t *testing.T) {
	t.Parallel()
	for request, want := range map[string]string{
		`{"type":"mem-read","requestId":"r","path":"x"}`:     `{"type":"mem-read-result","error":"not here","requestId":"r"}`,
		`{"type":"repo:refresh-token","requestId":"r"}`:      `{"type":"repo-token-refreshed","error":"not here","requestId":"r"}`,
		`{"type":"something-new","requestId":"r","deep":{}}`: `{"type":"something-new-result","error":"not here","requestId":"r"}`,
	} {
		f, err := wire.Decode(wire.FromRunner, []byte(request))
		if err != nil {
			t.Fatal(err)
		}
		r := wire.Result{Request: f.Type(), Error: "not here"}
		switch f := f.(type) {
		case wire.Request:
			r.RequestID = f.RequestID
		case wire.Unknown:
			r.RequestID = f.RequestID
		default:
			t.Errorf("%s became %T", request, f)
		}
		got, err := wire.Encode(r)
		if err != nil || string(got) != want {
			t.Errorf("%s is answered by %s, want %s (%v)", request, got, want, err)
		}
	}
}

func TestD16_OnlyUnknownTypesAreUnknown(t *testing.T) {
	t.Parallel()
	for _, e := range wire.Events() {
		f, err := wire.Decode(e.Direction, []byte(`{"type":"`+e.Type+`"}`))
		if _, unknown := f.(wire.Unknown); unknown {
			t.Errorf("%q (%v) is in the table and counts as unknown", e.Type, e.Direction)
		}
		var field *wire.FieldError
		if err != nil && !errors.As(err, &field) {
			t.Errorf("%q (%v): %v", e.Type, e.Direction, err)
		}
	}
	long := strings.Repeat("x", 10_000)
	f, err := wire.Decode(wire.ToBrowser, []byte(`{"a":1,"type":"`+long+`"}`))
	if u, ok := f.(wire.Unknown); err != nil || !ok || len(u.Name) > 100 {
		t.Errorf("a new type became %T (%v)", f, err)
	}
}

func TestWrongShapesAreAbsent(t *testing.T) {
	t.Parallel()
	for frame, want := range map[string]wire.Frame{
		`{"type":"chunk","content":"x","messageId":"m","channelId":7,"channelType":{}}`: wire.Chunk{Content: "x", MessageID: "m"},
		`{"type":"message","data":{"id":"m","role":"system","content":"Shot","parts":{"type":"screenshot","data":"AA"},"createdAt":"2026-02-27T00:00:00Z"}}`: wire.MessageAdded{Data: wire.Message{
			ID: "m", Role: "system", Content: "Shot", Parts: wire.Parts{{Type: "screenshot", Data: "AA"}}, CreatedAt: 1772150400,
		}},
		`{"type":"message.updated","data":{"id":"m","authorId":[],"parts":[7,{"type":"text","text":"x","streaming":"no"}]}}`: wire.MessageUpdated{Data: wire.Message{
			ID: "m", Parts: wire.Parts{{Type: "text", Text: "x"}},
		}},
		`{"type":"user.joined","userId":"u","userDetails":"?","connectedUsers":["v",{"id":"w","name":3}]}`: wire.UserJoined{Presence: wire.Presence{
			UserID: "u", UserDetails: &wire.User{ID: "?"}, ConnectedUsers: []wire.User{{ID: "v"}, {ID: "w"}},
		}},
		`{"type":"status","data":{"runnerBusy":"perhaps","remaining":"2","promptDequeued":true}}`: wire.Status{Data: wire.StatusData{PromptDequeued: true}},
	} {
		got, err := wire.Decode(wire.ToBrowser, []byte(frame))
		if err != nil {
			t.Errorf("%s: %v", frame, err)
			continue
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", frame, diff)
		}
	}
}

func TestRequiredFieldsOfFrames(t *testing.T) {
	t.Parallel()
	for frame, field := range map[string]string{
		`{"type":"chunk","content":"x"}`:                  "messageId",
		`{"type":"chunk","content":5,"messageId":"m"}`:    "content",
		`{"type":"message","data":"?"}`:                   "data",
		`{"type":"message.updated","data":{"id":7}}`:      "data.id",
		`{"type":"interactive_prompt","prompt":{"id":0}}`: "prompt.id",
	} {
		_, err := wire.Decode(wire.ToBrowser, []byte(frame))
		var e *wire.FieldError
		if !errors.As(err, &e) || e.Field != field {
			t.Errorf("%s: %v, want a word on %s", frame, err, field)
		}
	}
	for _, frame := range []string{``, `x`, `[]`, `null`, `7`, `{}`, `{"type":7}`, `{"type":"chunk"`, `{"type":"audit_log",`, `{"type":"new"`} {
		if _, err := wire.Decode(wire.ToBrowser, []byte(frame)); !errors.Is(err, wire.ErrNotJSON) {
			t.Errorf("%s: %v", frame, err)
		}
	}
}

// FuzzDecode: whatever comes, there is a frame or an error, and what was decoded
// can be written and read again.
func FuzzDecode(f *testing.F) {
	for _, s := range frames() {
		f.Add(uint8(s.d), []byte(s.wire))
	}
	f.Add(uint8(1), []byte(`{"type":"message.updated","data":{"id":"m","parts":{"type":7},"createdAt":1e99}}`))
	f.Fuzz(func(t *testing.T, d uint8, data []byte) {
		direction := wire.Direction(d%4 + 1)
		frame, err := wire.Decode(direction, data)
		if (err == nil) == (frame == nil) {
			t.Fatalf("%v and %v", frame, err)
		}
		if err != nil {
			return
		}
		encoded, err := wire.Encode(frame)
		if err != nil {
			t.Fatalf("%#v cannot be written: %v", frame, err)
		}
		again, err := wire.Decode(direction, encoded)
		if err != nil {
			t.Fatalf("%s was written as %s, which cannot be read: %v", data, encoded, err)
		}
		if again.Type() != frame.Type() {
			t.Fatalf("%q became %q", frame.Type(), again.Type())
		}
	})
}

// F13: a session agent sends browsers more than twenty types of frames, and each is known.
func TestF13_AllFramesFromASessionAgentToBrowsersAreKnown(t *testing.T) {
	t.Parallel()
	n := 0
	for _, e := range wire.Events() {
		if e.Direction == wire.ToBrowser {
			n++
		}
	}
	if n <= 20 {
		t.Errorf("only %d types", n)
	}
}
