package agentops_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tributary-dev/tributary/trace"
)

// requestsIn are the questions and requests of a turn.
func requestsIn(records []trace.Record) (all []string) {
	for _, r := range records {
		switch p := r.Payload.(type) {
		case trace.Question:
			var choices []string
			for _, c := range p.Choices {
				choices = append(choices, c.Label)
			}
			all = append(all, strings.Join(append([]string{p.QuestionID, p.ToolCallID, p.Text}, choices...), "|"))
		case trace.PermissionRequest:
			all = append(all, strings.Join([]string{p.RequestID, p.ToolCallID, p.Title, p.Options[0].ID, p.Options[1].ID}, "|"))
		}
	}
	return all
}

func TestQuestions(t *testing.T) {
	t.Parallel()
	actions := `"actions":[{"id":"option_0","label":"Red"},{"id":"option_1","label":"Blue"}]`
	for name, c := range map[string]struct{ ask, answer, want string }{
		"by a choice": {
			`{"type":"interactive_prompt","prompt":{"id":"q","type":"question","title":"Which?",` + actions + `,"context":{}}}`,
			toUs(`{"type":"interactive_prompt_resolved","promptId":"q","promptType":"question","resolution":{"actionId":"option_1","resolvedBy":"u2"}}`), "q selected Blue",
		},
		"by words": {
			`{"type":"interactive_prompt","prompt":{"id":"q","type":"question","title":"Which?",` + actions + `,"context":{}}}`,
			toUs(`{"type":"interactive_prompt_resolved","promptId":"q","promptType":"question","resolution":{"value":"Green","resolvedBy":"u2"}}`), "q selected Green",
		},
		"expired":          {`{"type":"interactive_prompt","prompt":{"id":"q","type":"question","title":"Which?",` + actions + `,"context":{}}}`, toUs(`{"type":"interactive_prompt_expired","promptId":"q","promptType":"question"}`), "q expired "},
		"answered by us":   {`{"type":"interactive_prompt","prompt":{"id":"q","type":"question","title":"Which?",` + actions + `,"context":{}}}`, fromUs(`{"type":"answer","questionId":"q","answer":"Red"}`), "q selected Red"},
		"a yes":            {`{"type":"interactive_prompt","prompt":{"id":"q","type":"question","title":"Which?",` + actions + `,"context":{}}}`, fromUs(`{"type":"answer","questionId":"q","answer":true}`), "q selected true"},
		"told it expired":  {`{"type":"interactive_prompt","prompt":{"id":"q","type":"question","title":"Which?",` + actions + `,"context":{}}}`, fromUs(`{"type":"answer","questionId":"q","answer":"__expired__"}`), "q expired "},
		"nobody answered":  {`{"type":"interactive_prompt","prompt":{"id":"q","type":"question","title":"Which?",` + actions + `,"context":{}}}`, toUs(idle), "q canceled "},
		"told twice":       {`{"type":"interactive_prompt","prompt":{"id":"q","type":"question","title":"Which?",` + actions + `,"context":{}}}`, toUs(`{"type":"interactive_prompt","prompt":{"id":"q","type":"question","title":"Which?",` + actions + `,"context":{}}}`), "q canceled "},
		"the second is no": {`{"type":"interactive_prompt","prompt":{"id":"q","type":"question","title":"Which?",` + actions + `,"context":{}}}`, fromUs(`{"type":"answer","questionId":"q","answer":"Red"}`) + "\n" + toUs(`{"type":"interactive_prompt_resolved","promptId":"q","promptType":"question","resolution":{"value":"Blue","resolvedBy":"u2"}}`), "q selected Red"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			question := `{"type":"tool-call","callId":"c","toolName":"question","status":"running","args":{"questions":[{}]}}`
			p := playBack(t, lines(promptBegun(initFrame), toUs(startFrame("t")), toUs(wholeFrame("t", question)), toUs(c.ask), c.answer, toUs(streaming),
				toUs(wholeFrame("t", strings.Replace(question, "running", "completed", 1), finishPart("end_turn"))), toUs(notBusy)))
			if len(p.Turns) != 1 {
				t.Fatalf("%d turns", len(p.Turns))
			}
			if got := requestsIn(p.Turns[0]); !slices.Equal(got, []string{"q|c|Which?|Red|Blue"}) {
				t.Error(got)
			}
			if got := summaryOf(p.Turns[0]).Answers; !slices.Equal(got, []string{c.want}) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestApprovals(t *testing.T) {
	t.Parallel()
	head := `{"type":"interactive_prompt","prompt":{"id":"i","sessionId":"s","type":"approval","title":"Action requires approval","body":"Send it","actions":[{"id":"approve","label":"Approve"},{"id":"deny","label":"Deny"}],"context":{"toolId":"gmail:send","params":{"to":"a"},"invocationId":"i"}}}`
	resolved := func(action string) string {
		return toUs(`{"type":"interactive_prompt_resolved","promptId":"i","promptType":"approval","resolution":{"actionId":"` + action + `","resolvedBy":"u2"}}`)
	}
	for name, c := range map[string]struct{ ask, answer, status, asked, answered, tool string }{
		"approved": {head, resolved("approve"), `completed","result":"ok`, "i|c|Send it|approve|deny", "i selected approve", `c completed {"params":{"to":"a"},"tool_id":"gmail:send"} "ok"`},
		"denied":   {head, resolved("deny"), `error","error":"denied`, "i|c|Send it|approve|deny", "i selected deny", `c denied {"params":{"to":"a"},"tool_id":"gmail:send"} null denied`},
		"refused":  {head, resolved("deny"), `completed","result":"Tool call failed: denied`, "i|c|Send it|approve|deny", "i selected deny", `c denied {"params":{"to":"a"},"tool_id":"gmail:send"} null Tool call failed: denied`},
		"expired":  {head, toUs(`{"type":"interactive_prompt_expired","promptId":"i","promptType":"approval"}`), `error","error":"expired`, "i|c|Send it|approve|deny", "i expired ", `c denied {"params":{"to":"a"},"tool_id":"gmail:send"} null expired`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			call := func(status string) string {
				return `{"type":"tool-call","callId":"c","toolName":"call_tool","args":{"tool_id":"gmail:send"},"status":"` + status + `"}`
			}
			p := playBack(t, lines(promptBegun(initFrame), toUs(startFrame("t")), toUs(wholeFrame("t", call("running"))), toUs(c.ask), toUs(c.ask), c.answer,
				toUs(wholeFrame("t", call(c.status))), toUs(wholeFrame("t", call(c.status), finishPart("end_turn"))), toUs(notBusy)))
			if len(p.Turns) != 1 {
				t.Fatalf("%d turns", len(p.Turns))
			}
			if got := requestsIn(p.Turns[0]); !slices.Equal(got, []string{c.asked}) {
				t.Errorf("%q, want %q", got, c.asked)
			}
			got := summaryOf(p.Turns[0])
			if !slices.Equal(got.Answers, []string{c.answered}) || !slices.Equal(got.Tools, []string{c.tool}) {
				t.Errorf("%q %q, want %q %q", got.Answers, got.Tools, c.answered, c.tool)
			}
		})
	}
}

// An approval must name a call. If there is none, the adapter makes a call that stands for it.
func TestAnApprovalWithoutACall(t *testing.T) {
	t.Parallel()
	for action, tool := range map[string]string{"approve": `i completed {"to":"a"} {"approved":true}`, "deny": `i denied {"to":"a"} null The action was not approved.`} {
		expect(t, lines(promptBegun(initFrame), toUs(startFrame("t")),
			toUs(`{"type":"interactive_prompt","prompt":{"id":"i","type":"approval","title":"May I?","actions":[],"context":{"toolId":"gmail:send","params":{"to":"a"}}}}`),
			toUs(`{"type":"interactive_prompt_resolved","promptId":"i","resolution":{"actionId":"`+action+`","resolvedBy":"u1"}}`), toUs(wholeFrame("t", textPart("Ok."), finishPart("end_turn")))),
			summary{Asked: "Go by u1", Steps: []string{"t"}, Text: []string{"Ok."}, Tools: []string{tool}, Answers: []string{"i selected " + action}, End: done})
	}
}

func TestAttachments(t *testing.T) {
	t.Parallel()
	for name, recording := range map[string][]string{
		"of our prompt": {fromUs(`{"type":"prompt","content":"Look","attachments":[{"type":"file","mime":"image/png","url":"data:image/png;base64,AA==","filename":"a.png"}]}`), toUs(userFrame("p1", "Look", "u1"))},
		"of another's":  {toUs(`{"type":"message","data":{"id":"p1","role":"user","content":"Look","parts":[{"type":"image","data":"AA==","mimeType":"image/png","filename":"a.png"}]}}`)},
	} {
		p := playBack(t, lines(toUs(initFrame), toUs(joined), recording, toUs(startFrame("t")), toUs(`{"type":"message.updated","data":{"id":"p1","parts":[{"type":"audio","transcript":"x"}]}}`), toUs(wholeFrame("t", textPart("Seen."), finishPart("end_turn")))))
		if len(p.Turns) != 1 {
			t.Fatalf("%s: %d turns", name, len(p.Turns))
		}
		asked, _ := p.Turns[0][0].Payload.(trace.Prompt)
		want := []trace.InputPart{{Type: trace.InputText, Text: "Look"}, {Type: trace.InputFile, MediaType: "image/png", URL: "data:image/png;base64,AA==", Filename: "a.png"}}
		if d := cmp.Diff(want, asked.Message.Parts); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

func TestScreenshots(t *testing.T) {
	t.Parallel()
	shot := `{"type":"message","data":{"id":"x","role":"system","content":"Screenshot","parts":{"type":"screenshot","data":"/9j/AA=="}}}`
	want := summary{Steps: []string{"t"}, Text: []string{"Look: there."}, Files: []string{"image/jpeg data:image/jpeg;base64,/9j/AA=="}, End: done}
	expect(t, lines(ofRunner(createFrame("t")), ofRunner(deltaFrame("t", "Look: ")), ofRunner(`{"type":"screenshot","data":"/9j/AA==","description":"d"}`), ofRunner(deltaFrame("t", "there.")), ofRunner(finalizeFrame("t", "end_turn", ""))), want)
	want.Asked = "Go by u1"
	expect(t, lines(promptBegun(initFrame), toUs(startFrame("t")), toUs(chunkFrame("t", "Look: ")), ofRunner(`{"type":"screenshot","data":"/9j/AA=="}`), toUs(shot), toUs(chunkFrame("t", "there.")), toUs(wholeFrame("t", textPart("Look: there."), finishPart("end_turn")))), want)
}

func TestDomainEvents(t *testing.T) {
	t.Parallel()
	inTurn := map[string]string{
		`{"type":"status","data":{"status":"running"}}`: "session-status", `{"type":"queue.state","data":{"pending":null}}`: "queue", `{"type":"git-state","data":{"branch":"b"}}`: "git-state",
		`{"type":"pr-created","data":{"number":1}}`: "pull-request", `{"type":"files-changed","files":[]}`: "files-changed", `{"type":"diff","requestId":"r","data":{"files":[]}}`: "diff",
		`{"type":"review-result","requestId":"r","data":{}}`: "review-result", `{"type":"child-session","childSessionId":"c"}`: "child-session", `{"type":"thread.updated","threadId":"x","title":"T"}`: "title",
		`{"type":"model-switched","fromModel":"a","toModel":"b"}`: "model-switched", `{"type":"audit_log","entry":{}}`: "audit-log", `{"type":"user.left","userId":"u"}`: "presence",
		`{"type":"toast","title":"T"}`: "toast", `{"type":"integration-auth-required","services":[]}`: "auth-required", `{"type":"messages.removed","messageIds":["m"]}`: "messages-removed",
	}
	for frame, name := range inTurn {
		p := playBack(t, lines(toUs(initFrame), toUs(startFrame("t")), toUs(frame), ofRunner(frame), toUs(wholeFrame("t", textPart("x"), finishPart("end_turn")))))
		if got := domainEvents(p.Turns[0]); len(got[name]) != 1 || len(got) != 1 {
			t.Errorf("%s gives %v, want one %s", frame, got, name)
		}
	}
	p := playBack(t, lines(toUs(initFrame), toUs(`{"type":"git-state","data":{"branch":"b"}}`), toUs(`{"type":"audit_log","entry":{}}`), toUs(`{"type":"title","title":"New"}`), ofRunner(`{"type":"git-state","branch":"b"}`)))
	if got := domainEvents(p.Records); !slices.Equal(names(got), []string{"git-state", "title"}) || got["title"][0] != `"New"` || got["git-state"][0] != `{"branch":"b"}` || len(got["git-state"]) != 1 {
		t.Errorf("outside a turn: %v", got)
	}
	p = playBack(t, lines(ofRunner(createFrame("t")), ofRunner(`{"type":"git-state","branch":"b"}`), ofRunner(finalizeFrame("t", "end_turn", ""))))
	if got := domainEvents(p.Records); got["git-state"][0] != `{"branch":"b"}` {
		t.Errorf("of a runner: %v", got)
	}
	huge := `{"type":"diff","requestId":"r","data":{"files":[{"path":"` + strings.Repeat("x", 2<<20) + `"}]}}`
	p = playBack(t, lines(toUs(huge)))
	if got := domainEvents(p.Records)["diff"]; len(got) != 1 || got[0] != `{"omitted":true}` {
		t.Error("a huge event is kept in full")
	}
}
