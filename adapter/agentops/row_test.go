package agentops_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/internal/testkit/replay/replaytest"
	"github.com/tributary-dev/tributary/uistream"
)

// row plays frames and compares the stream with two golden files: with default options, and with
// compat: rfc. Each recording (of a runner, of a browser, of both) must give the same stream.
func row(t *testing.T, id string, recordings ...[]string) {
	t.Helper()
	for name, o := range map[string]uistream.Options{"default": {}, "rfc": {RFC: true}} {
		path := filepath.Join("testdata", "rows", id+"."+name+".sse")
		for i, recording := range recordings {
			p := playBack(t, recording)
			if unknown := strings.Count(strings.Join(recording, ""), "never-seen"); p.Skipped != unknown {
				t.Errorf("%s: %d frames were not understood, want %d", id, p.Skipped, unknown)
			}
			if i > 0 && replaytest.Updates() {
				continue
			}
			replaytest.Golden(t, path, streams(p, o))
		}
	}
}

// recordingsOf returns the recordings of a turn: the runner's frames, the browser's frames, and both. All
// frames after the first belong to the turn t1.
func recordingsOf(runner, browser []string) [][]string {
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
	row(t, "D01", recordingsOf([]string{createFrame("t1")}, []string{startFrame("t1")})...)
}

func TestD02_H02_ADelta(t *testing.T) {
	t.Parallel()
	row(t, "D02", recordingsOf([]string{createFrame("t1"), deltaFrame("t1", " a <b>\n"), deltaFrame("t1", "🕛"), finalizeFrame("t1", "end_turn", "")}, nil)[0])
}

// Two chunks carry the halves of an emoji. The text has the whole emoji, and the snapshot agrees.
func TestD02_HalfACharacter(t *testing.T) {
	t.Parallel()
	expect(t, lines(toUs(startFrame("t1")), toUs(`{"type":"chunk","messageId":"t1","content":"12 \ud83d"}`), toUs(`{"type":"chunk","messageId":"t1","content":"\udd5b"}`),
		toUs(wholeFrame("t1", textPart("12 🕛 o'clock"), finishPart("end_turn")))), summary{Steps: []string{"t1"}, Text: []string{"12 🕛 o'clock"}, End: done})
}

func TestD03_H03_AChunk(t *testing.T) {
	t.Parallel()
	row(t, "D03", recordingsOf(nil, []string{chunkFrame("t1", "Hello"), wholeFrame("t1", textPart("Hello"), toolPart("a", "completed", `,"args":{"x":1},"result":1`)), chunkFrame("t1", "Bye"), wholeFrame("t1", textPart("Hello"), toolPart("a", "completed", `,"args":{"x":1},"result":1`), textPart("Bye"), finishPart("end_turn"))})[1])
}

func TestD04_H04_AToolThatIsPending(t *testing.T) {
	t.Parallel()
	row(t, "D04", recordingsOf([]string{createFrame("t1"), toolFrame("t1", "a", "pending", `,"args":{}`)}, []string{startFrame("t1"), wholeFrame("t1", toolPart("a", "pending", `,"args":{}`))})...)
}

func TestD05_H05_AToolThatRuns(t *testing.T) {
	t.Parallel()
	row(t, "D05", recordingsOf(
		[]string{createFrame("t1"), toolFrame("t1", "a", "pending", ""), toolFrame("t1", "a", "running", ""), toolFrame("t1", "a", "running", `,"args":{"command":"ls"}`)},
		[]string{startFrame("t1"), wholeFrame("t1", toolPart("a", "pending", "")), wholeFrame("t1", toolPart("a", "running", "")), wholeFrame("t1", toolPart("a", "running", `,"args":{"command":"ls"}`))},
	)...)
}

func TestD06_H06_AToolThatIsCompleted(t *testing.T) {
	t.Parallel()
	row(t, "D06", recordingsOf(
		[]string{createFrame("t1"), toolFrame("t1", "a", "completed", `,"args":{"command":"ls"},"result":"{\"n\":1}"`), finalizeFrame("t1", "end_turn", "")},
		[]string{startFrame("t1"), wholeFrame("t1", toolPart("a", "completed", `,"args":{"command":"ls"},"result":"{\"n\":1}"`)), wholeFrame("t1", toolPart("a", "completed", `,"args":{"command":"ls"},"result":"{\"n\":1}"`), finishPart("end_turn"))},
	)...)
}

func TestD07_H07_AToolThatFails(t *testing.T) {
	t.Parallel()
	row(t, "D07", recordingsOf(
		[]string{createFrame("t1"), toolFrame("t1", "a", "error", `,"args":{"command":"ls"},"error":"No such <file>"`), toolFrame("t1", "b", "error", ""), deltaFrame("t1", "Well."), finalizeFrame("t1", "end_turn", "")},
		[]string{
			startFrame("t1"), wholeFrame("t1", toolPart("a", "error", `,"args":{"command":"ls"},"error":"No such <file>"`)), wholeFrame("t1", toolPart("a", "error", `,"args":{"command":"ls"},"error":"No such <file>"`), toolPart("b", "error", "")), chunkFrame("t1", "Well."),
			wholeFrame("t1", toolPart("a", "error", `,"args":{"command":"ls"},"error":"No such <file>"`), toolPart("b", "error", ""), textPart("Well."), finishPart("end_turn")),
		},
	)...)
}

func TestD08_H08_AFinalizedTurn(t *testing.T) {
	t.Parallel()
	row(t, "D08", recordingsOf([]string{createFrame("t1"), deltaFrame("t1", "x"), finalizeFrame("t1", "end_turn", `,"finalText":"x"`)}, []string{startFrame("t1"), chunkFrame("t1", "x"), wholeFrame("t1", textPart("x"), finishPart("end_turn"))})...)
}

func TestD09_H08_G04_AFailedTurn(t *testing.T) {
	t.Parallel()
	row(t, "D09", recordingsOf(
		[]string{createFrame("t1"), finalizeFrame("t1", "error", `,"error":"The <model> said no"`), createFrame("t2"), finalizeFrame("t2", "error", "")},
		[]string{startFrame("t1"), wholeFrame("t1", finishPart("error"), `{"type":"error","message":"The <model> said no"}`), startFrame("t2"), wholeFrame("t2", finishPart("error"))},
	)...)
	row(t, "D09", recordingsOf(nil, []string{startFrame("t1"), wholeFrame("t1", `{"type":"error","message":"The <model> said no"}`, finishPart("error")), startFrame("t2"), wholeFrame("t2", finishPart("error"))})[1])
}

func TestD10_H08_ACanceledTurn(t *testing.T) {
	t.Parallel()
	row(t, "D10", recordingsOf([]string{createFrame("t1"), deltaFrame("t1", "x"), finalizeFrame("t1", "canceled", `,"error":"restarting"`)}, []string{startFrame("t1"), chunkFrame("t1", "x"), wholeFrame("t1", textPart("x"), `{"type":"error","message":"restarting"}`, finishPart("canceled"))})...)
}

func TestD11_H08_AnUnknownReason(t *testing.T) {
	t.Parallel()
	row(t, "D11", recordingsOf([]string{createFrame("t1"), deltaFrame("t1", "x"), finalizeFrame("t1", "max_fun", "")}, []string{startFrame("t1"), chunkFrame("t1", "x"), wholeFrame("t1", textPart("x"), finishPart("max_fun"))})...)
}

func TestD12_H14_E03_AgentStatus(t *testing.T) {
	t.Parallel()
	row(t, "D12", recordingsOf(
		[]string{createFrame("t1"), deltaFrame("t1", "x"), `{"type":"agentStatus","status":"tool_calling","detail":"bash"}`, deltaFrame("t1", "y"), finalizeFrame("t1", "end_turn", "")},
		[]string{startFrame("t1"), chunkFrame("t1", "x"), `{"type":"agentStatus","status":"tool_calling","detail":"bash"}`, chunkFrame("t1", "y"), wholeFrame("t1", textPart("xy"), finishPart("end_turn"))},
	)[:2]...)
}

func TestD13_H15_AQuestion(t *testing.T) {
	t.Parallel()
	row(t, "D13", recordingsOf(nil, []string{startFrame("t1"), `{"type":"interactive_prompt","prompt":{"id":"q1","sessionId":"s","type":"question","title":"Which <one>?","actions":[{"id":"option_0","label":"Red"},{"id":"option_1","label":"Blue"}],"expiresAt":1772150713000,"context":{}}}`})[1])
}

func TestD14_D15_H16_SkippedFrames(t *testing.T) {
	t.Parallel()
	skipped := []string{
		`{"type":"git-state","data":{"branch":"b"}}`, `{"type":"files-changed","files":[]}`, `{"type":"diff","requestId":"r","data":{"files":[]}}`, `{"type":"review-result","requestId":"r"}`,
		`{"type":"child-session","childSessionId":"c"}`, `{"type":"title","title":"T"}`, `{"type":"audit_log","entry":{}}`, joined, `{"type":"toast","title":"T"}`,
		`{"type":"status","data":{"tunnelUrls":{}}}`, `{"type":"models","models":[]}`, `{"type":"pong"}`, `{"type":"thread.created","threadId":"x"}`, `{"type":"messages.removed","messageIds":["m"]}`,
		`{"type":"integration-auth-required","services":[]}`, `{"type":"queue.state","data":{"pending":null}}`, `{"type":"pr-created","data":{"number":1}}`, `{"type":"stream"}`,
	}
	frames := append(append([]string{initFrame, startFrame("t1"), chunkFrame("t1", "x")}, skipped...), wholeFrame("t1", textPart("x"), finishPart("end_turn")))
	row(t, "D15", recordingsOf(nil, frames)[1])
}

func TestD16_H10_AnUnknownEvent(t *testing.T) {
	t.Parallel()
	row(t, "D16", recordingsOf(nil, []string{startFrame("t1"), chunkFrame("t1", "x"), `{"type":"never-seen","turnId":"t1"}`, wholeFrame("t1", textPart("x"), finishPart("end_turn"))})[1])
}

func TestD18_G03_G10_AnErrorOfTheSession(t *testing.T) {
	t.Parallel()
	for _, shape := range []string{
		`{"type":"error","messageId":"e","error":"It <broke>"}`, `{"type":"error","message":"It <broke>"}`, `{"type":"error","error":"It <broke>"}`, `{"type":"error","data":{"message":"It <broke>","promptId":"p1"}}`,
	} {
		row(t, "D18", lines(promptBegun(initFrame), toUs(startFrame("t1")), toUs(chunkFrame("t1", "x")), toUs(shape), toUs(notBusy)),
			lines(promptBegun(initFrame), toUs(startFrame("t1")), toUs(chunkFrame("t1", "x")), ofRunner(shape), toUs(shape), toUs(notBusy)))
	}
	// An error may be about a prompt that has not begun.
	expect(t, lines(toUs(initFrame), toUs(joined), fromUs(promptFrame("")), toUs(`{"type":"error","message":"Missing content or attachments"}`)), summary{End: "failed: Missing content or attachments"})
	// And one says only that a file was left out.
	expect(t, lines(toUs(initFrame), toUs(joined), fromUs(promptFrame("Go")), toUs(`{"type":"error","message":"Unsupported file type: application/zip. I can handle images."}`),
		toUs(userFrame("p1", "Go", "u1")), toUs(startFrame("t1")), toUs(chunkFrame("t1", "x")), toUs(wholeFrame("t1", textPart("x"), finishPart("end_turn")))), summary{Asked: "Go by u1", Steps: []string{"t1"}, Text: []string{"x"}, End: done})
}

func TestE01_H09_AnEmptyTurn(t *testing.T) {
	t.Parallel()
	row(t, "E01", recordingsOf([]string{createFrame("t1"), finalizeFrame("t1", "end_turn", "")}, []string{startFrame("t1"), wholeFrame("t1", finishPart("end_turn"))})...)
}

func TestH11_H12_H13_AWholeTurn(t *testing.T) {
	t.Parallel()
	a, b := toolPart("a", "running", `,"args":{"command":"ls"}`), toolPart("b", "running", `,"args":{"command":"pwd"}`)
	a2, b2 := toolPart("a", "completed", `,"args":{"command":"ls"},"result":"A"`), toolPart("b", "error", `,"args":{"command":"pwd"},"error":"B"`)
	row(t, "H11", recordingsOf(
		[]string{createFrame("t1"), deltaFrame("t1", "I "), deltaFrame("t1", "look."), toolFrame("t1", "a", "running", `,"args":{"command":"ls"}`), toolFrame("t1", "b", "running", `,"args":{"command":"pwd"}`), deltaFrame("t1", "Mean"), toolFrame("t1", "b", "error", `,"error":"B"`), deltaFrame("t1", "while."), toolFrame("t1", "a", "completed", `,"result":"A"`), finalizeFrame("t1", "end_turn", `,"finalText":"Meanwhile."`), `{"type":"complete"}`},
		[]string{startFrame("t1"), chunkFrame("t1", "I "), chunkFrame("t1", "look."), wholeFrame("t1", textPart("I look."), a), wholeFrame("t1", textPart("I look."), a, b), chunkFrame("t1", "Mean"), wholeFrame("t1", textPart("I look."), a, b2, textPart("Mean")), chunkFrame("t1", "while."), wholeFrame("t1", textPart("I look."), a2, b2, textPart("Meanwhile.")), wholeFrame("t1", textPart("I look."), a2, b2, textPart("Meanwhile."), finishPart("end_turn")), notBusy},
	)...)
}

// TestC06_TheAppendixStream is the example of the RFC.
func TestC06_TheAppendixStream(t *testing.T) {
	t.Parallel()
	calculator := func(frame string) string { return strings.Replace(frame, `"bash"`, `"calculator"`, 1) }
	row(t, "C06", recordingsOf([]string{
		createFrame("turn-1"), deltaFrame("turn-1", "Let me calculate. "), calculator(toolFrame("turn-1", "call-1", "pending", "")), calculator(toolFrame("turn-1", "call-1", "running", `,"args":{"expression":"2+2"}`)),
		calculator(toolFrame("turn-1", "call-1", "completed", `,"result":{"result":4}`)), deltaFrame("turn-1", "The answer is 4."), finalizeFrame("turn-1", "end_turn", ""),
	}, nil)[0])
}

// No delta of a thousand is lost.
func TestF11_H22_AThousandDeltas(t *testing.T) {
	t.Parallel()
	recording := lines(promptBegun(initFrame), toUs(startFrame("t1")))
	var want strings.Builder
	for i := range 1500 {
		word := strings.Repeat(string(rune('a'+i%26)), i%7) + " "
		want.WriteString(word)
		recording = append(recording, toUs(chunkFrame("t1", word)))
	}
	expect(t, append(recording, toUs(wholeFrame("t1", textPart(want.String()), finishPart("end_turn"))), toUs(notBusy)),
		summary{Asked: "Go by u1", Steps: []string{"t1"}, Text: []string{want.String()}, End: done})
}
