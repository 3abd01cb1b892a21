package uistream_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tributary-dev/tributary/trace"
	"github.com/tributary-dev/tributary/uistream"
)

// The rows of the RFC, from records as a session's adapter writes them: each in the
// default form and by the RFC. The adapter's own tests begin with frames.

const upstream = "turn-abc123"

// created is what an adapter writes when the upstream says that a turn begins.
func created(b *trace.Builder) { b.StepStart(trace.Step{NativeID: upstream}) }

// textScript is a turn that begins with a text, in pieces.
func textScript(pieces ...string) func(b *trace.Builder) {
	return func(b *trace.Builder) {
		created(b)
		for _, text := range pieces {
			b.MessageDelta("a", text)
		}
	}
}

// row compares both forms of a turn with their golden files, and their frames with the lists given
// here. A list has the event line of each frame, and [id] if the frame has an id.
func row(t *testing.T, name string, stop trace.Stop, byDefault, byRFC string, script func(b *trace.Builder)) {
	t.Helper()
	t.Parallel()
	records := write(t, stop, script)
	for _, form := range []struct {
		name string
		want string
		o    uistream.Options
	}{
		{"default", byDefault, uistream.Options{}},
		{"rfc", byRFC, uistream.Options{RFC: true}},
	} {
		form.o.Profile = profile(t, "")
		got := uistream.AppendTurn(nil, slices.Values(records), form.o, uistream.Framing{})
		compare(t, "rfc/"+name+"."+form.name+".sse", got)
		if outline := outlineOf(t, got); outline != form.want {
			t.Errorf("%s, %s:\ngot  %s\nwant %s", name, form.name, outline, form.want)
		}
		chunks := translate(form.o, records)
		for _, c := range chunks {
			if err := form.o.Profile.Check(uistream.AppendChunk(nil, c)); err != nil {
				t.Errorf("%s, %s: %v", name, form.name, err)
			}
		}
		shown, err := uistream.History(seq(durable(records)), form.o)
		if screen := withParts(messages(t, chunks)); err != nil || len(shown) != 1+len(screen) || len(screen) > 0 && shown[1].ID != screen[0].ID {
			t.Errorf("%s, %s: the history is %s, error %v", name, form.name, asJSON(shown), err)
		}
	}
}

// outlineOf says in a word for each frame what it is, and whose.
func outlineOf(t *testing.T, stream []byte) string {
	t.Helper()
	var all []string
	for frame := range strings.SplitSeq(strings.TrimSuffix(string(stream), "\n\n"), "\n\n") {
		if frame == "data: [DONE]" {
			all = append(all, "[DONE]")
			continue
		}
		event, data, ok := strings.Cut(strings.TrimPrefix(frame, "event: "), "\ndata: ")
		var c struct{ Type, MessageID, ID, ToolCallID string }
		if !ok || json.Unmarshal([]byte(data), &c) != nil || c.Type == "" {
			t.Fatalf("not a frame with both names: %s", frame)
		}
		if id := c.MessageID + c.ID + c.ToolCallID; id != "" {
			event += "(" + id + ")"
		}
		all = append(all, event)
	}
	return strings.Join(all, " ")
}

func ended(reason string) trace.Stop {
	return trace.Stop{Reason: reason, Outcome: trace.OutcomeCompleted}
}

func raw(s string) json.RawMessage { return json.RawMessage(s) }

const (
	opens  = "message-start(turn-abc123) text-start(turn-abc123)"
	closes = "text-end(turn-abc123) finish-step message-finish [DONE]"
	delta  = "text-delta(turn-abc123)"
)

func TestD01_H01_ACreatedTurnStartsTheMessageAndItsText(t *testing.T) {
	row(t, "D01", ended("end_turn"),
		"start(m1) start-step text-start(text-1) text-delta(text-1) text-end(text-1) finish-step finish [DONE]",
		opens+" "+delta+" "+closes,
		textScript("Hello"))
	tr := uistream.NewTranslation(uistream.Options{RFC: true})
	var at []string
	for _, r := range write(t, ended("end_turn"), created) {
		at = append(at, strings.TrimSpace(string(r.Payload.Kind())+": "+lines(tr.Translate(r))))
	}
	want := `step: {"type":"start","messageId":"turn-abc123"}` + "\n" + `{"type":"text-start","id":"turn-abc123"}`
	if at[1] != "reply:" || at[2] != want {
		t.Errorf("not at create, but %q", at)
	}
}

func TestD02_H02_ADeltaIsKeptExactly(t *testing.T) {
	const said = " \n\t\"quoted\" \\ <b>&amp; \u2028 größer 👩‍🚀 "
	row(t, "D02", ended("end_turn"),
		"start(m1) start-step text-start(text-1) text-delta(text-1) text-delta(text-1) text-end(text-1) finish-step finish [DONE]",
		opens+" "+delta+" "+delta+" "+closes,
		textScript(said, "end"))
	for _, rfc := range []bool{false, true} {
		chunks := translate(uistream.Options{RFC: rfc}, write(t, ended("end_turn"), textScript(said)))
		i := slices.IndexFunc(chunks, func(c uistream.Chunk) bool { d, is := c.(uistream.TextDelta); return is && d.Delta == said })
		if i < 0 {
			t.Errorf("rfc %v: %s", rfc, lines(chunks))
		}
	}
}

// A chunk has no position: what comes after a tool belongs to another part.
func TestD03_H03_AChunkAfterAToolIsABlockOfItsOwn(t *testing.T) {
	row(t, "D03", ended("end_turn"),
		"start(m1) start-step text-start(text-1) text-delta(text-1) text-end(text-1) tool-input-available(c) tool-output-available(c) text-start(text-2) text-delta(text-2) text-end(text-2) finish-step finish [DONE]",
		opens+" "+delta+" tool-input-available(c) tool-output-available(c) "+delta+" "+closes,
		func(b *trace.Builder) {
			textScript("before")(b)
			b.MessageEnd("a")
			b.ToolCall(trace.ToolCall{ToolCallID: "c", RawName: "read", Input: raw(`{}`)})
			b.ToolResult(trace.ToolResult{ToolCallID: "c", Status: trace.ToolCompleted, Output: raw(`"x"`)})
			b.MessageDelta("b", "after")
		})
}

func TestD04_H04_APendingToolBeginsItsInput(t *testing.T) {
	row(t, "D04", ended("end_turn"),
		"start(m1) start-step tool-input-start(c) tool-input-available(c) tool-output-available(c) finish-step finish [DONE]",
		opens+" tool-input-start(c) tool-input-available(c) tool-output-available(c) "+closes,
		func(b *trace.Builder) {
			created(b)
			b.ToolCallStart(trace.ToolCallStart{ToolCallID: "c", RawName: "bash"})
			b.ToolCall(trace.ToolCall{ToolCallID: "c", RawName: "bash", Input: raw(`{"command":"ls"}`)})
			b.ToolResult(trace.ToolResult{ToolCallID: "c", Status: trace.ToolCompleted, Output: raw(`"a.go"`)})
		})
}

func TestD05_H05_ARunningToolHasItsArguments(t *testing.T) {
	row(t, "D05", trace.Stop{Reason: "canceled", Outcome: trace.OutcomeCanceled},
		"start(m1) start-step tool-input-available(c) tool-output-error(c) finish-step abort finish [DONE]",
		opens+" tool-input-available(c) text-end(turn-abc123) message-finish [DONE]",
		func(b *trace.Builder) {
			created(b)
			b.ToolCall(trace.ToolCall{ToolCallID: "c", RawName: "bash", Input: raw(`{"command":"ls","n":1.50}`)})
		})
}

func TestD06_H06_ACompletedToolHasItsResult(t *testing.T) {
	row(t, "D06", ended("end_turn"),
		"start(m1) start-step tool-input-available(c) tool-output-available(c) tool-input-available(d) tool-output-available(d) finish-step finish [DONE]",
		opens+" tool-input-available(c) tool-output-available(c) tool-input-available(d) tool-output-available(d) "+closes,
		func(b *trace.Builder) {
			created(b)
			b.ToolCall(trace.ToolCall{ToolCallID: "c", RawName: "bash", Input: raw(`{}`)})
			b.ToolResult(trace.ToolResult{ToolCallID: "c", Status: trace.ToolCompleted, Output: raw(`"{\"in\":\"a string\"}"`)})
			b.ToolResult(trace.ToolResult{ToolCallID: "d", Status: trace.ToolCompleted, Output: raw(`{"first":"seen"}`)})
		})
}

func TestD07_H07_AToolErrorIsAToolStateAndByTheRFCAnError(t *testing.T) {
	row(t, "D07", ended("end_turn"),
		"start(m1) start-step tool-input-available(c) tool-output-error(c) tool-input-available(d) tool-output-error(d) text-start(text-1) text-delta(text-1) text-end(text-1) finish-step finish [DONE]",
		opens+" tool-input-available(c) error tool-input-available(d) error "+delta+" "+closes,
		func(b *trace.Builder) {
			created(b)
			b.ToolCall(trace.ToolCall{ToolCallID: "c", RawName: "bash", Input: raw(`{}`)})
			b.ToolResult(trace.ToolResult{ToolCallID: "c", Status: trace.ToolFailed, Error: "exit status 2:\n  \"no such file\""})
			b.ToolCall(trace.ToolCall{ToolCallID: "d", RawName: "bash", Input: raw(`{}`)})
			b.ToolResult(trace.ToolResult{ToolCallID: "d", Status: trace.ToolFailed})
			b.MessageDelta("a", "It failed.")
		})
	silent := trace.Record{Turn: "t", Event: trace.Event{Actor: trace.Agent, Payload: trace.ToolResult{ToolCallID: "c", Status: trace.ToolFailed}}}
	for rfc, want := range map[bool]string{true: `{"type":"error","errorText":"Tool execution failed"}`, false: `"type":"tool-output-error"`} {
		if got := lines(translate(uistream.Options{RFC: rfc}, []trace.Record{silent})); !strings.Contains(got, want) {
			t.Errorf("rfc %v: %s", rfc, got)
		}
	}
}

func TestD08_H08_AFinalizedTurnEndsTextStepAndMessage(t *testing.T) {
	row(t, "D08", ended("end_turn"),
		"start(m1) start-step text-start(text-1) text-delta(text-1) text-end(text-1) finish-step finish [DONE]",
		opens+" "+delta+" text-end(turn-abc123) finish-step message-finish [DONE]",
		textScript("Done."))
}

func TestD09_H08_AFailedTurnIsAnErrorAndThenTheFinish(t *testing.T) {
	row(t, "D09", trace.Stop{Reason: "error", Outcome: trace.OutcomeFailed, Error: "The model is overloaded: \"try again\"."},
		"start(m1) start-step text-start(text-1) text-delta(text-1) text-end(text-1) finish-step data-error error finish [DONE]",
		opens+" "+delta+" error message-finish [DONE]",
		textScript("I was about"))
	silent := write(t, trace.Stop{Reason: "error", Outcome: trace.OutcomeFailed}, created)
	if got := lines(translate(uistream.Options{RFC: true}, silent)); !strings.Contains(got, `{"type":"error","errorText":"Turn failed"}`) {
		t.Error(got)
	}
}

func TestD10_H08_ACanceledTurnHasNoError(t *testing.T) {
	row(t, "D10", trace.Stop{Reason: "canceled", Outcome: trace.OutcomeCanceled},
		"start(m1) start-step text-start(text-1) text-delta(text-1) text-end(text-1) tool-input-available(c) tool-output-error(c) finish-step abort finish [DONE]",
		opens+" "+delta+" tool-input-available(c) text-end(turn-abc123) message-finish [DONE]",
		func(b *trace.Builder) {
			textScript("I was about")(b)
			b.MessageEnd("a")
			b.ToolCall(trace.ToolCall{ToolCallID: "c", RawName: "bash"})
		})
}

func TestD11_H08_AnUnknownReasonIsJustTheFinish(t *testing.T) {
	row(t, "D11", ended("gave_up"),
		"start(m1) start-step text-start(text-1) text-delta(text-1) text-end(text-1) finish-step finish [DONE]",
		opens+" "+delta+" message-finish [DONE]",
		textScript("Well"))
}

func TestD12_E03_H14_TheAgentsStatusStandsAmongTheText(t *testing.T) {
	row(t, "D12", ended("end_turn"),
		"start(m1) data-agent-status start-step text-start(text-1) text-delta(text-1) data-agent-status text-delta(text-1) text-end(text-1) finish-step data-agent-status finish [DONE]",
		"data-agent-status "+opens+" "+delta+" data-agent-status "+delta+" data-agent-status "+closes,
		func(b *trace.Builder) {
			b.Emit(trace.Status{State: trace.StateThinking})
			textScript("I ")(b)
			b.Emit(trace.Status{State: trace.StateToolCalling, Detail: "bash"})
			b.MessageDelta("a", "work.")
			b.StepEnd()
			b.Emit(trace.Status{State: trace.StateIdle})
		})
	const both = `{"type":"data-agent-status","data":{"status":"tool_calling","detail":"bash"},"transient":true}`
	for _, rfc := range []bool{false, true} {
		chunks := translate(uistream.Options{RFC: rfc}, write(t, ended(""), func(b *trace.Builder) {
			b.Emit(trace.Status{State: trace.StateToolCalling, Detail: "bash"})
		}))
		if got := lines(chunks); !strings.Contains(got, both) {
			t.Errorf("rfc %v: %s", rfc, got)
		}
	}
}

func writeQuestion(b *trace.Builder) {
	textScript("One thing: ")(b)
	id := b.Question(trace.Question{QuestionID: "q-1", Text: "Which colour?", Choices: []trace.Choice{{Label: "red"}, {Label: "blue"}}})
	b.Answer(trace.Answer{QuestionID: id, Outcome: trace.Selected, Values: []string{"blue"}, By: "ann"})
	b.MessageDelta("b", "blue it is.")
}

func TestD13_H15_AQuestionHasItsFullPayload(t *testing.T) {
	row(t, "D13", ended("end_turn"),
		"start(m1) start-step text-start(text-1) text-delta(text-1) text-end(text-1) finish-step start-step "+
			"tool-input-available(q-1) finish-step tool-output-available(q-1) "+
			"start-step text-start(text-2) text-delta(text-2) text-end(text-2) finish-step finish [DONE]",
		opens+" "+delta+" data-question(q-1) data-question(q-1) "+delta+" "+closes, writeQuestion)
	const asked = `{"type":"data-question","id":"q-1","data":{"questionId":"q-1","text":"Which colour?","options":["red","blue"],"choices":[{"label":"red"},{"label":"blue"}]`
	for name, o := range map[string]uistream.Options{"rfc": {RFC: true}, "chosen": {Domain: domain(t, "question")}} {
		got := lines(translate(o, write(t, ended("end_turn"), writeQuestion)))
		if !strings.Contains(got, asked+"}}\n") || !strings.Contains(got, asked+`,"outcome":"selected","answer":["blue"]}}`+"\n") {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func domain(t *testing.T, names ...string) uistream.DomainEvents {
	t.Helper()
	d, err := uistream.ParseDomainEvents(names)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// A frame that repeats known facts shows nothing in the stream, or becomes a domain event.
func TestD14_D15_D17_H16_HydrationAndTheAgentsWorldAreNotShown(t *testing.T) {
	script := func(b *trace.Builder) {
		created(b)
		b.Emit(trace.Data{Name: "git-state", Value: raw(`{"branch":"main"}`), Domain: true})
		b.MessageDelta("a", "Hello")
		b.Emit(trace.Data{Name: "session-status", Value: raw(`{"runnerBusy":true}`), Domain: true, Transient: true})
		b.Message("a", "Hello") // the whole of a message.updated
		b.Message("a", "Hello")
		b.Emit(trace.Data{Name: "custom-thing", Value: raw(`1`), Domain: true})
	}
	row(t, "D15", ended("end_turn"),
		"start(m1) start-step text-start(text-1) text-delta(text-1) text-end(text-1) finish-step finish [DONE]",
		opens+" "+delta+" "+closes, script)
	const (
		git    = `{"type":"data-git-state","data":{"branch":"main"}}` + "\n"
		status = `{"type":"data-session-status","data":{"runnerBusy":true},"transient":true}` + "\n"
		other  = `{"type":"data-custom-thing","data":1}` + "\n"
	)
	for _, rfc := range []bool{false, true} {
		for _, c := range []struct {
			names []string
			want  string
		}{
			{nil, ""}, {[]string{"git-state"}, git}, {[]string{"title", "session-status"}, status}, {[]string{"all"}, git + status + other},
		} {
			got := lines(translate(uistream.Options{RFC: rfc, Domain: domain(t, c.names...)}, write(t, ended("end_turn"), script)))
			if shown := strings.Join(slices.DeleteFunc(strings.SplitAfter(got, "\n"), func(l string) bool { return !strings.Contains(l, `"data-`) }), ""); shown != c.want {
				t.Errorf("rfc %v, %v:\n%s", rfc, c.names, shown)
			}
		}
	}
}

func TestD16_H10_AnUnknownEventIsCountedAndNothingElse(t *testing.T) {
	t.Parallel()
	records := write(t, ended("end_turn"), func(b *trace.Builder) { created(b); b.Emit(trace.Unknown{UnknownKind: "novel", Raw: raw(`{}`)}) })
	for _, rfc := range []bool{false, true} {
		tr := uistream.NewTranslation(uistream.Options{RFC: rfc})
		for _, r := range records {
			if chunks := tr.Translate(r); r.Payload.Kind() == "novel" && len(chunks) > 0 {
				t.Error(lines(chunks))
			}
		}
		if tr.Unknown() != 1 {
			t.Errorf("%d counted", tr.Unknown())
		}
	}
}

func TestE01_H09_AnEmptyTurnIsAValidMessage(t *testing.T) {
	row(t, "E01", ended("end_turn"),
		"start(m1) finish [DONE]",
		opens+" "+closes, created)
}

func TestE02_ResultsGoOutAsTheyCome(t *testing.T) {
	row(t, "E02", ended("end_turn"),
		"start(m1) start-step tool-input-available(c) tool-input-available(d) tool-output-available(d) tool-output-available(c) finish-step finish [DONE]",
		opens+" tool-input-available(c) tool-input-available(d) tool-output-available(d) tool-output-available(c) "+closes,
		func(b *trace.Builder) {
			created(b)
			for _, id := range []string{"c", "d"} {
				b.ToolCall(trace.ToolCall{ToolCallID: id, RawName: "read", Input: raw(`{"path":"` + id + `"}`)})
			}
			for _, id := range []string{"d", "c"} {
				b.ToolResult(trace.ToolResult{ToolCallID: id, Status: trace.ToolCompleted, Output: raw(`"` + id + `"`)})
			}
		})
}

// Whichever of the two came first, what comes again in the other form is no more text.
func TestE04_TextThatComesTwiceIsShownOnce(t *testing.T) {
	row(t, "E04", ended("end_turn"),
		"start(m1) start-step text-start(text-1) text-delta(text-1) text-delta(text-1) text-end(text-1) finish-step finish [DONE]",
		opens+" "+delta+" "+delta+" "+closes,
		func(b *trace.Builder) {
			textScript("Hel")(b)
			b.MessageSnapshot("a", "Hel")
			b.MessageSnapshot("a", "Hello")
			b.Message("a", "Hello")
		})
}

func TestE05_H12_EachToolHasAnIDOfItsOwn(t *testing.T) {
	row(t, "E05", ended("end_turn"),
		"start(m1) start-step tool-input-available(c) tool-output-available(c) tool-input-available(c~2) tool-output-available(c~2) tool-input-available(d) tool-output-available(d) finish-step finish [DONE]",
		opens+" tool-input-available(c) tool-output-available(c) tool-input-available(c~2) tool-output-available(c~2) tool-input-available(d) tool-output-available(d) "+closes,
		func(b *trace.Builder) {
			created(b)
			for _, id := range []string{"c", "c", "d"} {
				b.ToolCall(trace.ToolCall{ToolCallID: id, RawName: "read", Input: raw(`{}`)})
				b.ToolResult(trace.ToolResult{ToolCallID: id, Status: trace.ToolCompleted, Output: raw(`"x"`)})
			}
		})
}

func TestE06_H13_TextAndToolsInterleave(t *testing.T) {
	row(t, "E06", ended("end_turn"),
		"start(m1) start-step text-start(text-1) text-delta(text-1) tool-input-start(c) text-delta(text-1) tool-input-available(c) text-delta(text-1) tool-output-available(c) text-end(text-1) finish-step finish [DONE]",
		opens+" "+delta+" tool-input-start(c) "+delta+" tool-input-available(c) "+delta+" tool-output-available(c) "+closes,
		func(b *trace.Builder) {
			textScript("I ")(b)
			b.ToolCallStart(trace.ToolCallStart{ToolCallID: "c", RawName: "read"})
			b.MessageDelta("a", "am ")
			b.ToolCall(trace.ToolCall{ToolCallID: "c", RawName: "read", Input: raw(`{}`)})
			b.MessageDelta("a", "reading.")
			b.ToolResult(trace.ToolResult{ToolCallID: "c", Status: trace.ToolCompleted, Output: raw(`"x"`)})
			b.MessageEnd("a")
		})
}

// Two upstream turns for one prompt: the message keeps its name, and what the second
// one says is a text of its own.
func TestE29_AFailoverIsASecondTextOfTheMessage(t *testing.T) {
	row(t, "E29", ended("end_turn"),
		"start(m1) start-step text-start(text-1) text-delta(text-1) text-end(text-1) finish-step start-step text-start(text-2) text-delta(text-2) text-end(text-2) finish-step finish [DONE]",
		opens+" "+delta+" text-end(turn-abc123) text-start(turn-def456) text-delta(turn-def456) text-end(turn-def456) finish-step message-finish [DONE]",
		func(b *trace.Builder) {
			textScript("I was ab")(b)
			b.StepStart(trace.Step{NativeID: "turn-def456"})
			b.MessageDelta("b", "Here it is.")
		})
}

// calculator is the stream at the end of the RFC.
func calculator(b *trace.Builder) {
	textScript("Let me calculate", " that for you.")(b)
	b.MessageEnd("a")
	b.ToolCallStart(trace.ToolCallStart{ToolCallID: "call-1", RawName: "calculator"})
	b.ToolCall(trace.ToolCall{ToolCallID: "call-1", RawName: "calculator", Input: raw(`{"expression":"2+2"}`)})
	b.ToolResult(trace.ToolResult{ToolCallID: "call-1", Status: trace.ToolCompleted, Output: raw(`{"result":4}`)})
	b.MessageDelta("b", "The answer is 4.")
}

func TestC03_C06_C07_H11_TheStreamOfTheAppendix(t *testing.T) {
	row(t, "C06", ended("end_turn"),
		"start(m1) start-step text-start(text-1) text-delta(text-1) text-delta(text-1) text-end(text-1) tool-input-start(call-1) tool-input-available(call-1) tool-output-available(call-1) text-start(text-2) text-delta(text-2) text-end(text-2) finish-step finish [DONE]",
		opens+" "+delta+" "+delta+" tool-input-start(call-1) tool-input-available(call-1) tool-output-available(call-1) "+delta+" "+closes, calculator)
	for _, client := range []string{"5", "5.0.277", "6.0.0", "6.0.323", "7", "7.0.173"} { // C07
		p := profile(t, client)
		for _, rfc := range []bool{false, true} {
			for _, c := range translate(uistream.Options{Profile: p, RFC: rfc}, write(t, ended("end_turn"), calculator)) {
				if err := p.Check(uistream.AppendChunk(nil, c)); err != nil {
					t.Errorf("client %s, rfc %v: %v", client, rfc, err)
				}
			}
		}
	}
}

func TestC04_EveryFrameHasBothNames(t *testing.T) {
	t.Parallel()
	records := everything(t, stopped)
	for rfc, long := range map[bool]map[string]string{false: {}, true: {"start": "message-start", "finish": "message-finish"}} {
		stream := uistream.AppendTurn(nil, slices.Values(records), uistream.Options{RFC: rfc}, uistream.Framing{})
		for frame := range strings.SplitSeq(strings.TrimSuffix(string(stream), "data: [DONE]\n\n"), "\n\n") {
			if frame == "" {
				continue
			}
			event, data, both := strings.Cut(strings.TrimPrefix(frame, "event: "), "\ndata: ")
			var c struct{ Type string }
			if err := json.Unmarshal([]byte(data), &c); err != nil || !both {
				t.Fatalf("rfc %v: %q: %v", rfc, frame, err)
			}
			want := c.Type
			if name, ok := long[c.Type]; ok {
				want = name
			}
			if event != want {
				t.Errorf("rfc %v: a %s chunk is called %s", rfc, c.Type, event)
			}
		}
	}
	none := uistream.AppendTurn(nil, slices.Values(records), uistream.Options{RFC: true}, uistream.Framing{NoEvents: true})
	if strings.Contains(string(none), "event:") {
		t.Error("event lines that were turned off")
	}
}

func TestC05_EachChunkHasItsKeys(t *testing.T) {
	t.Parallel()
	keys := map[string][]string{
		"start": {"messageId"}, "text-start": {"id"}, "text-delta": {"id", "delta"}, "text-end": {"id"},
		"tool-input-start": {"toolCallId", "toolName"}, "tool-input-delta": {"toolCallId", "inputTextDelta"},
		"tool-input-available": {"toolCallId", "toolName", "input"}, "tool-output-available": {"toolCallId", "output"}, "error": {"errorText"},
	}
	for _, rfc := range []bool{false, true} {
		seen := map[string]bool{}
		failed := trace.Stop{Reason: "error", Outcome: trace.OutcomeFailed, Error: "It broke."}
		for _, c := range translate(uistream.Options{RFC: rfc}, everything(t, failed)) {
			var chunk map[string]any
			if err := json.Unmarshal(uistream.AppendChunk(nil, c), &chunk); err != nil {
				t.Fatal(err)
			}
			seen[c.Type()] = true
			for _, k := range keys[c.Type()] {
				if _, ok := chunk[k]; !ok {
					t.Errorf("rfc %v: a %s chunk lacks %s", rfc, c.Type(), k)
				}
			}
		}
		for typ := range keys {
			if !seen[typ] {
				t.Errorf("rfc %v: no %s chunk", rfc, typ)
			}
		}
	}
}

func TestC08_G02_AStreamThatWasInterruptedIsAnErrorAndThenTheFinish(t *testing.T) {
	row(t, "C08", trace.Stop{Reason: "agent_lost", Outcome: trace.OutcomeFailed, Error: "Stream interrupted"},
		"start(m1) start-step text-start(text-1) text-delta(text-1) text-end(text-1) finish-step data-error error finish [DONE]",
		opens+" "+delta+" error message-finish [DONE]",
		textScript("I was about"))
}

// Each delta has gone out before the agent says the next, in either form; and in a
// silence there is a comment, in the words of each.
func TestC09_F05_EachDeltaIsSentAsItComes(t *testing.T) {
	t.Parallel()
	for rfc, alive := range map[bool]string{false: ": keep-alive\n\n", true: ": keepalive\n\n"} {
		synctest.Test(t, func(t *testing.T) {
			const n = 50
			records := story(t, n, "word ")
			bc := uistream.NewStreams(uistream.Framing{})
			defer bc.Close()
			f := newFeed(records[:2]...)
			var r response
			result := make(chan error)
			go func() {
				o := uistream.Options{RFC: rfc}
				result <- bc.Serve(t.Context(), uistream.NewWriter(&r, bc.Framing().For(o), uistream.Timing{}), uistream.NewSubscription("t1", o, uistream.Span{}), f)
			}()
			said := 0
			for _, next := range records[2:] {
				if _, is := next.Payload.(trace.MessageDelta); is {
					said++
				}
				f.add(next)
				synctest.Wait()
				if got := strings.Count(r.text(), `"delta":"word "`); got != said {
					t.Errorf("rfc %v: %d deltas are out when %d were said", rfc, got, said)
				}
				if said == 1 && !strings.Contains(r.text(), alive) {
					time.Sleep(16 * time.Second)
					synctest.Wait()
				}
			}
			if err := <-result; err != nil || said != n || strings.Count(r.text(), alive) != 1 {
				t.Errorf("rfc %v: %v, %d said\n%s", rfc, err, said, r.text())
			}
		})
	}
}

// A large turn goes out in small writes, the first of them long
// before its end.
func TestC10_ATurnIsNeverHeldInMemoryAsAWhole(t *testing.T) {
	t.Parallel()
	records := story(t, 300, strings.Repeat("x", 10<<10))
	half := len(records) / 2
	bc := uistream.NewStreams(uistream.Framing{})
	defer bc.Close()
	f := newFeed(records[:half]...)
	var last int
	var r response
	r.hook = func(written int) error {
		if written-last > 33<<10 {
			t.Errorf("%d bytes in one write", written-last)
		}
		last = written
		if written > 1<<20 { // a third of it, and its end is yet to be said
			f.mu.Lock()
			missing := f.records[len(f.records)-1].Payload.Kind() != trace.KindStop
			f.mu.Unlock()
			if missing {
				f.add(records[half:]...)
			}
		}
		return nil
	}
	if err := bc.Serve(t.Context(), uistream.NewWriter(&r, bc.Framing(), uistream.Timing{}), uistream.NewSubscription("t1", uistream.Options{}, uistream.Span{}), f); err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(r.text(), "data: [DONE]\n\n") || r.body.Len() < 300*(10<<10) {
		t.Errorf("%d bytes, which end with %q", r.body.Len(), r.text()[max(0, r.body.Len()-100):])
	}
}

// resumedOutline is the outline of what somebody gets of a turn from a mark on.
func resumedOutline(t *testing.T, o uistream.Options, records []trace.Record, from uistream.Span) string {
	t.Helper()
	bc := uistream.NewStreams(uistream.Framing{})
	defer bc.Close()
	var r response
	if err := bc.Serve(t.Context(), uistream.NewWriter(&r, bc.Framing().For(o), uistream.Timing{}), uistream.NewSubscription("t1", o, from), newFeed(records...)); err != nil {
		t.Error(err)
	}
	return outlineOf(t, []byte(r.frames()))
}

// A reader who gets the rest of a message has never seen the message's text begin.
func TestTheRestOfAMessageByTheRFC(t *testing.T) {
	t.Parallel()
	permitted := write(t, completed(), func(b *trace.Builder) {
		textScript("Before.")(b)
		b.ToolCall(trace.ToolCall{ToolCallID: "c", RawName: "bash"})
		id, _, _ := b.PermissionRequest(trace.PermissionRequest{RequestID: "r", ToolCallID: "c", Title: "Run?", Options: []trace.PermissionOption{{ID: "y", OptionKind: trace.AllowOnce}}}, trace.ToolCall{})
		b.PermissionResponse(trace.PermissionResponse{RequestID: id, Outcome: trace.Selected, ChosenOption: "y", By: "me"})
		b.ToolResult(trace.ToolResult{ToolCallID: "c", Status: trace.ToolCompleted})
		b.Message("b", "After.")
	})
	answered := write(t, completed(), writeQuestion)
	o := uistream.Options{RFC: true, Profile: profile(t, "")}
	for _, c := range []struct {
		name    string
		records []trace.Record
		want    string
	}{
		{"after a permission", permitted, "message-start(turn-abc123) tool-output-available(c) text-start(turn-abc123) " + delta + " " + closes},
		{"after a question", answered, "message-start(turn-abc123) text-start(turn-abc123) data-question(q-1) " + delta + " " + closes},
	} {
		if got := resumedOutline(t, o, c.records, uistream.Span{From: seqOf(t, c.records, trace.KindPause, 1) + 1, SkipPausesThrough: 1 << 60}); got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.name, got, c.want)
		}
	}
	steered := write(t, completed(), func(b *trace.Builder) {
		textScript("One")(b)
		b.Emit(trace.Reply{MessageID: "m2", Cause: trace.CauseSteer})
		created(b)
		b.MessageDelta("b", "Two")
	})
	for from, want := range map[uint64]string{
		0:                                     opens + " " + delta + " " + closes,
		seqOf(t, steered, trace.KindReply, 2): "message-start(m2) text-start(m2) text-delta(m2) text-end(m2) finish-step message-finish [DONE]",
	} {
		if got := resumedOutline(t, o, steered, uistream.Span{From: from}); got != want {
			t.Errorf("from %d:\ngot  %s\nwant %s", from, got, want)
		}
	}
}

// Events before the agent has named its turn wait for the name.
func TestFramesBeforeTheNameByTheRFC(t *testing.T) {
	t.Parallel()
	early := func(b *trace.Builder) {
		b.Emit(trace.Error{Code: "not_rewound", Message: "It still remembers."})
		b.Emit(trace.Status{State: trace.StateThinking})
		textScript("Hello")(b)
	}
	got := outlineOf(t, uistream.AppendTurn(nil, slices.Values(write(t, completed(), early)), uistream.Options{RFC: true}, uistream.Framing{}))
	if want := "data-agent-status " + opens + " data-notice " + delta + " " + closes; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	unnamed := write(t, completed(), func(b *trace.Builder) { b.Emit(trace.Error{Message: "slow"}) })
	got = outlineOf(t, uistream.AppendTurn(nil, slices.Values(unnamed), uistream.Options{RFC: true}, uistream.Framing{}))
	if want := "message-start(m1) text-start(m1) data-notice text-end(m1) finish-step message-finish [DONE]"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestAnApprovalCanBeADataPartToo(t *testing.T) {
	t.Parallel()
	records := write(t, completed(), func(b *trace.Builder) {
		created(b)
		b.ToolCall(trace.ToolCall{ToolCallID: "c", RawName: "bash", Input: raw(`{"command":"rm x"}`)})
		id, _, _ := b.PermissionRequest(trace.PermissionRequest{RequestID: "r", ToolCallID: "c", Title: "Run?", Options: []trace.PermissionOption{{ID: "n", Name: "No", OptionKind: trace.RejectOnce}}}, trace.ToolCall{})
		b.PermissionResponse(trace.PermissionResponse{RequestID: id, Outcome: trace.Selected, ChosenOption: "n", By: "me"})
		b.ToolResult(trace.ToolResult{ToolCallID: "c", Status: trace.ToolDenied, Error: "No."})
	})
	const asked = `{"type":"data-approval","id":"r","data":{"request_id":"r","title":"Run?","options":[{"id":"n","name":"No","kind":"reject_once"}],"tool_call_id":"c","tool":"bash","input":{"command":"rm x"}`
	for _, rfc := range []bool{false, true} {
		got := lines(translate(uistream.Options{RFC: rfc, Profile: profile(t, ""), Domain: domain(t, "approval")}, records))
		if !strings.Contains(got, asked+"}}\n") || !strings.Contains(got, asked+`,"outcome":"selected","option":"n","approved":false}}`+"\n") {
			t.Errorf("rfc %v: %s", rfc, got)
		}
	}
}
