package agentops_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/uistream"
)

// row plays frames and compares the stream with two golden files: as clients survive
// it, and by the letter. Each recording must give the same stream: the one dialect,
// the other, and both at once.
func row(t *testing.T, id string, recordings ...[]string) {
	t.Helper()
	for name, o := range map[string]uistream.Options{"default": {}, "letter": {Letter: true}} {
		path := filepath.Join("testdata", "rows", id+"."+name+".sse")
		for i, recording := range recordings {
			p := play(t, recording)
			if p.skipped > 0 {
				t.Errorf("%s: %d frames were not understood", id, p.skipped)
			}
			if i > 0 && *update {
				continue
			}
			golden(t, path, streams(p, o))
		}
	}
}

// told is a turn as a runner tells it, and as browsers get it; each of the frames
// after the first is of the turn t1.
func told(runner, browser []string) [][]string {
	var r, b, both []string
	for _, f := range runner {
		r = append(r, ofRunner(f))
	}
	for _, f := range browser {
		b = append(b, toUs(f))
	}
	both = append(append(both, r...), b...)
	return [][]string{r, b, both}
}

func TestD01_H01_ACreatedTurn(t *testing.T) {
	t.Parallel()
	row(t, "D01", told([]string{create("t1")}, []string{starts("t1")})...)
}

func TestD02_H02_ADelta(t *testing.T) {
	t.Parallel()
	row(t, "D02", told([]string{create("t1"), delta("t1", " a <b>\n"), delta("t1", "🕛"), finalize("t1", "end_turn", "")}, nil)[0])
}

// TestD02_HalfACharacter: an emoji that was cut in two is whole again, and the
// snapshot of the whole does not contradict it.
func TestD02_HalfACharacter(t *testing.T) {
	t.Parallel()
	expect(t, lines(toUs(starts("t1")), toUs(`{"type":"chunk","messageId":"t1","content":"12 \ud83d"}`), toUs(`{"type":"chunk","messageId":"t1","content":"\udd5b"}`),
		toUs(whole("t1", text("12 🕛 o'clock"), finish("end_turn")))), sum{Steps: []string{"t1"}, Text: []string{"12 🕛 o'clock"}, End: done})
}

func TestD03_H03_AChunk(t *testing.T) {
	t.Parallel()
	row(t, "D03", told(nil, []string{chunk("t1", "Hello"), whole("t1", text("Hello"), tool("a", "completed", `,"args":{"x":1},"result":1`)), chunk("t1", "Bye"), whole("t1", text("Hello"), tool("a", "completed", `,"args":{"x":1},"result":1`), text("Bye"), finish("end_turn"))})[1])
}

func TestD04_H04_AToolThatIsPending(t *testing.T) {
	t.Parallel()
	row(t, "D04", told([]string{create("t1"), toolUpdate("t1", "a", "pending", `,"args":{}`)}, []string{starts("t1"), whole("t1", tool("a", "pending", `,"args":{}`))})...)
}

func TestD05_H05_AToolThatRuns(t *testing.T) {
	t.Parallel()
	row(t, "D05", told(
		[]string{create("t1"), toolUpdate("t1", "a", "pending", ""), toolUpdate("t1", "a", "running", ""), toolUpdate("t1", "a", "running", `,"args":{"command":"ls"}`)},
		[]string{starts("t1"), whole("t1", tool("a", "pending", "")), whole("t1", tool("a", "running", "")), whole("t1", tool("a", "running", `,"args":{"command":"ls"}`))},
	)...)
}

func TestD06_H06_AToolThatIsCompleted(t *testing.T) {
	t.Parallel()
	row(t, "D06", told(
		[]string{create("t1"), toolUpdate("t1", "a", "completed", `,"args":{"command":"ls"},"result":"{\"n\":1}"`), finalize("t1", "end_turn", "")},
		[]string{starts("t1"), whole("t1", tool("a", "completed", `,"args":{"command":"ls"},"result":"{\"n\":1}"`)), whole("t1", tool("a", "completed", `,"args":{"command":"ls"},"result":"{\"n\":1}"`), finish("end_turn"))},
	)...)
}

func TestD07_H07_AToolThatFails(t *testing.T) {
	t.Parallel()
	row(t, "D07", told(
		[]string{create("t1"), toolUpdate("t1", "a", "error", `,"args":{"command":"ls"},"error":"No such <file>"`), toolUpdate("t1", "b", "error", ""), delta("t1", "Well."), finalize("t1", "end_turn", "")},
		[]string{starts("t1"), whole("t1", tool("a", "error", `,"args":{"command":"ls"},"error":"No such <file>"`)), whole("t1", tool("a", "error", `,"args":{"command":"ls"},"error":"No such <file>"`), tool("b", "error", "")), chunk("t1", "Well."),
			whole("t1", tool("a", "error", `,"args":{"command":"ls"},"error":"No such <file>"`), tool("b", "error", ""), text("Well."), finish("end_turn"))},
	)...)
}

func TestD08_H08_AFinalizedTurn(t *testing.T) {
	t.Parallel()
	row(t, "D08", told([]string{create("t1"), delta("t1", "x"), finalize("t1", "end_turn", `,"finalText":"x"`)}, []string{starts("t1"), chunk("t1", "x"), whole("t1", text("x"), finish("end_turn"))})...)
}

func TestD09_H08_G04_AFailedTurn(t *testing.T) {
	t.Parallel()
	row(t, "D09", told(
		[]string{create("t1"), finalize("t1", "error", `,"error":"The <model> said no"`), create("t2"), finalize("t2", "error", "")},
		[]string{starts("t1"), whole("t1", finish("error"), `{"type":"error","message":"The <model> said no"}`), starts("t2"), whole("t2", finish("error"))},
	)...)
	row(t, "D09", told(nil, []string{starts("t1"), whole("t1", `{"type":"error","message":"The <model> said no"}`, finish("error")), starts("t2"), whole("t2", finish("error"))})[1])
}

func TestD10_H08_ACanceledTurn(t *testing.T) {
	t.Parallel()
	row(t, "D10", told([]string{create("t1"), delta("t1", "x"), finalize("t1", "canceled", `,"error":"restarting"`)}, []string{starts("t1"), chunk("t1", "x"), whole("t1", text("x"), `{"type":"error","message":"restarting"}`, finish("canceled"))})...)
}

func TestD11_H08_AnUnknownReason(t *testing.T) {
	t.Parallel()
	row(t, "D11", told([]string{create("t1"), delta("t1", "x"), finalize("t1", "max_fun", "")}, []string{starts("t1"), chunk("t1", "x"), whole("t1", text("x"), finish("max_fun"))})...)
}

func TestD12_H14_E03_AgentStatus(t *testing.T) {
	t.Parallel()
	row(t, "D12", told(
		[]string{create("t1"), delta("t1", "x"), `{"type":"agentStatus","status":"tool_calling","detail":"bash"}`, delta("t1", "y"), finalize("t1", "end_turn", "")},
		[]string{starts("t1"), chunk("t1", "x"), `{"type":"agentStatus","status":"tool_calling","detail":"bash"}`, chunk("t1", "y"), whole("t1", text("xy"), finish("end_turn"))},
	)[:2]...)
}

func TestD13_H15_AQuestion(t *testing.T) {
	t.Parallel()
	row(t, "D13", told(
		[]string{create("t1"), `{"type":"question","questionId":"q1","text":"Which <one>?","options":["Red","Blue"]}`},
		[]string{starts("t1"), `{"type":"question","questionId":"q1","text":"Which <one>?","options":["Red","Blue"],"expiresAt":1772150713}`},
	)...)
	row(t, "D13", told(nil, []string{starts("t1"), `{"type":"interactive_prompt","prompt":{"id":"q1","sessionId":"s","type":"question","title":"Which <one>?","actions":[{"id":"option_0","label":"Red"},{"id":"option_1","label":"Blue"}],"expiresAt":1772150713000,"context":{}}}`})[1])
}

func TestD14_D15_H16_WhatIsSkipped(t *testing.T) {
	t.Parallel()
	skipped := []string{
		`{"type":"git-state","data":{"branch":"b"}}`, `{"type":"files-changed","files":[]}`, `{"type":"diff","requestId":"r","data":{"files":[]}}`, `{"type":"review-result","requestId":"r"}`,
		`{"type":"child-session","childSessionId":"c"}`, `{"type":"title","title":"T"}`, `{"type":"audit_log","entry":{}}`, joined, `{"type":"toast","title":"T"}`,
		`{"type":"status","data":{"tunnelUrls":{}}}`, `{"type":"models","models":[]}`, `{"type":"pong"}`, `{"type":"thread.created","threadId":"x"}`, `{"type":"messages.removed","messageIds":["m"]}`,
		`{"type":"integration-auth-required","services":[]}`, `{"type":"queue.state","data":{"pending":null}}`, `{"type":"pr-created","data":{"number":1}}`, `{"type":"stream"}`,
	}
	frames := append(append([]string{helloHead, starts("t1"), chunk("t1", "x")}, skipped...), whole("t1", text("x"), finish("end_turn")))
	row(t, "D15", told(nil, frames)[1])
}

func TestD16_H10_AnUnknownEvent(t *testing.T) {
	t.Parallel()
	row(t, "D16", told(nil, []string{starts("t1"), chunk("t1", "x"), `{"type":"never-seen","turnId":"t1"}`, whole("t1", text("x"), finish("end_turn"))})[1])
}

func TestD18_G03_G10_AnErrorOfTheSession(t *testing.T) {
	t.Parallel()
	for _, shape := range []string{
		`{"type":"error","messageId":"e","error":"It <broke>"}`, `{"type":"error","message":"It <broke>"}`, `{"type":"error","error":"It <broke>"}`, `{"type":"error","data":{"message":"It <broke>","promptId":"p1"}}`,
	} {
		row(t, "D18", lines(ours(helloFeb), toUs(starts("t1")), toUs(chunk("t1", "x")), toUs(shape), toUs(notBusy)),
			lines(ours(helloFeb), toUs(starts("t1")), toUs(chunk("t1", "x")), ofRunner(shape), toUs(shape), toUs(notBusy)))
	}
	// It may be about a prompt that has not begun.
	expect(t, lines(toUs(helloFeb), toUs(joined), fromUs(prompt("")), toUs(`{"type":"error","message":"Missing content or attachments"}`)), sum{End: "failed: Missing content or attachments"})
	// And one says only that a file was left out.
	expect(t, lines(toUs(helloFeb), toUs(joined), fromUs(prompt("Go")), toUs(`{"type":"error","message":"Unsupported file type: application/zip. I can handle images."}`),
		toUs(user("p1", "Go", "u1")), toUs(starts("t1")), toUs(chunk("t1", "x")), toUs(whole("t1", text("x"), finish("end_turn")))), sum{Asked: "Go by u1", Steps: []string{"t1"}, Text: []string{"x"}, End: done})
}

func TestE01_H09_AnEmptyTurn(t *testing.T) {
	t.Parallel()
	row(t, "E01", told([]string{create("t1"), finalize("t1", "end_turn", "")}, []string{starts("t1"), whole("t1", finish("end_turn"))})...)
}

func TestH11_H12_H13_AWholeTurn(t *testing.T) {
	t.Parallel()
	a, b := tool("a", "running", `,"args":{"command":"ls"}`), tool("b", "running", `,"args":{"command":"pwd"}`)
	a2, b2 := tool("a", "completed", `,"args":{"command":"ls"},"result":"A"`), tool("b", "error", `,"args":{"command":"pwd"},"error":"B"`)
	row(t, "H11", told(
		[]string{create("t1"), delta("t1", "I "), delta("t1", "look."), toolUpdate("t1", "a", "running", `,"args":{"command":"ls"}`), toolUpdate("t1", "b", "running", `,"args":{"command":"pwd"}`), delta("t1", "Mean"), toolUpdate("t1", "b", "error", `,"error":"B"`), delta("t1", "while."), toolUpdate("t1", "a", "completed", `,"result":"A"`), finalize("t1", "end_turn", `,"finalText":"Meanwhile."`), `{"type":"complete"}`},
		[]string{starts("t1"), chunk("t1", "I "), chunk("t1", "look."), whole("t1", text("I look."), a), whole("t1", text("I look."), a, b), chunk("t1", "Mean"), whole("t1", text("I look."), a, b2, text("Mean")), chunk("t1", "while."), whole("t1", text("I look."), a2, b2, text("Meanwhile.")), whole("t1", text("I look."), a2, b2, text("Meanwhile."), finish("end_turn")), notBusy},
	)...)
}

// TestC06_TheAppendixStream is the example of the RFC.
func TestC06_TheAppendixStream(t *testing.T) {
	t.Parallel()
	calculator := func(frame string) string { return strings.Replace(frame, `"bash"`, `"calculator"`, 1) }
	row(t, "C06", told([]string{
		create("turn-1"), delta("turn-1", "Let me calculate. "), calculator(toolUpdate("turn-1", "call-1", "pending", "")), calculator(toolUpdate("turn-1", "call-1", "running", `,"args":{"expression":"2+2"}`)),
		calculator(toolUpdate("turn-1", "call-1", "completed", `,"result":{"result":4}`)), delta("turn-1", "The answer is 4."), finalize("turn-1", "end_turn", ""),
	}, nil)[0])
}

// TestF11_H22_AThousandDeltas loses none.
func TestF11_H22_AThousandDeltas(t *testing.T) {
	t.Parallel()
	recording := lines(ours(helloHead), toUs(starts("t1")))
	var want strings.Builder
	for i := range 1500 {
		word := strings.Repeat(string(rune('a'+i%26)), i%7) + " "
		want.WriteString(word)
		recording = append(recording, toUs(chunk("t1", word)))
	}
	expect(t, append(recording, toUs(whole("t1", text(want.String()), finish("end_turn"))), toUs(notBusy)),
		sum{Asked: "Go by u1", Steps: []string{"t1"}, Text: []string{want.String()}, End: done})
}
