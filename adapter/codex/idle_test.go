package codex_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/internal/testkit/replay/replaytest"
	"github.com/tributary-dev/tributary/trace"
)

// TestAnAnswerThatCodexDoesNotShow is replaced, also one that was streamed and comes again with the end.
func TestAnAnswerThatCodexDoesNotShow(t *testing.T) {
	t.Parallel()
	const hidden, blocked = "Codex hides this answer.", "Codex has blocked this answer"
	item := func(display string) string {
		return `{"type":"agentMessage","id":"m","text":"The text.","moderation":{"moderated":true,"display":` + display + `}}`
	}
	for display, want := range map[string]string{
		`null`: "The text.",
		`{"version":1,"mode":"show","trustedContacts":"skip","annotation":{"kind":"wellbeingHelpline","subject":"x"}}`: "The text.",
		`{"version":1,"mode":"hide","replacement":{"kind":"wellbeingPromptHelpline"}}`:                                 "Codex hides this answer, and names a helpline in its place: if you think of hurting yourself, call the emergency number or a helpline of your country.",
		`{"version":2,"mode":"hide","replacement":{"kind":"of the future"}}`:                                           hidden,
		`{"version":1,"mode":"block","reason":{"kind":"cyber","trustedAccess":null}}`:                                  blocked + " (cyber).",
		`{"version":1,"mode":"block","reason":{"kind":"protection","protectionType":"minors"}}`:                        blocked + " (minors).",
		`{"version":1,"mode":"block"}`: blocked + ".",
	} {
		for how, lines := range map[string]string{
			"whole":     done(item(display)),
			"streamed":  started(`{"type":"agentMessage","id":"m","text":""}`) + out("item/agentMessage/delta", `"itemId":"m","delta":"The "`) + done(item(display)),
			"recovered": done(item(`null`)) + done(item(display)),
		} {
			events := within(t, lines, done(item(display)))
			var shown, superseded []string
			for _, m := range agenttest.Each[trace.Message](events) {
				if m.Superseded {
					superseded = append(superseded, m.Text)
				} else {
					shown = append(shown, m.Text)
				}
			}
			stop := agenttest.Each[trace.Stop](events)[0]
			if len(shown) == 0 || shown[len(shown)-1] != want || stop.FinalOutput != want || (len(superseded) > 0) != (how != "whole" && want != "The text.") {
				t.Errorf("%s, %s: shown is %q, superseded %q, and the output %q", how, display, shown, superseded, stop.FinalOutput)
			}
		}
	}
}

// TestATurnWithoutAnEndEndsWhenCodexIsIdle: no turn/completed comes.
func TestATurnWithoutAnEndEndsWhenCodexIsIdle(t *testing.T) {
	t.Parallel()
	status := func(of, is string) string {
		return strings.ReplaceAll(out("thread/status/changed", `"status":{"type":"`+is+`"}`), `"T"`, `"`+of+`"`)
	}
	read := func(turns string) string {
		return toAgent(`{"id":7,"method":"thread/read","params":{"threadId":"T","includeTurns":true}}`) + fmt.Sprintf(`{"dir":"out","msg":{"id":7,"result":{"thread":{"id":"T","turns":[%s]}}}}`+"\n", turns)
	}
	hello, idle := done(`{"type":"agentMessage","id":"m","text":"Hello."}`), status("T", "idle")
	fault := out("error", `"willRetry":false,"error":{"message":"the line broke"}`)
	for name, c := range map[string]struct {
		lines, stop, said string
	}{
		"a recording that ends":      {hello + idle, "completed end_turn ", "Hello.\n"},
		"a recording that was cut":   {hello, "canceled recording_ended ", "Hello.\n"},
		"active again":               {hello + idle + status("T", "active"), "canceled recording_ended ", "Hello.\n"},
		"another thread":             {hello + status("X", "idle"), "canceled recording_ended ", "Hello.\n"},
		"after an error":             {hello + fault + idle, "failed error the line broke", "Hello.\n"},
		"an error of the system":     {hello + status("T", "systemError"), "failed error Codex says that the conversation has a system error.", "Hello.\n"},
		"completed, with more":       {hello + idle + read(`{"id":"A","status":"failed"},{"id":"U","status":"completed","items":[{"type":"agentMessage","id":"n","text":"More."}]}`), "completed end_turn ", "Hello.\nMore.\n"},
		"failed":                     {idle + read(`{"id":"U","status":"failed","error":{"message":"The plan is used up.","codexErrorInfo":"usageLimitExceeded"}}`), "failed usageLimitExceeded The plan is used up.", ""},
		"interrupted":                {idle + read(`{"id":"U","status":"interrupted"}`), "canceled interrupted ", ""},
		"in progress, then over":     {idle + read(`{"id":"U","status":"inProgress"}`) + read(`{"id":"U","status":"failed","error":{"message":"no"}}`), "failed error no", ""},
		"in progress for ever":       {idle + strings.Repeat(read(`{"id":"U","status":"inProgress"}`), 3) + read(`{"id":"U","status":"failed"}`), "completed end_turn ", ""},
		"unknown, after an error":    {fault + idle + strings.Repeat(read(``), 3), "failed error the line broke", ""},
		"told after all":             {hello + idle + strings.ReplaceAll(end, "completed\"}", `failed","error":{"message":"no"}}`), "failed error no", "Hello.\n"},
		"read, although it runs":     {hello + read(`{"id":"U","status":"failed"}`) + end, "completed end_turn ", "Hello.\n"},
		"an end that comes too late": {hello + idle + read(`{"id":"U","status":"completed"}`) + done(`{"type":"agentMessage","id":"n","text":"late"}`) + end, "completed end_turn ", "Hello.\n"},
	} {
		p := recordings().Play(t, []byte(begin+c.lines))
		events := replaytest.Events(p.Turns[0])
		stop := agenttest.Each[trace.Stop](events)[0]
		if got := fmt.Sprintf("%s %s %s", stop.Outcome, stop.Reason, stop.Error); p.Skipped > 0 || len(p.Turns) != 1 || got != c.stop || agenttest.Said(events) != c.said {
			t.Errorf("%s: the turn ends as %q and says %q; %d turns, %v", name, got, agenttest.Said(events), len(p.Turns), p.First)
		}
	}
}

// TestAnEndThatComesTooLateEndsNoLaterTurn: the record of the conversation has ended the first turn, and the
// second prompt is out when the error and the end of the first turn come.
func TestAnEndThatComesTooLateEndsNoLaterTurn(t *testing.T) {
	t.Parallel()
	const failed = `"status":"failed","error":{"message":"high demand"}`
	lines := begin + out("thread/status/changed", `"status":{"type":"systemError"}`) +
		toAgent(`{"id":7,"method":"thread/read","params":{"threadId":"T","includeTurns":true}}`) +
		`{"dir":"out","msg":{"id":7,"result":{"thread":{"id":"T","turns":[{"id":"U",` + failed + `}]}}}}` + "\n" +
		toAgent(`{"id":8,"method":"turn/start","params":{"threadId":"T","input":[{"type":"text","text":"again"}]}}`) +
		out("error", `"turnId":"U","willRetry":false,"error":{"message":"high demand"}`) +
		strings.ReplaceAll(end, `"status":"completed"`, failed) +
		strings.ReplaceAll(out("turn/started", `"turn":{"id":"V","status":"inProgress"}`)+done(`{"type":"agentMessage","id":"m","text":"Hello."}`)+end, `"U"`, `"V"`)
	var got []string
	for _, events := range recordings().Play(t, []byte(lines)).Turns {
		stop := agenttest.Each[trace.Stop](replaytest.Events(events))[0]
		got = append(got, fmt.Sprintf("%s %s%s", stop.Outcome, stop.Error, stop.FinalOutput))
	}
	if want := []string{"failed high demand", "completed Hello."}; !slices.Equal(got, want) {
		t.Errorf("the turns ended as %q, want %q", got, want)
	}
}
