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
		ofRunner(createFrame("t")), ofRunner(toolFrame("t", "a", "running", `,"args":{"x":1}`)), ofRunner(toolFrame("t", "b", "running", `,"args":{"x":2}`)),
		ofRunner(toolFrame("t", "b", "completed", `,"result":"B"`)), ofRunner(toolFrame("t", "a", "completed", `,"result":"A"`)), ofRunner(finalizeFrame("t", "end_turn", "")),
	), summary{Steps: []string{"t"}, Tools: []string{`b completed {"x":2} "B"`, `a completed {"x":1} "A"`}, End: done})
}

func TestE05_E06_ToolsAndTextKeepTheirOrder(t *testing.T) {
	t.Parallel()
	p := expect(t, lines(promptBegun(initFrame), toUs(startFrame("t")), toUs(chunkFrame("t", "One.")),
		toUs(wholeFrame("t", textPart("One."), toolPart("a", "running", `,"args":{"x":1}`))),
		toUs(wholeFrame("t", textPart("One."), toolPart("a", "completed", `,"args":{"x":1},"result":"A"`))),
		toUs(chunkFrame("t", "Two.")),
		toUs(wholeFrame("t", textPart("One."), toolPart("a", "completed", `,"args":{"x":1},"result":"A"`), textPart("Two."), toolPart("b", "running", `,"args":{"x":2}`))),
		toUs(wholeFrame("t", textPart("One."), toolPart("a", "completed", `,"args":{"x":1},"result":"A"`), textPart("Two."), toolPart("b", "completed", `,"args":{"x":2},"result":"B"`))),
		toUs(wholeFrame("t", textPart("One."), toolPart("a", "completed", `,"args":{"x":1},"result":"A"`), textPart("Two."), toolPart("b", "completed", `,"args":{"x":2},"result":"B"`), finishPart("end_turn"))),
		toUs(notBusy), toUs(idle),
	), summary{Asked: "Go by u1", Steps: []string{"t"}, Text: []string{"One.", "Two."}, Tools: []string{`a completed {"x":1} "A"`, `b completed {"x":2} "B"`}, End: done})
	var order []string
	for _, r := range p.Turns[0] {
		switch r.Payload.(type) {
		case trace.Message, trace.ToolCall, trace.ToolResult:
			order = append(order, string(r.Payload.Kind()))
		}
	}
	if want := []string{"message", "tool_call", "tool_result", "message", "tool_call", "tool_result"}; !slices.Equal(order, want) {
		t.Error(order)
	}
}

func TestE20_ATool_IsFirstSeenRunningOrCompleted(t *testing.T) {
	t.Parallel()
	p := expect(t, lines(ofRunner(createFrame("t")), ofRunner(toolFrame("t", "a", "completed", `,"args":{"x":1},"result":"A"`)),
		ofRunner(toolFrame("t", "b", "running", `,"args":{"x":2}`)), ofRunner(toolFrame("t", "b", "error", `,"error":"no"`)), ofRunner(finalizeFrame("t", "end_turn", ""))),
		summary{Steps: []string{"t"}, Tools: []string{`a completed {"x":1} "A"`, `b failed {"x":2} null no`}, End: done})
	calls := 0
	for _, r := range p.Turns[0] {
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
		expect(t, lines(ofRunner(createFrame("t")), ofRunner(toolFrame("t", "a", statuses[0], `,"args":{}`)),
			ofRunner(toolFrame("t", "a", statuses[1], `,"args":{"x":1}`)), ofRunner(toolFrame("t", "a", "completed", `,"result":1`)), ofRunner(finalizeFrame("t", "end_turn", ""))),
			summary{Steps: []string{"t"}, Tools: []string{map[bool]string{true: `a completed {"x":1} null`, false: `a completed {"x":1} 1`}[statuses[1] == "completed"]}, End: done})
	}
}

func TestE22_AResultIsMissing(t *testing.T) {
	t.Parallel()
	expect(t, lines(ofRunner(createFrame("t")), ofRunner(toolFrame("t", "a", "completed", "")), ofRunner(finalizeFrame("t", "end_turn", ""))),
		summary{Steps: []string{"t"}, Tools: []string{`a completed {} null`}, End: done})
}

func TestE23_AStuckToolIsCompletedAfterTheEnd(t *testing.T) {
	t.Parallel()
	want := summary{Steps: []string{"t"}, Text: []string{"x"}, Tools: []string{`a completed {"x":1} null`}, End: done}
	expect(t, lines(ofRunner(createFrame("t")), ofRunner(toolFrame("t", "a", "running", `,"args":{"x":1}`)), ofRunner(deltaFrame("t", "x")),
		ofRunner(finalizeFrame("t", "end_turn", "")), ofRunner(toolFrame("t", "a", "completed", "")), ofRunner(`{"type":"complete"}`)), want)
	want.Asked = "Go by u1"
	running, completed := toolPart("a", "running", `,"args":{"x":1}`), toolPart("a", "completed", `,"args":{"x":1}`)
	expect(t, lines(promptBegun(initFrame), toUs(startFrame("t")), toUs(wholeFrame("t", running)), toUs(chunkFrame("t", "x")),
		toUs(wholeFrame("t", running, textPart("x"), finishPart("end_turn"))), toUs(wholeFrame("t", completed, textPart("x"), finishPart("end_turn"))), toUs(notBusy)), want)
	// The tool never completes. The turn ends all the same.
	want.Tools = []string{`a canceled {"x":1} null Not finished: the agent ended its turn without a result.`}
	expect(t, lines(promptBegun(initFrame), toUs(startFrame("t")), toUs(wholeFrame("t", running)), toUs(chunkFrame("t", "x")), toUs(wholeFrame("t", running, textPart("x"), finishPart("end_turn"))), toUs(notBusy)), want)
	expect(t, lines(promptBegun(initFrame), toUs(startFrame("t")), toUs(wholeFrame("t", running)), toUs(chunkFrame("t", "x")), toUs(wholeFrame("t", running, textPart("x"), finishPart("end_turn")))), want)
}

func TestE24_D17_ASecondCompleteEndsNothing(t *testing.T) {
	t.Parallel()
	expect(t, lines(
		toRunner(`{"type":"prompt","messageId":"p1","content":"One"}`), ofRunner(createFrame("t1")), ofRunner(deltaFrame("t1", "one")), ofRunner(`{"type":"complete","messageId":"p1"}`),
		toRunner(`{"type":"prompt","messageId":"p2","content":"Two"}`), ofRunner(createFrame("t2")), ofRunner(deltaFrame("t2", "tw")), ofRunner(`{"type":"complete","messageId":"p1"}`), ofRunner(deltaFrame("t2", "o")),
		ofRunner(finalizeFrame("t2", "end_turn", "")), ofRunner(`{"type":"complete","messageId":"p2"}`), ofRunner(`{"type":"complete","messageId":"p2"}`),
	), summary{Asked: "One", Steps: []string{"t1"}, Text: []string{"one"}, End: done}, summary{Asked: "Two", Steps: []string{"t2"}, Text: []string{"two"}, End: done})
}

func TestE25_AFinalizeWithoutATurn(t *testing.T) {
	t.Parallel()
	expect(t, lines(ofRunner(createFrame("t")), ofRunner(`{"type":"message.finalize","reason":"error","error":"No key"}`), ofRunner(`{"type":"complete"}`)),
		summary{Steps: []string{"t"}, End: "failed: No key"})
	// Browsers get no frame for it: an empty message, and then nothing more.
	expect(t, lines(promptBegun(initFrame), toUs(startFrame("t")), toUs(notBusy), toUs(idle)), summary{Asked: "Go by u1", Steps: []string{"t"}, End: "failed: Turn failed"})
}

func TestE26_IdleInTheMiddleOfATurnIsNoEnd(t *testing.T) {
	t.Parallel()
	expect(t, lines(promptBegun(initFrame), toUs(startFrame("t")), toUs(chunkFrame("t", "One")), toUs(idle), toUs(streaming), toUs(chunkFrame("t", ", two")), toUs(idle),
		toUs(wholeFrame("t", textPart("One, two"), finishPart("end_turn"))), toUs(notBusy)), summary{Asked: "Go by u1", Steps: []string{"t"}, Text: []string{"One, two"}, End: done})
	expect(t, lines(promptBegun(initFrame), toUs(startFrame("t")), toUs(chunkFrame("t", "One")), toUs(idle), toUs(chunkFrame("t", ", two")), toUs(streaming), toUs(chunkFrame("t", ", three")),
		toUs(wholeFrame("t", textPart("One, two, three"), finishPart("end_turn")))), summary{Asked: "Go by u1", Steps: []string{"t"}, Text: []string{"One, two, three"}, End: done})
}

func TestE27_E28_AnAbortHasNoEndAndLaterTextIsDropped(t *testing.T) {
	t.Parallel()
	cut := summary{Asked: "Go by u1", Steps: []string{"t1"}, Text: []string{"One"}, End: "canceled"}
	for name, frames := range map[string][]string{
		"ours in february":   {fromUs(`{"type":"abort"}`), toUs(idle), toUs(chunkFrame("t1", " late")), toUs(idle), toUs(`{"type":"status","data":{"runnerBusy":false,"aborted":true}}`)},
		"ours since":         {fromUs(`{"type":"abort"}`), toUs(chunkFrame("t1", " late")), toUs(idle), toUs(idle), toUs(notBusy)},
		"somebody else's":    {toUs(idle), toUs(chunkFrame("t1", " late")), toUs(idle), toUs(notBusy)},
		"and no word on end": {fromUs(`{"type":"abort"}`), toUs(idle)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			expect(t, lines(promptBegun(initFrame), toUs(startFrame("t1")), toUs(chunkFrame("t1", "One")), frames), cut)
		})
	}
	t.Run("and the next one runs", func(t *testing.T) {
		t.Parallel()
		expect(t, lines(promptBegun(initFrame), toUs(startFrame("t1")), toUs(chunkFrame("t1", "One")), fromUs(promptFrame("Next")),
			toUs(`{"type":"queue.state","data":{"pending":{"messageId":"p2","content":"Next"}}}`), toUs(`{"type":"status","data":{"promptQueued":true,"queuePosition":1,"queueReason":"busy"}}`),
			fromUs(`{"type":"abort"}`), toUs(idle), toUs(chunkFrame("t1", " late")),
			toUs(userFrame("p2", "Next", "u1")), toUs(`{"type":"queue.state","data":{"pending":null}}`), toUs(`{"type":"status","data":{"promptDequeued":true,"remaining":0}}`),
			toUs(idle), toUs(thinking), toUs(startFrame("t2")), toUs(chunkFrame("t2", "Two")), toUs(chunkFrame("t1", " later")), toUs(wholeFrame("t2", textPart("Two"), finishPart("end_turn"))), toUs(notBusy)),
			cut, summary{Asked: "Next by u1", Steps: []string{"t2"}, Text: []string{"Two"}, End: done})
	})
}

func TestE29_AnotherModelTakesOver(t *testing.T) {
	t.Parallel()
	p := expect(t, lines(promptBegun(initFrame), toUs(startFrame("t1")), toUs(chunkFrame("t1", "Let me")), toUs(wholeFrame("t1", textPart("Let me"), toolPart("a", "running", `,"args":{"x":1}`))),
		toUs(`{"type":"model-switched","messageId":"p1","fromModel":"big","toModel":"small","reason":"overloaded"}`), toUs(thinking),
		toUs(startFrame("t2")), toUs(chunkFrame("t2", "Done.")), toUs(wholeFrame("t2", textPart("Done."), toolPart("a", "completed", `,"args":{"x":2},"result":1`), finishPart("end_turn"))), toUs(notBusy)),
		summary{
			Asked: "Go by u1", Steps: []string{"t1", "t2"}, Text: []string{"Let me", "Done."},
			Tools: []string{`a canceled {"x":1} null Not finished: the agent began anew.`, `a~ completed {"x":2} 1`}, End: done,
		})
	if got := domainEvents(p.Turns[0])["model-switched"]; len(got) != 1 || !strings.Contains(got[0], `"toModel":"small"`) {
		t.Error(got)
	}
}

func TestE30_AReplacedPromptDoesNotRun(t *testing.T) {
	t.Parallel()
	queued := func(id, text string) []string {
		return []string{
			toUs(fmt.Sprintf(`{"type":"queue.state","data":{"pending":{"messageId":%q,"content":%q}}}`, id, text)),
			toUs(`{"type":"status","data":{"promptQueued":true,"queuePosition":1,"queueReason":"busy"}}`),
		}
	}
	expect(t, lines(promptBegun(initFrame), toUs(startFrame("t1")), toUs(chunkFrame("t1", "One")),
		fromUs(promptFrame("Second")), queued("p2", "Second"),
		fromUs(promptFrame("Third")), toUs(`{"type":"queue.withdrawn","data":{"messageId":"p2","content":"Second"}}`), queued("p3", "Third"),
		toUs(wholeFrame("t1", textPart("One"), finishPart("end_turn"))), toUs(userFrame("p3", "Third", "u1")), toUs(`{"type":"queue.state","data":{"pending":null}}`),
		toUs(`{"type":"status","data":{"promptDequeued":true,"remaining":0}}`), toUs(startFrame("t3")), toUs(chunkFrame("t3", "Three")), toUs(wholeFrame("t3", textPart("Three"), finishPart("end_turn"))), toUs(notBusy)),
		summary{Asked: "Go by u1", Steps: []string{"t1"}, Text: []string{"One"}, End: done},
		summary{Asked: "Third by u1", Steps: []string{"t3"}, Text: []string{"Three"}, End: done})
}

func TestE31_ASessionThatWakes(t *testing.T) {
	t.Parallel()
	expect(t, lines(
		toUs(strings.Replace(initFrame, `"running"`, `"hibernated"`, 1)), toUs(joined), fromUs(promptFrame("Go")),
		toUs(`{"type":"queue.state","data":{"pending":{"messageId":"p1","content":"Go"}}}`), toUs(`{"type":"status","data":{"promptQueued":true,"queuePosition":1,"queueReason":"waking"}}`),
		toUs(`{"type":"status","data":{"status":"restoring"}}`), toUs(`{"type":"status","data":{"status":"running","sandboxRunning":true}}`), toUs(`{"type":"status","data":{"runnerConnected":true}}`), toUs(idle),
		toUs(userFrame("p1", "Go", "u1")), toUs(`{"type":"queue.state","data":{"pending":null}}`), toUs(`{"type":"status","data":{"promptDequeued":true,"remaining":0}}`),
		toUs(thinking), toUs(startFrame("t")), toUs(chunkFrame("t", "Up.")), toUs(wholeFrame("t", textPart("Up."), finishPart("end_turn"))), toUs(notBusy),
	), summary{Asked: "Go by u1", Steps: []string{"t"}, Text: []string{"Up."}, End: done})
	expect(t, lines(
		toUs(initFrame), toUs(joined), fromUs(promptFrame("Go")), toUs(`{"type":"status","data":{"status":"error"}}`), toUs(`{"type":"error","error":"The sandbox did not start"}`),
	), summary{Asked: "Go", End: "failed: The sandbox did not start"})
}

func TestE32_MissedTextIsAddedAsASuffix(t *testing.T) {
	t.Parallel()
	lost := func(frame string) string { return strings.Replace(toUs(frame), `{"dir"`, `{"lost":true,"dir"`, 1) }
	busy := strings.Replace(initFrame, `"runnerBusy":false`, `"runnerBusy":true`, 1)
	for name, c := range map[string]struct {
		frames []string
		text   []string
	}{
		"by the next snapshot": {[]string{
			lost(chunkFrame("t", " quick")), toUs(busy), toUs(chunkFrame("t", " brown")), toUs(chunkFrame("t", " fox")), toUs(wholeFrame("t", textPart("The quick brown fox"), toolPart("a", "completed", ""))),
			toUs(chunkFrame("t", "Jumps")), toUs(wholeFrame("t", textPart("The quick brown fox"), toolPart("a", "completed", ""), textPart("Jumps"), finishPart("end_turn"))),
		}, []string{"The quick brown fox", "Jumps"}},
		"by the last snapshot": {[]string{lost(chunkFrame("t", " quick")), toUs(busy), toUs(chunkFrame("t", " fox")), toUs(wholeFrame("t", textPart("The quick fox"), finishPart("end_turn")))}, []string{"The quick fox"}},
		"and a tool, and more text": {[]string{
			lost(chunkFrame("t", " quick")), lost(wholeFrame("t", textPart("The quick"), toolPart("a", "completed", ""))), lost(chunkFrame("t", "Fo")), toUs(busy), toUs(chunkFrame("t", "x")),
			toUs(wholeFrame("t", textPart("The quick"), toolPart("a", "completed", ""), textPart("Fox"), finishPart("end_turn"))),
		}, []string{"The quick", "Fox"}},
		"by history": {[]string{
			lost(chunkFrame("t", " fox")), lost(wholeFrame("t", textPart("The fox"), finishPart("end_turn"))), lost(notBusy), toUs(initFrame),
			`{"dir":"http","method":"GET","path":"/api/sessions/s/messages?limit=50","status":200,"response":{"messages":[{"id":"p1","role":"user","content":"Go","createdAt":"2026-02-27T00:00:00Z"},{"id":"t","role":"assistant","content":"The fox","parts":[{"type":"text","text":"The fox"},{"type":"finish","reason":"end_turn"}]}]}}`,
		}, []string{"The fox"}},
		"without a loss of frames": {[]string{toUs(wholeFrame("t", textPart("The fox"), finishPart("end_turn")))}, []string{"The fox"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := summaries(playBack(t, lines(promptBegun(initFrame), toUs(startFrame("t")), toUs(chunkFrame("t", "The")), c.frames)))
			if len(got) != 1 || !slices.Equal(got[0].Text, c.text) || got[0].End != done {
				t.Errorf("%q, want %q", got, c.text)
			}
		})
	}
	t.Run("and the end is not known", func(t *testing.T) {
		t.Parallel()
		expect(t, lines(promptBegun(initFrame), toUs(startFrame("t")), toUs(chunkFrame("t", "The")), toUs(initFrame)),
			summary{Asked: "Go by u1", Steps: []string{"t"}, Text: []string{"The"}, End: "failed: Stream interrupted"})
	})
}

func TestE33_ALastSnapshotWithEqualTextsRemovesNoText(t *testing.T) {
	t.Parallel()
	for name, last := range map[string]string{"as told": "After.", "and heals": "After. More."} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			done1 := toolPart("a", "completed", `,"args":{"x":1},"result":"A"`)
			expect(t, lines(promptBegun(initFrame), toUs(startFrame("t")), toUs(chunkFrame("t", "Before.")), toUs(wholeFrame("t", textPart("Before."), done1)), toUs(chunkFrame("t", "After.")),
				toUs(wholeFrame("t", textPart(last), done1, textPart(last), finishPart("end_turn"))), toUs(notBusy)),
				summary{Asked: "Go by u1", Steps: []string{"t"}, Text: []string{"Before.", last}, Tools: []string{`a completed {"x":1} "A"`}, End: done})
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
	p := playBack(t, lines(toUs(initFrame), toUs(joined),
		fromUs(`{"type":"prompt","content":"Mine","threadId":"A"}`), toUs(inData(userFrame("p1", "Mine", "u1"), "A")), toUs(in(thinking, "A")), toUs(inData(startFrame("t1"), "A")),
		toUs(in(chunkFrame("t1", "one"), "A")),
		ofRunner(`{"type":"agentStatus","status":"thinking"}`), toUs(inData(startFrame("t2"), "B")), toUs(in(chunkFrame("t2", "two"), "B")), toUs(in(chunkFrame("t1", " and"), "A")), toUs(in(chunkFrame("t2", " too"), "B")),
		toUs(inData(wholeFrame("t2", textPart("two too"), finishPart("end_turn")), "B")), toUs(in(chunkFrame("t1", " more"), "A")), toUs(inData(wholeFrame("t1", textPart("one and more"), finishPart("end_turn")), "A")), toUs(notBusy)))
	want := []summary{
		{Asked: "Mine by u1", Steps: []string{"t1"}, Text: []string{"one and more"}, End: done},
		{Steps: []string{"t2"}, Text: []string{"two too"}, End: done},
	}
	if d := cmp.Diff(want, summaries(p)); d != "" {
		t.Error(d)
	}
	expect(t, lines(toUs(initFrame), toUs(joined), toUs(userFrame("p9", "Theirs", "u2")), toUs(thinking), toUs(startFrame("t9")), toUs(chunkFrame("t9", "nine")), toUs(wholeFrame("t9", textPart("nine"), finishPart("end_turn"))), toUs(notBusy)),
		summary{Asked: "Theirs by u2", Steps: []string{"t9"}, Text: []string{"nine"}, End: done})
}

// E35: a question is open in a channel of another type than web, and the owner sends a prompt to
// that channel. Today's server takes the prompt for the answer and does not run it. Any other
// prompt waits behind the question, even if somebody answers the question in the same words.
func TestE35_APromptThatIsTakenForTheAnswerDoesNotRun(t *testing.T) {
	t.Parallel()
	const slack = "slack:C1"
	waits := []string{`{"type":"queue.state","data":{"pending":{"messageId":"p2","content":"Blue"}}}`, `{"type":"status","data":{"promptQueued":true,"queuePosition":1,"queueReason":"busy"}}`}
	for _, c := range []struct {
		name, of, to, by string // the channels of the question and the prompt; who answered
		early, told      bool   // the prompt came before the question; it is said to wait
		taken            bool
	}{
		{name: "the owner's in its channel", of: slack, to: slack, by: "u1", taken: true},
		{name: "in another channel", of: slack, to: "slack:C2", by: "u1"},
		{name: "of the web", by: "u1"},
		{name: "in a channel of the web", of: "web:tab", to: "web:tab", by: "u1"},
		{name: "somebody else has answered", of: slack, to: slack, by: "u2"},
		{name: "before the question", of: slack, to: slack, by: "u1", early: true, told: true},
		{name: "it is said to wait", of: slack, to: slack, by: "u1", told: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			hello, question := initFrame, `{"type":"interactive_prompt","prompt":{"id":"q","sessionId":"s","type":"question","title":"Which?","actions":[],"context":{}}}`
			answered := fmt.Sprintf(`{"type":"interactive_prompt_resolved","promptId":"q","promptType":"question","resolution":{"value":"Blue","resolvedBy":%q}}`, c.by)
			second := []string{fromUs(inChannel(promptFrame("Blue"), c.to))}
			if c.told {
				second = append(second, toUs(waits[0]), toUs(waits[1]))
			}
			recording := []string{toUs(hello), toUs(joined), fromUs(inChannel(promptFrame("Go"), c.of)), toUs(inChannel(userFrame("p1", "Go", "u1"), c.of)), toUs(inChannel(startFrame("t"), c.of))}
			asked := toUs(inChannel(question, c.of))
			if c.early {
				recording = append(append(recording, second...), asked)
			} else {
				recording = append(append(recording, asked), second...)
			}
			recording = append(recording, toUs(answered), toUs(inChannel(chunkFrame("t", "Blue it is."), c.of)), toUs(inChannel(wholeFrame("t", textPart("Blue it is."), finishPart("end_turn")), c.of)))
			want := []summary{{Asked: "Go by u1", Steps: []string{"t"}, Text: []string{"Blue it is."}, Answers: []string{"q selected Blue"}, End: done}}
			if !c.taken {
				if !c.told {
					recording = append(recording, toUs(waits[0]), toUs(waits[1]))
				}
				recording = append(recording, toUs(inChannel(userFrame("p2", "Blue", "u1"), c.to)), toUs(`{"type":"status","data":{"promptDequeued":true,"remaining":0}}`),
					toUs(inChannel(startFrame("t2"), c.to)), toUs(inChannel(chunkFrame("t2", "Two"), c.to)), toUs(inChannel(wholeFrame("t2", textPart("Two"), finishPart("end_turn")), c.to)))
				want = append(want, summary{Asked: "Blue by u1", Steps: []string{"t2"}, Text: []string{"Two"}, End: done})
			}
			expect(t, append(recording, toUs(notBusy)), want...)
		})
	}
}

func TestE36_TheSessionEndsInTheMiddleOfATurn(t *testing.T) {
	t.Parallel()
	for _, state := range []string{"terminated", "archived"} {
		expect(t, lines(promptBegun(initFrame), toUs(startFrame("t")), toUs(chunkFrame("t", "One")), toUs(`{"type":"status","data":{"status":"`+state+`","sandboxRunning":false}}`)),
			summary{Asked: "Go by u1", Steps: []string{"t"}, Text: []string{"One"}, End: "failed: The session has ended (" + state + ")."})
	}
	expect(t, lines(promptBegun(initFrame), toUs(startFrame("t")), toUs(chunkFrame("t", "One")), toUs(`{"type":"status","data":{"status":"error"}}`), toUs(`{"type":"error","messageId":"e","error":"sandbox_lost"}`)),
		summary{Asked: "Go by u1", Steps: []string{"t"}, Text: []string{"One"}, End: "failed: sandbox_lost"})
}

func TestE37_AFrameAboveOneMegabyte(t *testing.T) {
	t.Parallel()
	big := strings.Repeat("0123456789abcdef", 1<<17) // 2 MB
	got := summaries(playBack(t, lines(promptBegun(initFrame), toUs(startFrame("t")), toUs(wholeFrame("t", toolPart("a", "completed", `,"result":"`+big+`"`), textPart("Big."), finishPart("end_turn"))))))
	if len(got) != 1 || !slices.Equal(got[0].Text, []string{"Big."}) || len(got[0].Tools) != 1 || len(got[0].Tools[0]) < len(big) {
		t.Errorf("%d turns", len(got))
	}
}

func TestE38_TheSameTextByTwoUsers(t *testing.T) {
	t.Parallel()
	expect(t, lines(toUs(initFrame), toUs(joined), fromUs(promptFrame("Go")),
		toUs(userFrame("p1", "Go", "u2")), toUs(userFrame("p2", "Go", "u1")), toUs(`{"type":"status","data":{"promptQueued":true,"queuePosition":1}}`),
		toUs(thinking), toUs(startFrame("t1")), toUs(chunkFrame("t1", "theirs")), toUs(wholeFrame("t1", textPart("theirs"), finishPart("end_turn"))),
		toUs(`{"type":"status","data":{"promptDequeued":true,"remaining":0}}`), toUs(thinking), toUs(startFrame("t2")), toUs(chunkFrame("t2", "ours")), toUs(wholeFrame("t2", textPart("ours"), finishPart("end_turn"))), toUs(notBusy)),
		summary{Asked: "Go by u2", Steps: []string{"t1"}, Text: []string{"theirs"}, End: done},
		summary{Asked: "Go by u1", Steps: []string{"t2"}, Text: []string{"ours"}, End: done})
}

// An approval closes the open text part here, and not upstream.
func TestReconcilingAfterAnApproval(t *testing.T) {
	t.Parallel()
	p := playBack(t, lines(promptBegun(initFrame), toUs(startFrame("t")), toUs(chunkFrame("t", "May I? ")),
		toUs(`{"type":"interactive_prompt","prompt":{"id":"i","type":"approval","title":"May I?","actions":[],"context":{"toolId":"x","params":{}}}}`),
		toUs(`{"type":"interactive_prompt_resolved","promptId":"i","resolution":{"actionId":"approve","resolvedBy":"u1"}}`),
		toUs(chunkFrame("t", "Tha")), toUs(wholeFrame("t", textPart("May I? Thanks."), finishPart("end_turn")))))
	if got := strings.Join(summaryOf(p.Turns[0]).Text, ""); got != "May I? Thanks." {
		t.Errorf("%q", got)
	}
}

// The server may show a prompt before it confirms the REST request, or with a thread that the
// prompt did not name.
func TestTheServerMayShowAPromptEarlyOrInAThread(t *testing.T) {
	t.Parallel()
	rest := `{"dir":"http","method":"POST","path":"/api/sessions/s/prompt","status":200,"request":{"content":"Go"},"response":{"success":true}}`
	ends := []string{toUs(startFrame("t")), toUs(chunkFrame("t", "One")), toUs(wholeFrame("t", textPart("One"), finishPart("end_turn"))), toUs(notBusy)}
	want := summary{Asked: "Go by u1", Steps: []string{"t"}, Text: []string{"One"}, End: done}
	expect(t, lines(toUs(initFrame), toUs(joined), rest, toUs(userFrame("p1", "Go", "u1")), toUs(thinking), ends), want)
	expect(t, lines(toUs(initFrame), toUs(joined), toUs(userFrame("p1", "Go", "u1")), toUs(thinking), rest, ends), want)
	threaded := strings.NewReplacer(`"createdAt"`, `"threadId":"T","channelType":"thread","channelId":"T","createdAt"`, `"role":"assistant",`, `"role":"assistant","threadId":"T",`)
	for i, e := range ends {
		ends[i] = threaded.Replace(e)
	}
	expect(t, lines(toUs(initFrame), toUs(joined), fromUs(promptFrame("Go")), toUs(threaded.Replace(userFrame("p1", "Go", "u1"))), ends), want)
}

// The last text begins with the same words as the first. The last text is not a longer form of the
// first one.
func TestE33_TheLastTextBeginsAsTheFirst(t *testing.T) {
	t.Parallel()
	call := toolPart("a", "completed", `,"args":{"x":1},"result":"A"`)
	expect(t, lines(promptBegun(initFrame), toUs(startFrame("t")), toUs(chunkFrame("t", "It")), toUs(wholeFrame("t", textPart("It"), call)), toUs(chunkFrame("t", "Item two.")),
		toUs(wholeFrame("t", textPart("Item two."), call, textPart("Item two."), finishPart("end_turn")))),
		summary{Asked: "Go by u1", Steps: []string{"t"}, Text: []string{"It", "Item two."}, Tools: []string{`a completed {"x":1} "A"`}, End: done})
}
