package agui_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/adapter/agui"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/internal/testkit/replay"
	"github.com/tributary-dev/tributary/internal/testkit/replay/replaytest"
	"github.com/tributary-dev/tributary/trace"
)

// recordings are what real endpoints and the adapter said to each other; see TestReal.
const recordings = "../../test/recordings/agui"

func recorded(t testing.TB) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	files, err := filepath.Glob(filepath.Join(recordings, "*.*"))
	if err != nil || len(files) < 20 {
		t.Fatalf("%d recordings (%v)", len(files), err)
	}
	for _, f := range files {
		data, err := os.ReadFile(f) //nolint:gosec // a recording of the tests'
		if err != nil {
			t.Fatal(err)
		}
		all[filepath.Base(f)] = data
	}
	return all
}

func TestGolden(t *testing.T) {
	t.Parallel()
	for name, data := range recorded(t) {
		p := replaytest.Play(t, agui.NewDecoder(), data)
		if p.Skipped > 0 {
			t.Errorf("%s: %d messages were not understood: %v", name, p.Skipped, p.First)
		}
		turns := 1 + strings.Count(name, "after-") + strings.Count(name, "history")
		if name == "pydantic-text.jsonl" || name == "tanstack-text.jsonl" || name == "pydantic-thought.jsonl" {
			turns++
		}
		if len(p.Turns) != turns {
			t.Errorf("%s: %d turns, want %d", name, len(p.Turns), turns)
		}
		for n, turn := range p.Turns {
			stop := agenttest.Each[trace.Stop](replaytest.Events(turn))[0]
			if abandoned := strings.Contains(name, "abandoned") && n == 0; (stop.Reason == replay.Ended) != abandoned {
				t.Errorf("%s: turn %d ends as %+v", name, n+1, stop)
			}
		}
		replaytest.Golden(t, filepath.Join("testdata", "golden", name+".jsonl"), replaytest.Lines(t, p.Records))
	}
}

// TestARecordingGivesTheEventsOfItsSession: approvals and answers come from the recording.
func TestARecordingGivesTheEventsOfItsSession(t *testing.T) {
	t.Parallel()
	all := recorded(t)
	for name, want := range map[string][]string{
		"pydantic-edited.jsonl": {
			"Let me see. ", `mail{"city":"Paris"}`, `may call_1? Approve mail({"city":"Paris"})?`, `mail{"city":"Rome"}`, `completed:"sent to Rome"`, `The tool: "sent to Rome"`, "completed stop",
		},
		"pydantic-app-tool.jsonl": {
			"Let me see. ", `pick{"city":"Paris"}`, `The agent calls pick of the app with {"city":"Paris"}. What is the result??`, `selected ["{\"colour\":\"red\"}"]`,
			`completed:{"colour":"red"}`, `The tool: {"colour": "red"}`, "completed stop",
		},
		"tanstack-app-tool.jsonl": {
			"Let me see. ", `pick{"city":"Paris"}`, "Client tool pick is ready to run?", `selected ["{\"colour\":\"red\"}"]`, `completed:{"colour":"red"}`, `The tool: {"colour":"red"}`, "completed stop",
		},
		"pydantic-weather.sse": {
			"Let me see. ", `weather{"city":"Paris"}`, `completed:{"city":"Paris","degrees":21}`, `The tool: {"city": "Paris", "degrees": 21}`, "completed stop",
		},
		"llamaindex-tool.jsonl": { // its results are in snapshots alone
			"I will call get_weather.", `get_weather{"city":"Paris"}`, `completed:"Paris: 20 degrees"`, "Done. The tool said: Paris: 20 degrees", "completed stop",
		},
		"adk-thought.jsonl": { // the thought comes twice, under two ids
			"(I should use a tool to call get_weather.)", "I will call get_weather.", `get_weather{"city":"Paris"}`, `completed:{"city":"Paris","temperature":20}`,
			`Done. The tool said: {"city": "Paris", "temperature": 20}`, "completed stop",
		},
		"maf-approved.jsonl": { // the thought comes twice, under one id
			"(I should use a tool to call danger.)", "I will call danger.", `danger{"path":"/x"}`,
			`confirm_changes{"function_name":"danger","function_call_id":"call_61ca91ffcf91f001_0","function_arguments":{"path":"/x"},"steps":[{"description":"Execute danger","status":"enabled"}]}`,
			"may call_61ca91ffcf91f001_0? Approve running danger?", `completed:"deleted: /x"`, "Done. The tool said: deleted: /x",
			"canceled:Not finished: the agent ended its turn without a result.", "completed stop",
		},
		"langgraph-approved.jsonl": {
			"I will call danger.", `danger{"path":"/x"}`, "may call_e8716669bdaab29f_0? Tool execution requires approval\n\nTool: danger\nArgs: {'path': '/x'}", `completed:"deleted: /x"`,
			"Done. The tool said: deleted: /x", "completed stop",
		},
		"langgraph-rejected.jsonl": {
			"I will call danger.", `danger{"path":"/y"}`, "may call_fec41118d92ea552_0? Tool execution requires approval\n\nTool: danger\nArgs: {'path': '/y'}", "denied:no way",
			"Done. The tool said: User rejected the tool call for `danger` with reason: no way", "completed stop",
		},
		"mastra-question.jsonl": {
			"(I should use a tool to call pick.)", "I will call pick.", `pick{"question":"which?"}`, "which??", `selected ["a"]`, `completed:{"chosen":"a"}`,
			`Done. The tool said: {"chosen":"a"}`, "completed stop",
		},
	} {
		got := outline(replaytest.Events(replaytest.Play(t, agui.NewDecoder(), all[name]).Records))
		for i := range got {
			got[i] = number.ReplaceAllString(got[i], "call_m")
		}
		same(t, got, want)
	}
}

// TestARecordingOfEventsAlone: an endpoint that echoes the input tells the prompt, too.
func TestARecordingOfEventsAlone(t *testing.T) {
	t.Parallel()
	echo := func(id, prompt string) string {
		return `{"type":"RUN_STARTED","threadId":"s","runId":"` + id + `","input":{"threadId":"s","runId":"` + id + `","messages":[{"id":"` + id + `","role":"user","content":[{"type":"text","text":"` + prompt + `"},{"type":"binary","mimeType":"image/png","data":"iVBO"}]}]}}`
	}
	p := replaytest.Play(t, agui.NewDecoder(), []byte(script(echo("a", "one"), text("m", "1"), finished, echo("b", "two"), text("m", "2"), finished)))
	prompts := agenttest.Each[trace.Prompt](replaytest.Events(p.Records))
	if len(p.Turns) != 2 || len(prompts) != 2 || prompts[1].Message.Parts[0].Text != "two" || prompts[1].Message.Parts[1].URL != "data:image/png;base64,iVBO" {
		t.Errorf("%d turns, with the prompts %+v", len(p.Turns), prompts)
	}
}

func FuzzDecoder(f *testing.F) {
	for _, data := range recorded(f) {
		f.Add(data)
	}
	f.Add([]byte(script(started, `{"type":"STATE_DELTA","delta":[{"op":"copy","from":"","path":"/a"},{"op":"add","path":"/-","value":1},{"op":"move","from":"/a","path":"/a/b"}]}`,
		`{"type":"ACTIVITY_DELTA","messageId":"p","patch":[{"op":"replace","path":"","value":[1]}]}`,
		`{"type":"TOOL_CALL_CHUNK","delta":"x"}`, `{"type":"SUBAGENT_STARTED","subagentRunId":"a","parentSubagentRunId":"a"}`,
		`{"type":"SUBAGENT_FINISHED"}`, interrupts(`{}`, `{"toolCallId":"x"}`, `{"responseSchema":{"type":"object","properties":{"a":{"type":"array","items":{"enum":["x"]}}}}}`))))
	f.Add([]byte(`{"dir":"in","msg":{"body":{"asked":"i"}}}` + "\n" + `{"dir":"in","msg":{"over":true}}` + "\n" + `{"dir":"in","msg":{"stream":true,"body":{"messages":[{},7,null],"resume":[{}]}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := replaytest.AnyInput(t, agui.NewDecoder(), data); err != nil {
			t.Error(err)
		}
	})
}

// FuzzOrder plays events in any order: each byte is an event, or a request.
func FuzzOrder(f *testing.F) {
	var all []string
	for _, id := range []string{"a", "b"} {
		for _, sub := range []string{"", `,"subagentRunId":"s"`} {
			of := `"messageId":"` + id + `","toolCallId":"` + id + `","stepName":"` + id + `","delta":"x"` + sub + `}`
			for _, kind := range []string{
				"TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END", "TEXT_MESSAGE_CHUNK", "REASONING_MESSAGE_START", "REASONING_MESSAGE_CONTENT", "REASONING_MESSAGE_END",
				"REASONING_MESSAGE_CHUNK", "TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_END", "TOOL_CALL_CHUNK", "TOOL_CALL_RESULT", "STEP_STARTED", "THINKING_START", "THINKING_TEXT_MESSAGE_CONTENT", "THINKING_END",
				"SUBAGENT_STARTED", "SUBAGENT_FINISHED", "SUBAGENT_ERROR", "RUN_ERROR",
			} {
				all = append(all, `{"type":"`+kind+`",`+of)
			}
		}
		all = append(all, interrupts(`{"id":"`+id+`","toolCallId":"`+id+`"}`, `{"id":"q","responseSchema":{"type":"boolean"}}`),
			`{"type":"RUN_FINISHED","outcome":{"pendingToolCallIds":["`+id+`"]}}`,
			`{"dir":"in","msg":{"body":{"asked":"`+id+`","permission":{"outcome":"selected","chosen_option":"approve","updated_input":{}}}}}`,
			`{"dir":"in","msg":{"stream":true,"body":{"messages":[{"id":"u`+id+`","role":"user","content":"x"},{"role":"tool","toolCallId":"`+id+`","content":"y"}]}}}`,
			`{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"`+id+`","role":"assistant","content":"z","toolCalls":[{"id":"`+id+`","function":{}}]}]}`,
			`{"type":"REASONING_ENCRYPTED_VALUE","entityId":"`+id+`","encryptedValue":"v"}`, `{"dir":"in","msg":{"body":{"asked":"`+id+`","answer":{"outcome":"selected","values":["x"]}}}}`)
	}
	all = append(all, started, finished, `{"type":"CUSTOM","name":"on_interrupt","value":"{}"}`, `{"dir":"in","msg":{"body":{"asked":"q:0","answer":{"outcome":"canceled"}}}}`, `{"dir":"out","channel":"(ended)","msg":{}}`)
	for n := range all {
		all[n] = strings.TrimSpace(all[n])
		if !strings.HasPrefix(all[n], `{"dir"`) {
			all[n] = `{"dir":"out","msg":` + all[n] + `}`
		}
	}
	f.Add([]byte{0, 1, 2, 90, 45, 91})
	f.Fuzz(func(t *testing.T, order []byte) {
		var lines []string
		for _, b := range order {
			lines = append(lines, all[int(b)%len(all)])
		}
		if err := replaytest.AnyInput(t, agui.NewDecoder(), []byte(strings.Join(lines, "\n"))); err != nil {
			t.Errorf("%v\n%s", err, strings.Join(lines, "\n"))
		}
	})
}
