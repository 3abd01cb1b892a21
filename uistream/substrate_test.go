package uistream_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/trace"
	"github.com/tributary-dev/tributary/uistream"
)

var options = []trace.PermissionOption{
	{ID: "yes", Name: "Allow", OptionKind: trace.AllowOnce}, {ID: "no", Name: "Deny", OptionKind: trace.RejectOnce},
}

func requests(id, call string) trace.PermissionRequest {
	return trace.PermissionRequest{RequestID: id, ToolCallID: call, Title: "Run " + call + "?", Options: options}
}

func chooses(id, option string) trace.PermissionResponse {
	return trace.PermissionResponse{RequestID: id, Outcome: trace.Selected, ChosenOption: option, By: "ann"}
}

func input(s string) json.RawMessage { return json.RawMessage(s) }

// tools are the tool parts of a message in a word each.
func tools(m uistream.Message) string {
	var words []string
	for _, p := range m.Parts {
		if p.ToolCallID != "" {
			words = append(words, strings.TrimSpace(p.ToolCallID+" "+p.State+" "+string(p.Input)+" "+string(p.Output)+p.ErrorText))
		}
	}
	return strings.Join(words, ", ")
}

func only(t *testing.T, o uistream.Options, script func(*trace.Builder)) uistream.Message {
	t.Helper()
	all := messages(t, translate(o, write(t, completed(), script)))
	if len(all) != 1 {
		t.Fatalf("%d messages", len(all))
	}
	return all[0]
}

func clients(t *testing.T) map[string]uistream.Options {
	t.Helper()
	of := map[string]uistream.Options{}
	for _, c := range []string{"5", "", "6.0.323", "7"} {
		of[c] = uistream.Options{Profile: profile(t, c)}
	}
	return of
}

func TestACallThatIsRevisedIsShownWithTheInputThatRuns(t *testing.T) {
	t.Parallel()
	for name, o := range clients(t) {
		m := only(t, o, func(b *trace.Builder) {
			b.ToolCall(trace.ToolCall{ToolCallID: "c", RawName: "bash", Input: input(`{"command":"ls"}`)})
			b.PermissionRequest(requests("p", "c"), trace.ToolCall{RawName: "bash", Input: input(`{"command":"rm x"}`)})
			b.PermissionResponse(chooses("p", "yes"))
			b.ToolResult(trace.ToolResult{ToolCallID: "c", Status: trace.ToolCompleted, Output: input(`"gone"`)})
		})
		if got := tools(m); !strings.Contains(got, `c output-available {"command":"rm x"} "gone"`) || strings.Contains(got, "ls") {
			t.Errorf("client %q shows %s", name, got)
		}
	}
}

func TestARequestIsStillAskedAfterItsCallWasRevised(t *testing.T) {
	t.Parallel()
	records := write(t, completed(), func(b *trace.Builder) {
		b.ToolCall(trace.ToolCall{ToolCallID: "c", RawName: "bash", Input: input(`{"command":"ls"}`)})
		b.PermissionRequest(requests("p", "c"), trace.ToolCall{})
	})
	o := uistream.Options{Profile: profile(t, "7")}
	tr := uistream.NewTranslator(o)
	var chunks []uistream.Chunk
	for _, r := range records {
		if p, ok := r.Payload.(trace.Pause); ok { // readers stay, so that the change is seen
			p.Held = true
			r.Payload = p
		}
		if _, ok := r.Payload.(trace.PermissionResponse); ok {
			break
		}
		chunks = append(chunks, tr.Translate(r)...)
	}
	chunks = append(chunks, tr.Translate(rec(trace.Agent, trace.ToolCall{ToolCallID: "c", RawName: "bash", Name: "bash", Input: input(`{"command":"rm x"}`)})[0])...)
	if got := tools(messages(t, chunks)[0]); got != `c approval-requested {"command":"rm x"}` {
		t.Error(got)
	}
}

// In a later step the clients would show two calls.
func TestACallThatIsRevisedInALaterStepIsShownOnce(t *testing.T) {
	t.Parallel()
	for name, o := range clients(t) {
		m := only(t, o, func(b *trace.Builder) {
			b.ToolCall(trace.ToolCall{ToolCallID: "c", RawName: "bash", Input: input(`{"a":1}`)})
			b.StepEnd()
			b.Message("m", "Meanwhile.")
			b.ToolCallUpdate(trace.ToolCall{ToolCallID: "c", Input: input(`{"a":2}`)})
			b.ToolResult(trace.ToolResult{ToolCallID: "c", Status: trace.ToolCompleted, Output: input(`1`)})
		})
		if got := tools(m); got != `c output-available {"a":1} 1` {
			t.Errorf("client %q shows %s", name, got)
		}
	}
}

func TestADeniedCallReadsAsDenied(t *testing.T) {
	t.Parallel()
	for client, want := range map[string]string{
		"5": `c output-error {} not today`, "": `c output-denied {}`, "7": `c output-denied {}`,
	} {
		m := only(t, uistream.Options{Profile: profile(t, client)}, func(b *trace.Builder) {
			b.ToolCall(trace.ToolCall{ToolCallID: "c", RawName: "bash", Input: input(`{}`)})
			b.PermissionRequest(requests("p", "c"), trace.ToolCall{})
			no := chooses("p", "no")
			no.Reason = "not today"
			b.PermissionResponse(no)
			b.Message("m", "Then not.")
		})
		if got := tools(m); !strings.HasPrefix(got, want) {
			t.Errorf("client %q shows %s, want %s", client, got, want)
		}
	}
}

func TestASubagentWithoutACallIsOneDataPart(t *testing.T) {
	t.Parallel()
	for _, how := range []uistream.Subagents{uistream.SubagentsPart, uistream.SubagentsPreliminary} {
		m := only(t, uistream.Options{Subagents: how}, func(b *trace.Builder) {
			b.Sub("ses_2", "explore").Message("m", "Found it.")
			b.SubEnd("ses_2", trace.SubagentCompleted)
		})
		var got []string
		for _, p := range m.Parts {
			if p.Data != nil {
				got = append(got, p.Type+" "+p.ID+" "+string(p.Data))
			}
		}
		if want := []string{`data-subagent ses_2 {"name":"explore","text":"Found it.","status":"completed"}`}; !slices.Equal(got, want) {
			t.Errorf("%v", got)
		}
	}
}

func TestASubagentCanBeThePreliminaryOutputOfItsCall(t *testing.T) {
	t.Parallel()
	for client, want := range map[string]string{
		"5": `{"type":"data-subagent"`, "": `{"type":"data-subagent"`, "6": `{"type":"data-subagent"`,
		"7": `{"type":"tool-output-available","toolCallId":"c","output":"Found it.","providerExecuted":true,"dynamic":true,"preliminary":true}`,
	} {
		o := uistream.Options{Profile: profile(t, client), Subagents: uistream.SubagentsPreliminary}
		chunks := translate(o, write(t, completed(), func(b *trace.Builder) {
			b.ToolCall(trace.ToolCall{ToolCallID: "c", RawName: "Task", Input: input(`{}`)})
			b.Under("c").Message("m", "Found it.")
			b.ToolResult(trace.ToolResult{ToolCallID: "c", Status: trace.ToolCompleted, Output: input(`"done"`)})
		}))
		preliminary := strings.Contains(lines(chunks), want)
		data := strings.Contains(lines(chunks), "data-subagent")
		if !preliminary || data != strings.Contains(want, "data-subagent") {
			t.Errorf("client %q gets\n%s", client, lines(chunks))
		}
		if got := tools(messages(t, chunks)[0]); got != `c output-available {} "done"` {
			t.Errorf("client %q ends with %s", client, got)
		}
	}
}

// The request has a call of its own, because a call beside it runs.
func TestTheApprovalShowsTheInputOfTheTool(t *testing.T) {
	t.Parallel()
	chunks := lines(translate(uistream.Options{}, write(t, completed(), func(b *trace.Builder) {
		b.ToolCall(trace.ToolCall{ToolCallID: "c1", RawName: "bash", Input: input(`{"command":"one"}`)})
		b.ToolCall(trace.ToolCall{ToolCallID: "c2", RawName: "bash", Input: input(`{"command":"two"}`)})
		b.PermissionRequest(requests("p", "c1"), trace.ToolCall{})
		b.PermissionResponse(chooses("p", "yes"))
	})))
	if !strings.Contains(chunks, `"toolCallId":"permission-p","toolName":"permission","input":{"command":"one"}`) || strings.Contains(chunks, "request_id") {
		t.Error(chunks)
	}
}

// answeredFirst is a turn that asks two things, of which one has its answer.
func answeredFirst(t *testing.T, option string) []trace.Record {
	t.Helper()
	records := write(t, completed(), func(b *trace.Builder) {
		var all []trace.PermissionCheck
		for _, id := range []string{"1", "2"} {
			b.ToolCall(trace.ToolCall{ToolCallID: "c" + id, RawName: "bash", Input: input(`{}`)})
			all = append(all, trace.PermissionCheck{Request: requests("p"+id, "c"+id)})
		}
		b.PermissionRequests(all...)
		b.PermissionResponse(chooses("p1", option))
		b.PermissionResponse(chooses("p2", "yes"))
	})
	at := slices.IndexFunc(records, func(r trace.Record) bool {
		p, ok := r.Payload.(trace.PermissionResponse)
		return ok && p.RequestID == "p2"
	})
	return records[:at]
}

func TestAnAnsweredRequestReadsAsAnsweredWhileAnotherIsOpen(t *testing.T) {
	t.Parallel()
	for name, o := range clients(t) {
		for option, states := range map[string]map[string]string{
			"yes": {"": "approval-responded", "6.0.323": "approval-responded", "7": "approval-responded", "5": "output-available"},
			"no":  {"": "output-denied", "6.0.323": "output-denied", "7": "approval-responded", "5": "output-available"},
		} {
			history, err := uistream.History(seq(answeredFirst(t, option)), o)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, p := range history[1].Parts {
				if strings.HasPrefix(p.Type, "tool-") || p.Approval != nil {
					got = append(got, p.State)
				}
			}
			waiting := "approval-requested"
			if name == "5" {
				waiting = "input-available"
			}
			if want := []string{states[name], waiting}; !slices.Equal(got, want) {
				t.Errorf("client %q, %s: %v, want %v", name, option, got, want)
			}
		}
	}
}

// The message that asked is closed for its reader once the answer comes in words: the
// reader has left it. The result of the sibling call is shown in the next message.
func TestASiblingsResultReachesTheReaderOfATextAnswer(t *testing.T) {
	t.Parallel()
	for name, o := range clients(t) {
		records := write(t, completed(), func(b *trace.Builder) {
			for _, id := range []string{"1", "2"} {
				b.ToolCall(trace.ToolCall{ToolCallID: "c" + id, RawName: "bash", Input: input(`{"n":` + id + `}`)})
			}
			b.PermissionRequest(requests("p", "c1"), trace.ToolCall{})
			b.ToolResult(trace.ToolResult{ToolCallID: "c2", Status: trace.ToolCompleted, Output: input(`"sibling"`)})
			b.Message("said meanwhile", "Still here.")
			words := trace.TextAnswer{
				Prompt: trace.Prompt{Message: trace.UserMessage{ID: "u2"}}, Reply: trace.Reply{MessageID: "m2", Cause: trace.CauseAnswer},
			}
			if err := b.Resolve(chooses("p", "yes"), &words); err != nil {
				t.Error(err)
			}
			b.ToolResult(trace.ToolResult{ToolCallID: "c1", Status: trace.ToolCompleted, Output: input(`"asked"`)})
		})
		all := messages(t, translate(o, records))
		got := tools(all[1])
		if !strings.Contains(got, `c2 output-available {"n":2} "sibling"`) || !strings.Contains(got, `c1 output-available {"n":1} "asked"`) || !strings.Contains(asJSON(all[1]), "Still here.") {
			t.Errorf("client %q has in the second message: %s", name, got)
		}
		if first := tools(all[0]); strings.Contains(first, "sibling") || strings.Contains(first, "input-available") {
			t.Errorf("client %q has in the first message: %s", name, first)
		}
	}
}

// The answer comes by the question's own address, before the stream shows the
// question.
func TestAQuestionThatIsAnsweredAtAPauseIsShownBehindIt(t *testing.T) {
	t.Parallel()
	m := only(t, uistream.Options{Profile: profile(t, "7")}, func(b *trace.Builder) {
		b.ToolCall(trace.ToolCall{ToolCallID: "c", RawName: "bash", Input: input(`{}`)})
		b.PermissionRequest(requests("p", "c"), trace.ToolCall{})
		b.Question(trace.Question{QuestionID: "q", Text: "Which?"})
		b.Answer(trace.Answer{QuestionID: "q", Outcome: trace.Selected, Values: []string{"red"}, By: "ann"})
		b.PermissionResponse(chooses("p", "yes"))
		b.ToolResult(trace.ToolResult{ToolCallID: "c", Status: trace.ToolCompleted})
	})
	if got := tools(m); !strings.HasPrefix(got, "c output-available") || !strings.Contains(got, `q output-available`) || !strings.Contains(got, `"red"`) {
		t.Error(got)
	}
}

// A client that knows no titles is not sent the same call again.
func TestACallOfWhichNothingThatIsShownHasChangedIsShownOnce(t *testing.T) {
	t.Parallel()
	for client, want := range map[string]int{"5": 1, "": 1, "7": 2} {
		chunks := lines(translate(uistream.Options{Profile: profile(t, client)}, write(t, completed(), func(b *trace.Builder) {
			b.ToolCall(trace.ToolCall{ToolCallID: "c", RawName: "bash", Input: input(`{}`)})
			b.ToolCallUpdate(trace.ToolCall{ToolCallID: "c", Title: "Run it"})
			b.ToolCallUpdate(trace.ToolCall{ToolCallID: "c", Locations: []trace.Location{{Path: "a.go"}}})
		})))
		if got := strings.Count(chunks, "tool-input-available"); got != want {
			t.Errorf("client %q is shown the call %d times, want %d", client, got, want)
		}
	}
}

func TestTextDuringAPauseIsShownBehindTheAnswer(t *testing.T) {
	t.Parallel()
	records := write(t, completed(), func(b *trace.Builder) {
		b.ToolCall(trace.ToolCall{ToolCallID: "c", RawName: "bash", Input: input(`{}`)})
		b.PermissionRequest(requests("p", "c"), trace.ToolCall{})
		b.Message("m", "By the way.")
		b.PermissionResponse(chooses("p", "yes"))
	})
	tr := uistream.NewTranslator(uistream.Options{Profile: profile(t, "7")})
	var paused bool
	for _, r := range records {
		chunks := lines(tr.Translate(r))
		_, answer := r.Payload.(trace.PermissionResponse)
		if paused && !answer && chunks != "" {
			t.Errorf("before the answer: %s", chunks)
		}
		if answer {
			if !strings.Contains(chunks, "tool-approval-response") || !strings.Contains(chunks, "By the way.") {
				t.Errorf("with the answer: %s", chunks)
			}
			return
		}
		paused = paused || tr.Paused()
	}
}

// A page can show the inner sub-agent in the outer one.
func TestASubagentOfASubagentNamesItsParent(t *testing.T) {
	t.Parallel()
	task := func(b *trace.Builder, id string) *trace.Builder {
		b.ToolCall(trace.ToolCall{ToolCallID: id, RawName: "Task"})
		return b.Under(id)
	}
	for name, c := range map[string]struct {
		inner, outer func(*trace.Builder) *trace.Builder
		want         string
	}{
		"both by calls":       {func(b *trace.Builder) *trace.Builder { return task(b, "inner") }, func(b *trace.Builder) *trace.Builder { return task(b, "outer") }, "inner<outer outer<"},
		"a session of a call": {func(b *trace.Builder) *trace.Builder { return b.Sub("inner", "") }, func(b *trace.Builder) *trace.Builder { return task(b, "outer") }, "inner<outer outer<"},
		"a call of a session": {func(b *trace.Builder) *trace.Builder { return task(b, "inner") }, func(b *trace.Builder) *trace.Builder { return b.Sub("outer", "") }, "inner<outer outer<"},
	} {
		m := only(t, uistream.Options{}, func(b *trace.Builder) {
			outer := c.outer(b)
			outer.Message("o", "I ask another one.")
			c.inner(outer).Message("i", "Found it.")
		})
		var got []string
		for _, p := range m.Parts {
			var of struct {
				Parent string `json:"parent_id"`
			}
			if p.Type == "data-subagent" && json.Unmarshal(p.Data, &of) == nil {
				got = append(got, p.ID+"<"+of.Parent)
			}
		}
		slices.Sort(got)
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}
