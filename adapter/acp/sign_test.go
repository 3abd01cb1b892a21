package acp_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/adapter/acp"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/internal/testkit/replay/replaytest"
	"github.com/tributary-dev/tributary/trace"
)

// Agents that report a failed call of the model as a completed turn are known by signs
// of their own. An ordinary text is none.
func TestATurnFailsByTheSignOfItsAgent(t *testing.T) {
	t.Parallel()
	const (
		call  = `{"sessionUpdate":"tool_call","toolCallId":"c","title":"Read","kind":"read","status":"completed"}`
		usage = `{"sessionUpdate":"usage_update","used":7,"size":100}`
		plan  = `{"sessionUpdate":"plan","entries":[{"content":"look","status":"pending"}]}`
	)
	text := func(s string) string {
		quoted, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		return `{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":` + string(quoted) + `}}`
	}
	for name, tc := range map[string]struct {
		preset string
		prompt string
		turn   []string
		fails  string // the sentence, or "" for a turn that does not fail
		shown  string // the text of the messages
	}{
		"an error alone":                      {preset: "copilot", turn: []string{usage, text("Error: 400 no such model")}, fails: "Error: 400 no such model."},
		"an error behind half a text":         {preset: "copilot", turn: []string{text("Half a "), text("text."), text("Error: cut off"), usage}, fails: "Error: cut off.", shown: "Half a text."},
		"an error behind a call":              {preset: "copilot", turn: []string{text("I look."), call, text("Error: cut off")}, fails: "Error: cut off.", shown: "I look."},
		"a text that goes on":                 {preset: "copilot", turn: []string{text("Error: this "), text("is what the log says.")}, shown: "Error: this is what the log says."},
		"a call that goes on":                 {preset: "copilot", turn: []string{text("Error: I look."), call, text("Fine.")}, shown: "Error: I look.Fine."},
		"a line of a text":                    {preset: "copilot", turn: []string{text("The log says:\n"), text("Error: cut off")}, shown: "The log says:\nError: cut off"},
		"a text of another agent":             {preset: "qwen", turn: []string{text("Error: cut off")}, shown: "Error: cut off"},
		"an error of Goose":                   {preset: "goose", turn: []string{text("Half"), text("Ran into this error: no.\n\nPlease retry")}, fails: "Ran into this error: no.", shown: "Half"},
		"silence":                             {preset: "kimi", turn: []string{usage}, fails: "without an answer"},
		"silence of an agent that may":        {preset: "qwen", turn: []string{usage}},
		"a plan":                              {preset: "kimi", turn: []string{plan}},
		"a call without words":                {preset: "pi", turn: []string{call}},
		"a command that shows nothing":        {preset: "kimi", prompt: "/clear", turn: nil},
		"no token in the first turn":          {preset: "gemini", turn: []string{text("Half")}, shown: "Half"},
		"a text that only the sign begins as": {preset: "copilot", turn: []string{text("Errors: none")}, shown: "Errors: none"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			preset, ok := acp.FindPreset(tc.preset)
			if !ok {
				t.Fatal(tc.preset)
			}
			lines := []string{strings.Replace(begun, `"hi"`, `"`+tc.prompt+`"`, 1)}
			for _, u := range tc.turn {
				lines = append(lines, out(u))
			}
			p := replaytest.Play(t, acp.NewDecoder(acp.Options{Signs: preset.Signs}), []byte(strings.Join(append(lines, ended), "\n")))
			checkEnd(t, replaytest.Events(p.Turns[0]), tc.fails)
			shown := ""
			for _, m := range agenttest.Each[trace.Message](replaytest.Events(p.Turns[0])) {
				shown += m.Text
			}
			if shown != tc.shown {
				t.Errorf("the messages are %q; want %q", shown, tc.shown)
			}
		})
	}
}

// Gemini CLI counts the tokens of each turn. The reply to a failed turn counts none.
func TestATurnThatCountsNoTokenFailsBehindOneThatCounts(t *testing.T) {
	t.Parallel()
	preset, _ := acp.FindPreset("gemini")
	reply := func(id, tokens string) string {
		return `{"dir":"out","msg":{"id":` + id + `,"result":{"stopReason":"end_turn","_meta":{"quota":{"token_count":{"input_tokens":` + tokens + `,"output_tokens":0}}}}}}`
	}
	again := strings.Replace(begun, `"id":1`, `"id":2`, 1)
	half := out(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Half"}}`)
	p := replaytest.Play(t, acp.NewDecoder(acp.Options{Signs: preset.Signs}),
		[]byte(strings.Join([]string{begun, half, reply("1", "9"), again, half, reply("2", "0")}, "\n")))
	if len(p.Turns) != 2 {
		t.Fatalf("%d turns", len(p.Turns))
	}
	checkEnd(t, replaytest.Events(p.Turns[0]), "")
	checkEnd(t, replaytest.Events(p.Turns[1]), "ended its turn early")
}

func checkEnd(t *testing.T, turn []trace.Event, fails string) {
	t.Helper()
	ends := agenttest.Each[trace.Stop](turn)
	if len(ends) != 1 {
		t.Fatalf("%d ends", len(ends))
	}
	want := trace.OutcomeCompleted
	if fails != "" {
		want = trace.OutcomeFailed
	}
	if ends[0].Outcome != want || !strings.Contains(ends[0].Error, fails) {
		t.Errorf("the turn ends %s with %q; want %s with %q", ends[0].Outcome, ends[0].Error, want, fails)
	}
}
