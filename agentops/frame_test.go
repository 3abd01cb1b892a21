package agentops_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tributary-dev/tributary/agentops"
)

func yes() *bool { t := true; return &t }

// frames are one of each kind, as they go over the wire and as they are here.
func frames() []struct {
	d     agentops.Direction
	wire  string
	frame agentops.Frame
} {
	thread := agentops.Channel{ChannelType: "thread", ChannelID: "t1"}
	return []struct {
		d     agentops.Direction
		wire  string
		frame agentops.Frame
	}{
		{
			agentops.ToBrowser, `{"type":"message","data":{"id":"m","role":"assistant","content":"","parts":[],"createdAt":1772150401}}`,
			agentops.MessageAdded{Data: agentops.Message{ID: "m", Role: agentops.RoleAssistant, Parts: agentops.Parts{}, CreatedAt: 1772150401}},
		},
		{
			agentops.ToBrowser, `{"type":"chunk","content":"Hi <b>","messageId":"m","channelType":"thread","channelId":"t1"}`,
			agentops.Chunk{Content: "Hi <b>", MessageID: "m", Channel: thread},
		},
		{
			agentops.ToBrowser, `{"type":"message.updated","data":{"id":"m","role":"assistant","content":"x","parts":[{"type":"text","text":"x"},{"type":"tool-call","callId":"c","toolName":"bash","status":"pending","args":{}},{"type":"finish","reason":"end_turn"}]}}`,
			agentops.MessageUpdated{Data: agentops.Message{ID: "m", Role: "assistant", Content: "x", Parts: agentops.Parts{
				{Type: "text", Text: "x"},
				{Type: "tool-call", CallID: "c", ToolName: "bash", Status: "pending", Args: json.RawMessage(`{}`)},
				{Type: "finish", Reason: "end_turn"},
			}}},
		},
		{
			agentops.ToBrowser, `{"type":"agentStatus","status":"tool_calling","detail":"bash"}`,
			agentops.AgentStatus{Status: agentops.StatusToolCalling, Detail: "bash"},
		},
		{
			agentops.ToBrowser, `{"type":"status","data":{"runnerBusy":true}}`,
			agentops.Status{Data: agentops.StatusData{RunnerBusy: yes()}},
		},
		{agentops.ToBrowser, `{"type":"queue.state","data":{"pending":null}}`, agentops.QueueState{}},
		{agentops.ToBrowser, `{"type":"error","message":"Invalid JSON"}`, agentops.Error{Message: "Invalid JSON"}},
		{
			agentops.ToBrowser, `{"type":"user.left","userId":"u","connectedUsers":[{"id":"v"}]}`,
			agentops.UserLeft{Presence: agentops.Presence{UserID: "u", ConnectedUsers: []agentops.User{{ID: "v"}}}},
		},
		{agentops.ToBrowser, `{"type":"pong"}`, agentops.Pong{}},
		{
			agentops.ToBrowser, `{"type":"interactive_prompt_resolved","promptId":"p","promptType":"question","resolution":{"value":"v","resolvedBy":"u"}}`,
			agentops.InteractivePromptResolved{PromptID: "p", PromptType: "question", Resolution: agentops.Resolution{Value: "v", ResolvedBy: "u"}},
		},
		{
			agentops.FromBrowser, `{"type":"prompt","content":"Go","queueMode":"steer","channelType":"thread","channelId":"t1","threadId":"t1"}`,
			agentops.Prompt{Content: "Go", QueueMode: agentops.QueueSteer, Channel: thread, ThreadID: "t1"},
		},
		{
			agentops.FromBrowser, `{"type":"answer","questionId":"q","answer":true}`,
			agentops.Answer{QuestionID: "q", Answer: agentops.AnswerValue{Bool: yes()}},
		},
		{
			agentops.FromBrowser, `{"type":"answer","questionId":"q","answer":"blue"}`,
			agentops.Answer{QuestionID: "q", Answer: agentops.AnswerValue{Text: "blue"}},
		},
		{agentops.FromBrowser, `{"type":"abort"}`, agentops.Abort{}},
		{agentops.FromBrowser, `{"type":"queue.replace","content":"Go"}`, agentops.QueueReplace{Prompt: agentops.Prompt{Content: "Go"}}},
		{agentops.FromRunner, `{"type":"message.create","turnId":"t"}`, agentops.MessageCreate{TurnID: "t"}},
		{agentops.FromRunner, `{"type":"message.part.text-delta","turnId":"t","delta":"d"}`, agentops.TextDelta{TurnID: "t", Delta: "d"}},
		{
			agentops.FromRunner, `{"type":"message.part.tool-update","turnId":"t","callId":"c","toolName":"read","status":"completed","result":"x"}`,
			agentops.ToolUpdate{TurnID: "t", CallID: "c", ToolName: "read", Status: "completed", Result: json.RawMessage(`"x"`)},
		},
		{agentops.FromRunner, `{"type":"message.finalize","reason":"error","error":"no"}`, agentops.Finalize{Reason: "error", Error: "no"}},
		{agentops.ToRunner, `{"type":"init"}`, agentops.RunnerInit{}},
		{agentops.ToRunner, `{"type":"opencode-config","config":{"isOrchestrator":false}}`, agentops.OpencodeConfig{}},
		{
			agentops.ToRunner, `{"type":"prompt","messageId":"m","content":"Go","traceparent":"00-1-2-01"}`,
			agentops.RunnerPrompt{MessageID: "m", Content: "Go", Traceparent: "00-1-2-01"},
		},
	}
}

func TestFramesThereAndBack(t *testing.T) {
	t.Parallel()
	for _, f := range frames() {
		got, err := agentops.Decode(f.d, []byte(f.wire))
		if err != nil {
			t.Errorf("%s: %v", f.wire, err)
			continue
		}
		if diff := cmp.Diff(f.frame, got); diff != "" {
			t.Errorf("%s: decoded (-want +got):\n%s", f.wire, diff)
		}
		wire, err := agentops.Encode(f.frame)
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
		f, err := agentops.Decode(agentops.FromRunner, []byte(request))
		if err != nil {
			t.Fatal(err)
		}
		r := agentops.Result{Request: f.Type(), Error: "not here"}
		switch f := f.(type) {
		case agentops.Request:
			r.RequestID = f.RequestID
		case agentops.Unknown:
			r.RequestID = f.RequestID
		default:
			t.Errorf("%s became %T", request, f)
		}
		got, err := agentops.Encode(r)
		if err != nil || string(got) != want {
			t.Errorf("%s is answered by %s, want %s (%v)", request, got, want, err)
		}
	}
}

func TestD16_OnlyUnknownTypesAreUnknown(t *testing.T) {
	t.Parallel()
	for _, e := range agentops.Events() {
		f, err := agentops.Decode(e.Direction, []byte(`{"type":"`+e.Type+`"}`))
		if _, unknown := f.(agentops.Unknown); unknown {
			t.Errorf("%q (%v) is in the table and counts as unknown", e.Type, e.Direction)
		}
		var field *agentops.FieldError
		if err != nil && !errors.As(err, &field) {
			t.Errorf("%q (%v): %v", e.Type, e.Direction, err)
		}
	}
	long := strings.Repeat("x", 10_000)
	f, err := agentops.Decode(agentops.ToBrowser, []byte(`{"a":1,"type":"`+long+`"}`))
	if u, ok := f.(agentops.Unknown); err != nil || !ok || len(u.Name) > 100 {
		t.Errorf("a new type became %T (%v)", f, err)
	}
}

func TestWrongShapesAreAbsent(t *testing.T) {
	t.Parallel()
	for wire, want := range map[string]agentops.Frame{
		`{"type":"chunk","content":"x","messageId":"m","channelId":7,"channelType":{}}`: agentops.Chunk{Content: "x", MessageID: "m"},
		`{"type":"message","data":{"id":"m","role":"system","content":"Shot","parts":{"type":"screenshot","data":"AA"},"createdAt":"2026-02-27T00:00:00Z"}}`: agentops.MessageAdded{Data: agentops.Message{
			ID: "m", Role: "system", Content: "Shot", Parts: agentops.Parts{{Type: "screenshot", Data: "AA"}}, CreatedAt: 1772150400,
		}},
		`{"type":"message.updated","data":{"id":"m","authorId":[],"parts":[7,{"type":"text","text":"x","streaming":"no"}]}}`: agentops.MessageUpdated{Data: agentops.Message{
			ID: "m", Parts: agentops.Parts{{Type: "text", Text: "x"}},
		}},
		`{"type":"user.joined","userId":"u","userDetails":"?","connectedUsers":["v",{"id":"w","name":3}]}`: agentops.UserJoined{Presence: agentops.Presence{
			UserID: "u", UserDetails: &agentops.User{ID: "?"}, ConnectedUsers: []agentops.User{{ID: "v"}, {ID: "w"}},
		}},
		`{"type":"status","data":{"runnerBusy":"perhaps","remaining":"2","promptDequeued":true}}`: agentops.Status{Data: agentops.StatusData{PromptDequeued: true}},
	} {
		got, err := agentops.Decode(agentops.ToBrowser, []byte(wire))
		if err != nil {
			t.Errorf("%s: %v", wire, err)
			continue
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", wire, diff)
		}
	}
}

func TestRequiredFieldsOfFrames(t *testing.T) {
	t.Parallel()
	for wire, field := range map[string]string{
		`{"type":"chunk","content":"x"}`:                  "messageId",
		`{"type":"chunk","content":5,"messageId":"m"}`:    "content",
		`{"type":"message","data":"?"}`:                   "data",
		`{"type":"message.updated","data":{"id":7}}`:      "data.id",
		`{"type":"interactive_prompt","prompt":{"id":0}}`: "prompt.id",
	} {
		_, err := agentops.Decode(agentops.ToBrowser, []byte(wire))
		var e *agentops.FieldError
		if !errors.As(err, &e) || e.Field != field {
			t.Errorf("%s: %v, want a word on %s", wire, err, field)
		}
	}
	for _, wire := range []string{``, `x`, `[]`, `null`, `7`, `{}`, `{"type":7}`, `{"type":"chunk"`, `{"type":"audit_log",`, `{"type":"new"`} {
		if _, err := agentops.Decode(agentops.ToBrowser, []byte(wire)); !errors.Is(err, agentops.ErrNotJSON) {
			t.Errorf("%s: %v", wire, err)
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
		direction := agentops.Direction(d%4 + 1)
		frame, err := agentops.Decode(direction, data)
		if (err == nil) == (frame == nil) {
			t.Fatalf("%v and %v", frame, err)
		}
		if err != nil {
			return
		}
		wire, err := agentops.Encode(frame)
		if err != nil {
			t.Fatalf("%#v cannot be written: %v", frame, err)
		}
		again, err := agentops.Decode(direction, wire)
		if err != nil {
			t.Fatalf("%s was written as %s, which cannot be read: %v", data, wire, err)
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
	for _, e := range agentops.Events() {
		if e.Direction == agentops.ToBrowser {
			n++
		}
	}
	if n <= 20 {
		t.Errorf("only %d types", n)
	}
}
