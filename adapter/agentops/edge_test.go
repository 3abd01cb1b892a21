package agentops_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tributary-dev/tributary/trace"
)

const done = "completed"

func TestE02_ResultsOutOfOrderFindTheirCalls(t *testing.T) {
	t.Parallel()
	expect(t, lines(
		ofRunner(create("t")), ofRunner(toolUpdate("t", "a", "running", `,"args":{"x":1}`)), ofRunner(toolUpdate("t", "b", "running", `,"args":{"x":2}`)),
		ofRunner(toolUpdate("t", "b", "completed", `,"result":"B"`)), ofRunner(toolUpdate("t", "a", "completed", `,"result":"A"`)), ofRunner(finalize("t", "end_turn", "")),
	), sum{Steps: []string{"t"}, Tools: []string{`b completed {"x":2} "B"`, `a completed {"x":1} "A"`}, End: done})
}

func TestE04_TheFirstDialectThatBringsTextTellsIt(t *testing.T) {
	t.Parallel()
	for name, frames := range map[string][]string{
		"the runner's first": {delta("t", "Hel"), chunk("t", "Hel"), delta("t", "lo"), chunk("t", "lo")},
		"chunks first":       {chunk("t", "Hel"), delta("t", "Hel"), chunk("t", "lo"), delta("t", "lo")},
		"chunks alone":       {chunk("t", "Hel"), chunk("t", "lo")},
		"the runner's alone": {delta("t", "Hel"), delta("t", "lo")},
	} {
		t.Run(name, func(t *testing.T) {
			recording := []string{toUs(create("t"))}
			for _, f := range frames {
				recording = append(recording, toUs(f))
			}
			expect(t, append(recording, toUs(finalize("t", "end_turn", ""))), sum{Steps: []string{"t"}, Text: []string{"Hello"}, End: done})
		})
	}
}

// TestH30_EachTurnHasADialectOfItsOwn: what one turn is told in says nothing of the next.
func TestH30_EachTurnHasADialectOfItsOwn(t *testing.T) {
	t.Parallel()
	expect(t, lines(
		toUs(create("t1")), toUs(chunk("t1", "one")), toUs(delta("t1", "one")), toUs(finalize("t1", "end_turn", "")),
		toUs(create("t2")), toUs(delta("t2", "two")), toUs(chunk("t2", "two")), toUs(finalize("t2", "end_turn", "")),
	), sum{Steps: []string{"t1"}, Text: []string{"one"}, End: done}, sum{Steps: []string{"t2"}, Text: []string{"two"}, End: done})
}

func TestE05_E06_ToolsAndTextKeepTheirOrder(t *testing.T) {
	t.Parallel()
	p := expect(t, lines(ours(helloFeb), toUs(starts("t")), toUs(chunk("t", "One.")),
		toUs(whole("t", text("One."), tool("a", "running", `,"args":{"x":1}`))),
		toUs(whole("t", text("One."), tool("a", "completed", `,"args":{"x":1},"result":"A"`))),
		toUs(chunk("t", "Two.")),
		toUs(whole("t", text("One."), tool("a", "completed", `,"args":{"x":1},"result":"A"`), text("One.Two."), tool("b", "running", `,"args":{"x":2}`))),
		toUs(whole("t", text("One."), tool("a", "completed", `,"args":{"x":1},"result":"A"`), text("One.Two."), tool("b", "completed", `,"args":{"x":2},"result":"B"`))),
		toUs(whole("t", text("One."), tool("a", "completed", `,"args":{"x":1},"result":"A"`), text("One.Two."), tool("b", "completed", `,"args":{"x":2},"result":"B"`), finish("end_turn"))),
		toUs(notBusy), toUs(idle),
	), sum{Asked: "Go by u1", Steps: []string{"t"}, Text: []string{"One.", "Two."}, Tools: []string{`a completed {"x":1} "A"`, `b completed {"x":2} "B"`}, End: done})
	var order []string
	for _, r := range p.turns[0] {
		switch r.Payload.(type) {
		case trace.Message, trace.ToolCall, trace.ToolResult:
			order = append(order, string(r.Payload.Kind()))
		}
	}
	if want := []string{"message", "tool_call", "tool_result", "message", "tool_call", "tool_result"}; !slices.Equal(order, want) {
		t.Error(order)
	}
}

func TestE07_E08_PromptsOfFebruaryWaitInOrder(t *testing.T) {
	t.Parallel()
	expect(t, lines(
		ours(helloFeb), toUs(starts("t1")), toUs(chunk("t1", "one")),
		fromUs(prompt("Next")), toUs(user("p2", "Next", "u1")), toUs(`{"type":"status","data":{"promptQueued":true,"queuePosition":1}}`),
		fromUs(prompt("Last")), toUs(user("p3", "Last", "u1")), toUs(`{"type":"status","data":{"promptQueued":true,"queuePosition":2}}`),
		toUs(chunk("t1", "!")), toUs(whole("t1", text("one!"), finish("end_turn"))),
		toUs(`{"type":"status","data":{"promptDequeued":true,"remaining":1}}`), toUs(idle), toUs(thinking), toUs(starts("t2")), toUs(chunk("t2", "two")), toUs(whole("t2", text("two"), finish("end_turn"))),
		toUs(`{"type":"status","data":{"promptDequeued":true,"remaining":0}}`), toUs(thinking), toUs(starts("t3")), toUs(chunk("t3", "three")), toUs(whole("t3", text("three"), finish("end_turn"))), toUs(notBusy),
	),
		sum{Asked: "Go by u1", Steps: []string{"t1"}, Text: []string{"one!"}, End: done},
		sum{Asked: "Next by u1", Steps: []string{"t2"}, Text: []string{"two"}, End: done},
		sum{Asked: "Last by u1", Steps: []string{"t3"}, Text: []string{"three"}, End: done})
}

func TestE20_ATool_IsFirstSeenRunningOrCompleted(t *testing.T) {
	t.Parallel()
	p := expect(t, lines(ofRunner(create("t")), ofRunner(toolUpdate("t", "a", "completed", `,"args":{"x":1},"result":"A"`)),
		ofRunner(toolUpdate("t", "b", "running", `,"args":{"x":2}`)), ofRunner(toolUpdate("t", "b", "error", `,"error":"no"`)), ofRunner(finalize("t", "end_turn", ""))),
		sum{Steps: []string{"t"}, Tools: []string{`a completed {"x":1} "A"`, `b failed {"x":2} null no`}, End: done})
	calls := 0
	for _, r := range p.turns[0] {
		if _, ok := r.Payload.(trace.ToolCall); ok {
			calls++
		}
	}
	if calls != 2 {
		t.Errorf("%d calls", calls)
	}
}

func TestE21_ArgumentsThatAreFilledLater(t *testing.T) {
	t.Parallel()
	for _, statuses := range [][]string{{"pending", "running"}, {"running", "completed"}, {"pending", "completed"}} {
		expect(t, lines(ofRunner(create("t")), ofRunner(toolUpdate("t", "a", statuses[0], `,"args":{}`)),
			ofRunner(toolUpdate("t", "a", statuses[1], `,"args":{"x":1}`)), ofRunner(toolUpdate("t", "a", "completed", `,"result":1`)), ofRunner(finalize("t", "end_turn", ""))),
			sum{Steps: []string{"t"}, Tools: []string{map[bool]string{true: `a completed {"x":1} null`, false: `a completed {"x":1} 1`}[statuses[1] == "completed"]}, End: done})
	}
}

func TestE22_AResultIsMissing(t *testing.T) {
	t.Parallel()
	expect(t, lines(ofRunner(create("t")), ofRunner(toolUpdate("t", "a", "completed", "")), ofRunner(finalize("t", "end_turn", ""))),
		sum{Steps: []string{"t"}, Tools: []string{`a completed {} null`}, End: done})
}

func TestE23_AStuckToolIsCompletedAfterTheEnd(t *testing.T) {
	t.Parallel()
	want := sum{Steps: []string{"t"}, Text: []string{"x"}, Tools: []string{`a completed {"x":1} null`}, End: done}
	expect(t, lines(ofRunner(create("t")), ofRunner(toolUpdate("t", "a", "running", `,"args":{"x":1}`)), ofRunner(delta("t", "x")),
		ofRunner(finalize("t", "end_turn", "")), ofRunner(toolUpdate("t", "a", "completed", "")), ofRunner(`{"type":"complete"}`)), want)
	want.Asked = "Go by u1"
	running, completed := tool("a", "running", `,"args":{"x":1}`), tool("a", "completed", `,"args":{"x":1}`)
	expect(t, lines(ours(helloFeb), toUs(starts("t")), toUs(whole("t", running)), toUs(chunk("t", "x")),
		toUs(whole("t", running, text("x"), finish("end_turn"))), toUs(whole("t", completed, text("x"), finish("end_turn"))), toUs(notBusy)), want)
	// It never is: the turn ends all the same.
	want.Tools = []string{`a canceled {"x":1} null Not finished: the agent ended its turn without a result.`}
	expect(t, lines(ours(helloFeb), toUs(starts("t")), toUs(whole("t", running)), toUs(chunk("t", "x")), toUs(whole("t", running, text("x"), finish("end_turn"))), toUs(notBusy)), want)
	expect(t, lines(ours(helloFeb), toUs(starts("t")), toUs(whole("t", running)), toUs(chunk("t", "x")), toUs(whole("t", running, text("x"), finish("end_turn")))), want)
}

func TestE24_D17_ASecondCompleteEndsNothing(t *testing.T) {
	t.Parallel()
	expect(t, lines(
		toRunner(`{"type":"prompt","messageId":"p1","content":"One"}`), ofRunner(create("t1")), ofRunner(delta("t1", "one")), ofRunner(`{"type":"complete","messageId":"p1"}`),
		toRunner(`{"type":"prompt","messageId":"p2","content":"Two"}`), ofRunner(create("t2")), ofRunner(delta("t2", "tw")), ofRunner(`{"type":"complete","messageId":"p1"}`), ofRunner(delta("t2", "o")),
		ofRunner(finalize("t2", "end_turn", "")), ofRunner(`{"type":"complete","messageId":"p2"}`), ofRunner(`{"type":"complete","messageId":"p2"}`),
	), sum{Asked: "One", Steps: []string{"t1"}, Text: []string{"one"}, End: done}, sum{Asked: "Two", Steps: []string{"t2"}, Text: []string{"two"}, End: done})
}

func TestE25_AFinalizeThatDoesNotSayOfWhichTurn(t *testing.T) {
	t.Parallel()
	expect(t, lines(ofRunner(create("t")), ofRunner(`{"type":"message.finalize","reason":"error","error":"No key"}`), ofRunner(`{"type":"complete"}`)),
		sum{Steps: []string{"t"}, End: "failed: No key"})
	// Browsers are not told of it at all: an empty message, and then nothing more.
	expect(t, lines(ours(helloFeb), toUs(starts("t")), toUs(notBusy), toUs(idle)), sum{Asked: "Go by u1", Steps: []string{"t"}, End: "failed: Turn failed"})
}

func TestE26_IdleInTheMiddleOfATurnIsNoEnd(t *testing.T) {
	t.Parallel()
	expect(t, lines(ours(helloFeb), toUs(starts("t")), toUs(chunk("t", "One")), toUs(idle), toUs(streaming), toUs(chunk("t", ", two")), toUs(idle),
		toUs(whole("t", text("One, two"), finish("end_turn"))), toUs(notBusy)), sum{Asked: "Go by u1", Steps: []string{"t"}, Text: []string{"One, two"}, End: done})
	expect(t, lines(ours(helloFeb), toUs(starts("t")), toUs(chunk("t", "One")), toUs(idle), toUs(chunk("t", ", two")), toUs(streaming), toUs(chunk("t", ", three")),
		toUs(whole("t", text("One, two, three"), finish("end_turn")))), sum{Asked: "Go by u1", Steps: []string{"t"}, Text: []string{"One, two, three"}, End: done})
}

func TestE27_E28_AnAbortHasNoEndAndWhatComesAfterItIsLate(t *testing.T) {
	t.Parallel()
	cut := sum{Asked: "Go by u1", Steps: []string{"t1"}, Text: []string{"One"}, End: "canceled"}
	for name, frames := range map[string][]string{
		"ours in february":   {fromUs(`{"type":"abort"}`), toUs(idle), toUs(chunk("t1", " late")), toUs(idle), toUs(`{"type":"status","data":{"runnerBusy":false,"aborted":true}}`)},
		"ours since":         {fromUs(`{"type":"abort"}`), toUs(chunk("t1", " late")), toUs(idle), toUs(idle), toUs(notBusy)},
		"somebody else's":    {toUs(idle), toUs(chunk("t1", " late")), toUs(idle), toUs(notBusy)},
		"of the runner":      {toRunner(`{"type":"abort"}`), ofRunner(delta("t1", " late")), ofRunner(`{"type":"aborted"}`), ofRunner(delta("t1", " later"))},
		"and no word on end": {fromUs(`{"type":"abort"}`), toUs(idle)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			expect(t, lines(ours(helloFeb), toUs(starts("t1")), toUs(chunk("t1", "One")), frames), cut)
		})
	}
	t.Run("and the next one runs", func(t *testing.T) {
		t.Parallel()
		expect(t, lines(ours(helloHead), toUs(starts("t1")), toUs(chunk("t1", "One")), fromUs(prompt("Next")),
			toUs(`{"type":"queue.state","data":{"pending":{"messageId":"p2","content":"Next"}}}`), toUs(`{"type":"status","data":{"promptQueued":true,"queuePosition":1,"queueReason":"busy"}}`),
			fromUs(`{"type":"abort"}`), toUs(idle), toUs(chunk("t1", " late")),
			toUs(user("p2", "Next", "u1")), toUs(`{"type":"queue.state","data":{"pending":null}}`), toUs(`{"type":"status","data":{"promptDequeued":true,"remaining":0}}`),
			toUs(idle), toUs(thinking), toUs(starts("t2")), toUs(chunk("t2", "Two")), toUs(chunk("t1", " later")), toUs(whole("t2", text("Two"), finish("end_turn"))), toUs(notBusy)),
			cut, sum{Asked: "Next by u1", Steps: []string{"t2"}, Text: []string{"Two"}, End: done})
	})
}

func TestE29_AnotherModelTakesOver(t *testing.T) {
	t.Parallel()
	p := expect(t, lines(ours(helloHead), toUs(starts("t1")), toUs(chunk("t1", "Let me")), toUs(whole("t1", text("Let me"), tool("a", "running", `,"args":{"x":1}`))),
		toUs(`{"type":"model-switched","messageId":"p1","fromModel":"big","toModel":"small","reason":"overloaded"}`), toUs(thinking),
		toUs(starts("t2")), toUs(chunk("t2", "Done.")), toUs(whole("t2", text("Done."), tool("a", "completed", `,"args":{"x":2},"result":1`), finish("end_turn"))), toUs(notBusy)),
		sum{
			Asked: "Go by u1", Steps: []string{"t1", "t2"}, Text: []string{"Let me", "Done."},
			Tools: []string{`a canceled {"x":1} null Not finished: the agent began anew.`, `a~ completed {"x":2} 1`}, End: done,
		})
	if got := datas(p.turns[0])["model-switched"]; len(got) != 1 || !strings.Contains(got[0], `"toModel":"small"`) {
		t.Error(got)
	}
}

func TestE30_APromptThatIsTakenBackDoesNotRun(t *testing.T) {
	t.Parallel()
	queued := func(id, text string) []string {
		return []string{
			toUs(fmt.Sprintf(`{"type":"queue.state","data":{"pending":{"messageId":%q,"content":%q}}}`, id, text)),
			toUs(`{"type":"status","data":{"promptQueued":true,"queuePosition":1,"queueReason":"busy"}}`),
		}
	}
	expect(t, lines(ours(helloHead), toUs(starts("t1")), toUs(chunk("t1", "One")),
		fromUs(prompt("Second")), queued("p2", "Second"),
		fromUs(prompt("Third")), toUs(`{"type":"queue.withdrawn","data":{"messageId":"p2","content":"Second"}}`), queued("p3", "Third"),
		toUs(whole("t1", text("One"), finish("end_turn"))), toUs(user("p3", "Third", "u1")), toUs(`{"type":"queue.state","data":{"pending":null}}`),
		toUs(`{"type":"status","data":{"promptDequeued":true,"remaining":0}}`), toUs(starts("t3")), toUs(chunk("t3", "Three")), toUs(whole("t3", text("Three"), finish("end_turn"))), toUs(notBusy)),
		sum{Asked: "Go by u1", Steps: []string{"t1"}, Text: []string{"One"}, End: done},
		sum{Asked: "Third by u1", Steps: []string{"t3"}, Text: []string{"Three"}, End: done})
}

func TestE31_ASessionThatWakes(t *testing.T) {
	t.Parallel()
	expect(t, lines(
		toUs(strings.Replace(helloHead, `"running"`, `"hibernated"`, 1)), toUs(joined), fromUs(prompt("Go")),
		toUs(`{"type":"queue.state","data":{"pending":{"messageId":"p1","content":"Go"}}}`), toUs(`{"type":"status","data":{"promptQueued":true,"queuePosition":1,"queueReason":"waking"}}`),
		toUs(`{"type":"status","data":{"status":"restoring"}}`), toUs(`{"type":"status","data":{"status":"running","sandboxRunning":true}}`), toUs(`{"type":"status","data":{"runnerConnected":true}}`), toUs(idle),
		toUs(user("p1", "Go", "u1")), toUs(`{"type":"queue.state","data":{"pending":null}}`), toUs(`{"type":"status","data":{"promptDequeued":true,"remaining":0}}`),
		toUs(thinking), toUs(starts("t")), toUs(chunk("t", "Up.")), toUs(whole("t", text("Up."), finish("end_turn"))), toUs(notBusy),
	), sum{Asked: "Go by u1", Steps: []string{"t"}, Text: []string{"Up."}, End: done})
	expect(t, lines(
		toUs(helloHead), toUs(joined), fromUs(prompt("Go")), toUs(`{"type":"status","data":{"status":"error"}}`), toUs(`{"type":"error","error":"The sandbox did not start"}`),
	), sum{Asked: "Go", End: "failed: The sandbox did not start"})
}

func TestE32_TextThatWasMissedIsHealedBySuffix(t *testing.T) {
	t.Parallel()
	lost := func(frame string) string { return strings.Replace(toUs(frame), `{"dir"`, `{"lost":true,"dir"`, 1) }
	busy := strings.Replace(helloHead, `"runnerBusy":false`, `"runnerBusy":true`, 1)
	for name, c := range map[string]struct {
		frames []string
		text   []string
	}{
		"by the next snapshot": {[]string{
			lost(chunk("t", " quick")), toUs(busy), toUs(chunk("t", " brown")), toUs(chunk("t", " fox")), toUs(whole("t", text("The quick brown fox"), tool("a", "completed", ""))),
			toUs(chunk("t", "Jumps")), toUs(whole("t", text("The quick brown fox"), tool("a", "completed", ""), text("Jumps"), finish("end_turn"))),
		}, []string{"The quick brown fox", "Jumps"}},
		"by the last snapshot": {[]string{lost(chunk("t", " quick")), toUs(busy), toUs(chunk("t", " fox")), toUs(whole("t", text("The quick fox"), finish("end_turn")))}, []string{"The quick fox"}},
		"and a tool, and more text": {[]string{
			lost(chunk("t", " quick")), lost(whole("t", text("The quick"), tool("a", "completed", ""))), lost(chunk("t", "Fo")), toUs(busy), toUs(chunk("t", "x")),
			toUs(whole("t", text("The quick"), tool("a", "completed", ""), text("Fox"), finish("end_turn"))),
		}, []string{"The quick", "Fox"}},
		"by history": {[]string{
			lost(chunk("t", " fox")), lost(whole("t", text("The fox"), finish("end_turn"))), lost(notBusy), toUs(helloHead),
			`{"dir":"http","method":"GET","path":"/api/sessions/s/messages?limit=50","status":200,"response":{"messages":[{"id":"p1","role":"user","content":"Go","createdAt":"2026-02-27T00:00:00Z"},{"id":"t","role":"assistant","content":"The fox","parts":[{"type":"text","text":"The fox"},{"type":"finish","reason":"end_turn"}]}]}}`,
		}, []string{"The fox"}},
		"without a loss of frames": {[]string{toUs(whole("t", text("The fox"), finish("end_turn")))}, []string{"The fox"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := sums(play(t, lines(ours(helloHead), toUs(starts("t")), toUs(chunk("t", "The")), c.frames)))
			if len(got) != 1 || !slices.Equal(got[0].Text, c.text) || got[0].End != done {
				t.Errorf("%q, want %q", got, c.text)
			}
		})
	}
	t.Run("and the end is not known", func(t *testing.T) {
		t.Parallel()
		expect(t, lines(ours(helloHead), toUs(starts("t")), toUs(chunk("t", "The")), toUs(helloHead)),
			sum{Asked: "Go by u1", Steps: []string{"t"}, Text: []string{"The"}, End: "failed: Stream interrupted"})
	})
}

func TestE33_FebruarysLastSnapshotTakesNothingBack(t *testing.T) {
	t.Parallel()
	for name, last := range map[string]string{"as told": "After.", "and heals": "After. More."} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			done1 := tool("a", "completed", `,"args":{"x":1},"result":"A"`)
			expect(t, lines(ours(helloFeb), toUs(starts("t")), toUs(chunk("t", "Before.")), toUs(whole("t", text("Before."), done1)), toUs(chunk("t", "After.")),
				toUs(whole("t", text(last), done1, text(last), finish("end_turn"))), toUs(notBusy)),
				sum{Asked: "Go by u1", Steps: []string{"t"}, Text: []string{"Before.", last}, Tools: []string{`a completed {"x":1} "A"`}, End: done})
		})
	}
}

func TestE34_OtherUsersAndChannelsAreTurnsOfTheirOwn(t *testing.T) {
	t.Parallel()
	in := func(frame, id string) string {
		return strings.TrimSuffix(frame, "}") + `,"channelType":"thread","channelId":"` + id + `"}`
	}
	inData := func(frame, id string) string {
		return strings.TrimSuffix(frame, "}}") + `,"channelType":"thread","channelId":"` + id + `","threadId":"` + id + `"}}`
	}
	p := play(t, lines(toUs(helloHead), toUs(joined),
		fromUs(`{"type":"prompt","content":"Mine","threadId":"A"}`), toUs(inData(user("p1", "Mine", "u1"), "A")), toUs(in(thinking, "A")), toUs(inData(starts("t1"), "A")),
		toUs(in(chunk("t1", "one"), "A")),
		ofRunner(`{"type":"agentStatus","status":"thinking"}`), toUs(inData(starts("t2"), "B")), toUs(in(chunk("t2", "two"), "B")), toUs(in(chunk("t1", " and"), "A")), toUs(in(chunk("t2", " too"), "B")),
		toUs(inData(whole("t2", text("two too"), finish("end_turn")), "B")), toUs(in(chunk("t1", " more"), "A")), toUs(inData(whole("t1", text("one and more"), finish("end_turn")), "A")), toUs(notBusy)))
	want := []sum{
		{Asked: "Mine by u1", Steps: []string{"t1"}, Text: []string{"one and more"}, End: done},
		{Steps: []string{"t2"}, Text: []string{"two too"}, End: done},
	}
	if d := cmp.Diff(want, sums(p)); d != "" {
		t.Error(d)
	}
	expect(t, lines(toUs(helloHead), toUs(joined), toUs(user("p9", "Theirs", "u2")), toUs(thinking), toUs(starts("t9")), toUs(chunk("t9", "nine")), toUs(whole("t9", text("nine"), finish("end_turn"))), toUs(notBusy)),
		sum{Asked: "Theirs by u2", Steps: []string{"t9"}, Text: []string{"nine"}, End: done})
}

func TestE35_APromptThatIsTakenForTheAnswerDoesNotRun(t *testing.T) {
	t.Parallel()
	expect(t, lines(ours(helloHead), toUs(starts("t")),
		toUs(`{"type":"interactive_prompt","prompt":{"id":"q","sessionId":"s","type":"question","title":"Which?","actions":[],"context":{}}}`), toUs(idle),
		fromUs(prompt("Blue")), toUs(`{"type":"interactive_prompt_resolved","promptId":"q","promptType":"question","resolution":{"value":"Blue","resolvedBy":"u1"}}`),
		toUs(streaming), toUs(chunk("t", "Blue it is.")), toUs(whole("t", text("Blue it is."), finish("end_turn"))), toUs(notBusy)),
		sum{Asked: "Go by u1", Steps: []string{"t"}, Text: []string{"Blue it is."}, Answers: []string{"q selected Blue"}, End: done})
}

func TestE36_TheSessionEndsInTheMiddleOfATurn(t *testing.T) {
	t.Parallel()
	for _, state := range []string{"terminated", "archived"} {
		expect(t, lines(ours(helloHead), toUs(starts("t")), toUs(chunk("t", "One")), toUs(`{"type":"status","data":{"status":"`+state+`","sandboxRunning":false}}`)),
			sum{Asked: "Go by u1", Steps: []string{"t"}, Text: []string{"One"}, End: "failed: The session has ended (" + state + ")."})
	}
	expect(t, lines(ours(helloHead), toUs(starts("t")), toUs(chunk("t", "One")), toUs(`{"type":"status","data":{"status":"error"}}`), toUs(`{"type":"error","messageId":"e","error":"sandbox_lost"}`)),
		sum{Asked: "Go by u1", Steps: []string{"t"}, Text: []string{"One"}, End: "failed: sandbox_lost"})
}

func TestE37_AFrameAboveOneMegabyte(t *testing.T) {
	t.Parallel()
	big := strings.Repeat("0123456789abcdef", 1<<17) // 2 MB
	got := sums(play(t, lines(ours(helloHead), toUs(starts("t")), toUs(whole("t", tool("a", "completed", `,"result":"`+big+`"`), text("Big."), finish("end_turn"))))))
	if len(got) != 1 || !slices.Equal(got[0].Text, []string{"Big."}) || len(got[0].Tools) != 1 || len(got[0].Tools[0]) < len(big) {
		t.Errorf("%d turns", len(got))
	}
}

func TestE38_TheSameTextByTwoUsers(t *testing.T) {
	t.Parallel()
	expect(t, lines(toUs(helloFeb), toUs(joined), fromUs(prompt("Go")),
		toUs(user("p1", "Go", "u2")), toUs(user("p2", "Go", "u1")), toUs(`{"type":"status","data":{"promptQueued":true,"queuePosition":1}}`),
		toUs(thinking), toUs(starts("t1")), toUs(chunk("t1", "theirs")), toUs(whole("t1", text("theirs"), finish("end_turn"))),
		toUs(`{"type":"status","data":{"promptDequeued":true,"remaining":0}}`), toUs(thinking), toUs(starts("t2")), toUs(chunk("t2", "ours")), toUs(whole("t2", text("ours"), finish("end_turn"))), toUs(notBusy)),
		sum{Asked: "Go by u2", Steps: []string{"t1"}, Text: []string{"theirs"}, End: done},
		sum{Asked: "Go by u1", Steps: []string{"t2"}, Text: []string{"ours"}, End: done})
}

// TestHealingAfterAnApproval: what is asked closes the text here, and not upstream.
func TestHealingAfterAnApproval(t *testing.T) {
	t.Parallel()
	p := play(t, lines(ours(helloHead), toUs(starts("t")), toUs(chunk("t", "May I? ")),
		toUs(`{"type":"interactive_prompt","prompt":{"id":"i","type":"approval","title":"May I?","actions":[],"context":{"toolId":"x","params":{}}}}`),
		toUs(`{"type":"interactive_prompt_resolved","promptId":"i","resolution":{"actionId":"approve","resolvedBy":"u1"}}`),
		toUs(chunk("t", "Tha")), toUs(whole("t", text("May I? Thanks."), finish("end_turn")))))
	if got := strings.Join(sumOf(p.turns[0]).Text, ""); got != "May I? Thanks." {
		t.Errorf("%q", got)
	}
}
