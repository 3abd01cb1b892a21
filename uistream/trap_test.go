package uistream_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/trace"
	"github.com/tributary-dev/tributary/uistream"
)

// The traps of a server of this protocol, by number. Traps 17, 19 and 20 are
// about requests and belong to package gateway; 13 is in writer_test.go, and of
// 16 and 18 the half that writes.

func rec(actor trace.Actor, payloads ...trace.Payload) []trace.Record {
	var all []trace.Record
	for i, p := range payloads {
		all = append(all, trace.Record{Session: "s", Turn: "t1", Seq: uint64(i + 1), Event: trace.Event{Actor: actor, Payload: p}})
	}
	return all
}

func stream(tb testing.TB, client string, payloads ...trace.Payload) string {
	tb.Helper()
	payloads = append([]trace.Payload{trace.Reply{MessageID: "m1"}}, payloads...)
	chunks := translate(uistream.Options{Profile: profile(tb, client)}, rec(trace.Agent, payloads...))
	messages(tb, chunks)
	for _, c := range chunks {
		if err := profile(tb, client).Check(uistream.AppendChunk(nil, c)); err != nil {
			tb.Error(err)
		}
	}
	return lines(chunks)
}

var stopped = trace.Stop{Reason: "end_turn", Outcome: trace.OutcomeCompleted}

func has(tb testing.TB, stream string, frames ...string) {
	tb.Helper()
	rest := stream
	for _, f := range frames {
		_, after, ok := strings.Cut(rest, f)
		if !ok {
			tb.Errorf("lacks %s, or has it too early:\n%s", f, stream)
			return
		}
		rest = after
	}
}

func hasNot(tb testing.TB, stream string, frames ...string) {
	tb.Helper()
	for _, f := range frames {
		if strings.Contains(stream, f) {
			tb.Errorf("must not hold %s:\n%s", f, stream)
		}
	}
}

func TestTrap01_RequiredKeysAreAlwaysThere(t *testing.T) {
	t.Parallel()
	s := stream(t, "", trace.ToolCall{ToolCallID: "c"}, trace.ToolResult{ToolCallID: "c", Status: trace.ToolCompleted}, trace.Data{}, stopped)
	has(t, s, `"input":null`, `"output":null`, `{"type":"data-event","data":null}`)
	for _, c := range []uistream.Chunk{
		uistream.TextStart{},
		uistream.TextDelta{},
		uistream.TextEnd{},
		uistream.ReasoningStart{},
		uistream.ReasoningDelta{},
		uistream.ReasoningEnd{},
		uistream.ToolInputStart{},
		uistream.ToolInputDelta{},
		uistream.ToolInputAvailable{},
		uistream.ToolOutputAvailable{},
		uistream.ToolOutputError{},
		uistream.ToolOutputDenied{},
		uistream.ToolApprovalRequest{},
		uistream.ToolApprovalResponse{},
		uistream.SourceURL{},
		uistream.SourceDocument{},
		uistream.File{},
		uistream.Data{Name: "x"},
		uistream.Error{},
		uistream.Abort{},
		uistream.Finish{},
		uistream.Start{},
		uistream.StartStep{},
		uistream.FinishStep{},
	} { // zero values are complete, and hold no null but where any value may stand
		frame := uistream.AppendChunk(nil, c)
		if err := profile(t, "7").Check(frame); err != nil {
			t.Errorf("%s: %v", frame, err)
		}
	}
}

func TestTrap02_NoNullForOptionalKeys(t *testing.T) {
	t.Parallel()
	s := stream(t, "7.0.173",
		trace.ToolCallStart{ToolCallID: "c"}, trace.ToolCall{ToolCallID: "c", Input: json.RawMessage("{}")},
		trace.ToolResult{ToolCallID: "c", Status: trace.ToolFailed}, trace.Source{URL: "http://x"}, trace.Source{}, trace.Thought{Part: "p"},
		trace.PermissionRequest{RequestID: "r"}, trace.PermissionResponse{RequestID: "r"}, stopped)
	hasNot(t, s, "null")
}

func TestTrap03_ClosedSetsOnly(t *testing.T) {
	t.Parallel()
	for _, reason := range []string{"", "end_turn", "max_tokens", "cancelled", "refusal", "unknown", "interrupted", "tool_use", "\n"} {
		for _, client := range []string{"", "5", "5.0.277", "6.0.323", "7", "7.0.173"} {
			for _, outcome := range []trace.Outcome{trace.OutcomeCompleted, trace.OutcomeCanceled, trace.OutcomeFailed, "strange"} {
				stream(t, client, trace.Stop{Reason: reason, Outcome: outcome})
			}
		}
	}
	has(t, stream(t, "7", trace.Stop{Reason: "max_tokens", Outcome: trace.OutcomeCompleted}), `"finishReason":"length"`)
	hasNot(t, stream(t, "", trace.Stop{Reason: "max_tokens", Outcome: trace.OutcomeCompleted}), "finishReason")
}

func TestTrap04_NoTypesOfOurOwn(t *testing.T) {
	t.Parallel()
	s := stream(t, "",
		trace.Status{State: trace.StateThinking, Detail: "hm"}, trace.Usage{Scope: trace.UsageTurn}, trace.Plan{}, trace.FileChange{Path: "a"},
		trace.Data{Name: "föö bar\n", Value: json.RawMessage(`1`)}, trace.Data{Name: ""}, trace.Unknown{UnknownKind: "ping"}, stopped)
	has(t, s, `{"type":"data-agent-status","data":{"status":"thinking","detail":"hm"},"transient":true}`,
		`{"type":"data-usage","id":"usage-turn","data":{`, `{"type":"data-plan","id":"plan","data":{"entries":[]}}`,
		`{"type":"data-file-change","id":"file-a","data":{`, `{"type":"data-f---bar-","data":1}`, `{"type":"data-event","data":null}`)
	hasNot(t, s, "ping")
}

func TestTrap05_AFailedToolOrAWarningIsNoError(t *testing.T) {
	t.Parallel()
	s := stream(t, "", trace.ToolCall{ToolCallID: "c"}, trace.ToolResult{ToolCallID: "c", Status: trace.ToolFailed, Error: "exit 1"},
		trace.Error{Message: "rate limited, trying again"}, trace.Message{Part: "p", Text: "recovered"}, stopped)
	has(t, s, `"tool-output-error","toolCallId":"c","errorText":"exit 1"`, `{"type":"data-notice","data":{"message":"rate limited`, "recovered", `{"type":"finish"}`)
	hasNot(t, s, `{"type":"error"`)
}

func TestTrap06And07_FlagsOnEveryChunkOfACall(t *testing.T) {
	t.Parallel()
	s := stream(t, "7.0.173", trace.ToolCallStart{ToolCallID: "c", Name: "Bash"}, trace.ToolCallDelta{ToolCallID: "c", Delta: strings.Repeat(" ", 600)},
		trace.ToolCall{ToolCallID: "c", Name: "Bash"}, trace.ToolResultProgress{ToolCallID: "c"}, trace.ToolResult{ToolCallID: "c", Status: trace.ToolCompleted},
		trace.ToolCall{ToolCallID: "d"}, trace.ToolResult{ToolCallID: "d", Status: trace.ToolCanceled}, stopped)
	for line := range strings.Lines(s) {
		if strings.Contains(line, `"tool-`) && !strings.Contains(line, "tool-input-delta") && !strings.Contains(line, `"providerExecuted":true,"dynamic":true`) {
			t.Errorf("not marked: %s", line)
		}
	}
}

func TestTrap08_NothingBeforeItsStart(t *testing.T) {
	t.Parallel()
	s := stream(t, "7", trace.MessageDelta{Part: "p", Delta: "mid"}, trace.ThoughtDelta{Part: "q", Delta: "way"},
		trace.ToolResult{ToolCallID: "c", Status: trace.ToolCompleted}, trace.ToolCallDelta{ToolCallID: "d", Delta: strings.Repeat("x", 512)},
		trace.PermissionResponse{RequestID: "r"}, trace.Answer{QuestionID: "q"}, stopped)
	has(t, s, `start-step`, `"text-start","id":"p"`, `"text-delta","id":"p"`, `"reasoning-start","id":"q"`, `"tool-input-available","toolCallId":"c"`,
		`"tool-output-available","toolCallId":"c"`, `"tool-input-start","toolCallId":"d"`, `"tool-input-delta","toolCallId":"d"`,
		`"tool-output-error","toolCallId":"d"`)
}

func TestTrap09_NoTextStaysOpenAcrossAStep(t *testing.T) {
	t.Parallel()
	s := stream(t, "5", trace.Step{Phase: trace.PhaseStart}, trace.MessageDelta{Part: "p", Delta: "one"}, trace.Step{Phase: trace.PhaseEnd},
		trace.MessageDelta{Part: "p", Delta: "two"}, trace.Message{Part: "p", Text: "onetwo"}, stopped)
	has(t, s, `"delta":"one"`, `"text-end"`, `finish-step`, `start-step`, `"text-start"`, `"delta":"two"`, `"text-end"`)
	// A call may go on being written in the next step: then it is one step to the client.
	s = stream(t, "5", trace.Step{Phase: trace.PhaseStart}, trace.ToolCallStart{ToolCallID: "c"}, trace.Step{Phase: trace.PhaseEnd},
		trace.Step{Phase: trace.PhaseStart}, trace.ToolCall{ToolCallID: "c"}, trace.Step{Phase: trace.PhaseEnd}, stopped)
	if strings.Count(s, "start-step") != 1 || strings.Count(s, "finish-step") != 1 {
		t.Errorf("the call is torn:\n%s", s)
	}
}

func TestTrap10_ReusedIDs(t *testing.T) {
	t.Parallel()
	records := write(t, completed(), func(b *trace.Builder) {
		for range 2 { // the agent names everything alike in each model call
			b.StepStart(trace.Step{})
			b.Message("0", "same")
			b.ToolCall(trace.ToolCall{ToolCallID: "c", Input: json.RawMessage(`1`)})
			b.ToolResult(trace.ToolResult{ToolCallID: "c", Status: trace.ToolCompleted})
		}
		b.ToolCall(trace.ToolCall{ToolCallID: "q"})
		b.Question(trace.Question{QuestionID: "q", ToolCallID: "q", Text: "Which?"})
		b.Answer(trace.Answer{QuestionID: "q", Outcome: trace.Selected, Values: []string{"a"}})
		b.ToolResult(trace.ToolResult{ToolCallID: "q", Status: trace.ToolCompleted, Output: json.RawMessage(`"a"`)})
	})
	m := messages(t, translate(uistream.Options{}, records))[0]
	var ids []string
	for _, p := range m.Parts {
		if p.ToolCallID != "" {
			ids = append(ids, p.ToolCallID+" "+p.State)
		}
	}
	if want := []string{"c output-available", "c~2 output-available", "q output-available", "q~ask output-available"}; !slices.Equal(ids, want) {
		t.Errorf("got %v, want %v", ids, want)
	}
	if uistream.QuestionID("q~ask") != "q" || uistream.QuestionID("q") != "q" {
		t.Error("QuestionID does not find the question")
	}
}

func TestTrap11And12_OneStartWithAnIDOfTheServer(t *testing.T) {
	t.Parallel()
	s := stream(t, "", trace.MessageDelta{Part: "p", Delta: "a"}, trace.Pause{}, trace.Reply{MessageID: "m1"}, trace.MessageDelta{Part: "r", Delta: "b"}, stopped)
	if !strings.HasPrefix(s, `{"type":"start","messageId":"m1"}`) || strings.Count(s, `{"type":"start"`) != 1 {
		t.Errorf("not one start, first:\n%s", s)
	}
	first := translate(uistream.Options{}, rec(trace.Agent, trace.MessageDelta{Part: "p", Delta: "no reply came"}))[0]
	if s, ok := first.(uistream.Start); !ok || s.MessageID == "" {
		t.Errorf("a turn without a reply begins with %#v", first)
	}
}

//evidence:for promise-known-chunks
func TestTrap15_OpaqueValues(t *testing.T) {
	t.Parallel()
	evil := json.RawMessage("{\n  \"__proto__\": {\"x\": 1},\n  \"n\": 12345678901234567890.10\n}")
	s := stream(t, "7", trace.ToolCall{ToolCallID: "c", Input: evil}, trace.ToolResultProgress{ToolCallID: "c", Output: evil},
		trace.ToolResult{ToolCallID: "c", Status: trace.ToolCompleted, Output: evil}, trace.Data{Name: "x", Value: evil}, stopped)
	if n := strings.Count(s, `{"[__proto__]":{"x":1},"n":12345678901234567890.10}`); n != 4 {
		t.Errorf("%d of 4 values are right:\n%s", n, s)
	}
}

func TestTrap16_TheLastFrameIsComplete(t *testing.T) {
	t.Parallel()
	s := streamOf(story(t, 1, "x"), uistream.Framing{})
	if !strings.HasSuffix(s, "\n\ndata: [DONE]\n\n") {
		t.Errorf("ends with %q", s[len(s)-40:])
	}
}

//evidence:for promise-stock-answer
func TestTrap18_AnApprovalCanBePaused(t *testing.T) {
	t.Parallel()
	tr := uistream.NewTranslator(uistream.Options{})
	var chunks []uistream.Chunk
	for _, r := range rec(trace.Agent, trace.Reply{MessageID: "m1"}, trace.ToolCall{ToolCallID: "c"},
		trace.PermissionRequest{RequestID: "r", ToolCallID: "c", Title: "Run ls?"}, trace.Pause{Requests: []string{"r"}}) {
		chunks = append(chunks, tr.Translate(r)...)
	}
	if !tr.Paused() {
		t.Error("not paused")
	}
	s := lines(chunks)
	has(t, s, `{"type":"tool-approval-request","toolCallId":"c","approvalId":"r"}`, "finish-step")
	if tr.Translate(rec(trace.Agent, trace.ToolResult{ToolCallID: "c"})[0]); tr.Paused() {
		t.Error("still paused after the turn went on")
	}
}

// The words of a request are for clients without approvals, and have no hidden characters.
//
//evidence:for promise-shown
func TestTheWordsOfARequestAreVisible(t *testing.T) {
	t.Parallel()
	s := stream(t, "5", trace.ToolCall{ToolCallID: "c"},
		trace.PermissionRequest{RequestID: "r", ToolCallID: "c", Title: "Run \u202els", Options: []trace.PermissionOption{{ID: "a", Name: "Allow\u200b"}, {ID: "b", Name: "Deny", OptionKind: trace.AllowAlways}}}, trace.Pause{Requests: []string{"r"}})
	has(t, s, "Permission needed: Run <U+202E>ls (Allow<U+200B> / allows: Deny)")
	s = stream(t, "5", trace.Question{QuestionID: "q", Text: "Which\u2066?", Choices: []trace.Choice{{Label: "red\u202e"}}}, trace.Pause{Requests: []string{"q"}})
	has(t, s, "Which<U+2066>? (red<U+202E>)")
}

// A file that two calls have changed has a part for each of them. The same call updates its own.
func TestEachCallsChangeOfAFileStays(t *testing.T) {
	t.Parallel()
	change := func(call, diff string) trace.FileChange {
		return trace.FileChange{Path: "a", Change: trace.FileModified, ToolCallID: call, Diff: diff}
	}
	s := stream(t, "", change("one", "1"), change("one", "2"), change("two", "3"), stopped)
	has(t, s, `"id":"file-a-one","data":{"path":"a","change":"modified","tool_call_id":"one","diff":"2"}`, `"id":"file-a-two"`)
}
