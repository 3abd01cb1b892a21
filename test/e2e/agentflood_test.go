//go:build linux

package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/agent/agenttest"
)

// This file has agents that repeat one kind of message for ever.

// update is news of an ACP agent.
func update(format string, args ...any) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":`+format+"}}\n", args...)
}

// stepped is an event of Claude Code's stream.
func stepped(format string, args ...any) string {
	return fmt.Sprintf(`{"type":"stream_event","event":`+format+"}\n", args...)
}

// agentFloods are the floods of agents, by agent and name. See outFlood; ~ stands
// for the number before that of #. The messages of an idle flood come after the end of the turn.
func agentFloods() map[string]map[string]outFlood {
	mb := filler(1 << 20)
	asks := func(options string) string {
		return `{"jsonrpc":"2.0","id":"r#","method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"c#","title":"t"},"options":[` + options + "]}}\n"
	}
	acp := map[string]outFlood{
		"text":                  {"", update(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"%s"}}`, filler(10_000))},
		"thoughts":              {"", update(`{"sessionUpdate":"agent_thought_chunk","messageId":"m#","content":{"type":"text","text":"%s"}}`, filler(10_000))},
		"pictures":              {"", update(`{"sessionUpdate":"agent_message_chunk","content":{"type":"image","mimeType":"image/png","data":"%s"}}`, mb)},
		"links":                 {"", update(`{"sessionUpdate":"agent_message_chunk","content":{"type":"resource_link","name":"n#","uri":"https://example.com/#/%s"}}`, mb)},
		"calls":                 {"", update(`{"sessionUpdate":"tool_call","toolCallId":"c#","title":"t"}`)},
		"ids":                   {"", update(`{"sessionUpdate":"tool_call","toolCallId":"%s#","title":"t"}`, mb)},
		"titles of calls":       {"", update(`{"sessionUpdate":"tool_call","toolCallId":"c","title":"%s#"}`, mb)},
		"inputs":                {"", update(`{"sessionUpdate":"tool_call_update","toolCallId":"c","rawInput":{"a":"%s#"}}`, mb)},
		"outputs":               {update(`{"sessionUpdate":"tool_call","toolCallId":"c","title":"t"}`), update(`{"sessionUpdate":"tool_call_update","toolCallId":"c","rawOutput":"%s#"}`, mb)},
		"diffs":                 {update(`{"sessionUpdate":"tool_call","toolCallId":"c","title":"t"}`), update(`{"sessionUpdate":"tool_call_update","toolCallId":"c","content":[{"type":"diff","path":"a#","oldText":"%s","newText":"b"}]}`, mb)},
		"locations":             {update(`{"sessionUpdate":"tool_call","toolCallId":"c","title":"t"}`), update(`{"sessionUpdate":"tool_call_update","toolCallId":"c","locations":[{"path":"%s#"}]}`, mb)},
		"updates of lost calls": {"", update(`{"sessionUpdate":"tool_call_update","toolCallId":"c#","status":"completed","rawOutput":"%s"}`, mb)},
		"sub-agents":            {"", update(`{"sessionUpdate":"tool_call","toolCallId":"c#","title":"t","_meta":{"claudeCode":{"parentToolUseId":"c~","toolName":"Agent"}}}`)},
		"plans":                 {"", update(`{"sessionUpdate":"plan","entries":[%s{"content":"#","priority":"low","status":"pending"}]}`, strings.Repeat(`{"content":"a","priority":"low","status":"pending"},`, 10_000))},
		"commands":              {"", update(`{"sessionUpdate":"available_commands_update","availableCommands":[{"name":"%s#","description":"d"}]}`, mb)},
		"modes":                 {"", update(`{"sessionUpdate":"current_mode_update","currentModeId":"m#"}`)},
		"large modes":           {"", update(`{"sessionUpdate":"current_mode_update","currentModeId":"%s#"}`, mb)},
		"titles of the session": {"", update(`{"sessionUpdate":"session_info_update","title":"%s#"}`, filler(1000))},
		"settings":              {"", update(`{"sessionUpdate":"config_option_update","configOptions":[{"id":"model","category":"model","type":"select","currentValue":"#","options":[{"value":"#","name":"%s"}]}]}`, mb)},
		"usage":                 {"", update(`{"sessionUpdate":"usage_update","used":9223372036854775807,"size":9223372036854775807,"cost":{"amount":1e308,"currency":"USD"}}`)},
		"kinds from the future": {"", update(`{"sessionUpdate":"future_#","a":"%s"}`, mb)},
		"methods of the future": {"", `{"jsonrpc":"2.0","id":"q#","method":"future/#","params":{"a":"` + mb + "\"}}\n"},
		"answers to nothing":    {"", `{"jsonrpc":"2.0","id":#,"result":{"a":"` + mb + "\"}}\n"},
		"requests":              {"", asks(`{"optionId":"y","name":"Yes","kind":"allow_once"}`)},
		"options of a request":  {"", asks(`{"optionId":"y","name":"` + mb + `","kind":"allow_once"}`)},
		"files that are read":   {"", `{"jsonrpc":"2.0","id":"f#","method":"fs/read_text_file","params":{"sessionId":"s","path":"/none/#"}}` + "\n"},
		"terminals":             {"", `{"jsonrpc":"2.0","id":"t#","method":"terminal/create","params":{"sessionId":"s","command":"true","args":["#"]}}` + "\n"},
		"forms":                 {"", `{"jsonrpc":"2.0","id":"e#","method":"elicitation/create","params":{"sessionId":"s","mode":"form","message":"m","requestedSchema":{"type":"object","properties":{"` + mb + `":{"type":"string"}}}}}` + "\n"},
		"idle: text":            {"", update(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"%s"}}`, filler(10_000))},
		"idle: modes":           {"", update(`{"sessionUpdate":"current_mode_update","currentModeId":"m#"}`)},
		"idle: large modes":     {"", update(`{"sessionUpdate":"current_mode_update","currentModeId":"%s#"}`, mb)},
		"idle: usage":           {"", update(`{"sessionUpdate":"usage_update","used":1,"size":2,"_meta":{"a":"%s"}}`, mb)},
		"idle: results":         {"", update(`{"sessionUpdate":"tool_call_update","toolCallId":"c#","status":"completed","rawOutput":"%s"}`, mb)},
	}
	claude := map[string]outFlood{
		"thoughts":              {stepped(`{"type":"content_block_start","index":1,"content_block":{"type":"thinking","thinking":""}}`), stepped(`{"type":"content_block_delta","index":1,"delta":{"type":"thinking_delta","thinking":"%s"}}`, filler(10_000))},
		"blocks":                {"", stepped(`{"type":"content_block_start","index":#,"content_block":{"type":"tool_use","id":"c#","name":"Bash","input":{}}}`)},
		"messages":              {"", stepped(`{"type":"message_start","message":{"id":"%s#"}}`, filler(100_000))},
		"calls":                 {"", `{"type":"assistant","message":{"id":"m#","content":[{"type":"tool_use","id":"c#","name":"Bash","input":{"command":"` + mb + `"}}]}}` + "\n"},
		"results of no call":    {"", `{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"c#","content":"` + mb + `"}]}}` + "\n"},
		"echoes of prompts":     {"", `{"type":"user","isReplay":true,"uuid":"u#","message":{"role":"user","content":"` + mb + `"}}` + "\n"},
		"prompts of others":     {"", `{"type":"user","uuid":"u#","message":{"role":"user","content":"` + mb + `"}}` + "\n"},
		"sub-agents":            {"", `{"type":"assistant","parent_tool_use_id":"c~","message":{"id":"m#","content":[{"type":"tool_use","id":"c#","name":"Agent","input":{}}]}}` + "\n"},
		"tasks":                 {"", `{"type":"system","subtype":"task_started","task_id":"t#","tool_use_id":"c#","description":"` + mb + `"}` + "\n"},
		"beginnings":            {"", `{"type":"system","subtype":"init","session_id":"s#","model":"m#","tools":["` + mb + `"]}` + "\n"},
		"states":                {"", `{"type":"system","subtype":"status","status":"` + mb + `#"}` + "\n"},
		"summaries":             {"", `{"type":"system","subtype":"compact_boundary","compact_metadata":{"trigger":"auto","pre_tokens":#}}` + "\n"},
		"kinds from the future": {"", `{"type":"future","subtype":"#","a":"` + mb + `"}` + "\n"},
		"requests":              {"", `{"type":"control_request","request_id":"p#","request":{"subtype":"can_use_tool","tool_name":"Bash","tool_use_id":"c#","input":{"command":"ls"}}}` + "\n"},
		"suggestions":           {"", `{"type":"control_request","request_id":"p#","request":{"subtype":"can_use_tool","tool_name":"Bash","tool_use_id":"c#","input":{"command":"ls"},"permission_suggestions":[{"type":"addRules","rules":[{"toolName":"` + mb + `"}]}]}}` + "\n"},
		"questions":             {"", `{"type":"control_request","request_id":"p#","request":{"subtype":"can_use_tool","tool_name":"AskUserQuestion","tool_use_id":"c#","input":{"questions":[{"question":"` + mb + `#","options":[]}]}}}` + "\n"},
		"other requests":        {"", `{"type":"control_request","request_id":"p#","request":{"subtype":"future","a":"` + mb + `"}}` + "\n"},
		"withdrawals":           {"", `{"type":"control_cancel_request","request_id":"p#` + filler(1000) + `"}` + "\n"},
		"usage":                 {"", stepped(`{"type":"message_delta","delta":{},"usage":{"output_tokens":9223372036854775807,"input_tokens":9223372036854775807}}`)},
		"idle: texts":           {"", `{"type":"assistant","message":{"id":"m#","content":[{"type":"text","text":"x"}]}}` + "\n" + `{"type":"result","subtype":"success","is_error":false,"result":"x","session_id":"s"}` + "\n"},
		"idle: beginnings":      {"", `{"type":"system","subtype":"init","session_id":"s#","model":"m#","tools":["` + mb + `"]}` + "\n"},
	}
	return map[string]map[string]outFlood{"acp": acp, "claude": claude, "agui": aguiFloods()}
}

// aguiFloods are those of a server that speaks AG-UI.
func aguiFloods() map[string]outFlood {
	mb := filler(1 << 20)
	began := frame(`{"type":"RUN_STARTED","threadId":"t","runId":"r"}`)
	all := map[string]outFlood{
		"text":                  {frame(`{"type":"TEXT_MESSAGE_START","messageId":"m","role":"assistant"}`), frame(`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"%s"}`, filler(10_000))},
		"messages":              {"", frame(`{"type":"TEXT_MESSAGE_START","messageId":"m#","role":"assistant"}`)},
		"chunks":                {"", frame(`{"type":"TEXT_MESSAGE_CHUNK","messageId":"%s#","role":"assistant","delta":"x"}`, mb)},
		"reasoning":             {frame(`{"type":"REASONING_MESSAGE_START","messageId":"m","role":"reasoning"}`), frame(`{"type":"REASONING_MESSAGE_CONTENT","messageId":"m","delta":"%s"}`, filler(10_000))},
		"calls":                 {"", frame(`{"type":"TOOL_CALL_START","toolCallId":"c#","toolCallName":"t"}`)},
		"inputs":                {frame(`{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"t"}`), frame(`{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"%s"}`, filler(10_000))},
		"results of no call":    {"", frame(`{"type":"TOOL_CALL_RESULT","messageId":"m#","toolCallId":"c#","content":"%s"}`, mb)},
		"states":                {"", frame(`{"type":"STATE_SNAPSHOT","snapshot":{"a#":"%s"}}`, mb)},
		"changes of the state":  {frame(`{"type":"STATE_SNAPSHOT","snapshot":{}}`), frame(`{"type":"STATE_DELTA","delta":[{"op":"add","path":"/a#","value":"%s"}]}`, mb)},
		"copies in the state":   {frame(`{"type":"STATE_SNAPSHOT","snapshot":{"a":"%s"}}`, mb), frame(`{"type":"STATE_DELTA","delta":[{"op":"copy","from":"","path":"/b#"}]}`)},
		"snapshots":             {"", frame(`{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"m#","role":"assistant","content":"%s"}]}`, mb)},
		"activities":            {"", frame(`{"type":"ACTIVITY_SNAPSHOT","messageId":"a#","activityType":"PLAN","content":{"a":"%s"}}`, mb)},
		"changes of activities": {frame(`{"type":"ACTIVITY_SNAPSHOT","messageId":"a","activityType":"PLAN","content":{}}`), frame(`{"type":"ACTIVITY_DELTA","messageId":"a","activityType":"PLAN","patch":[{"op":"add","path":"/a#","value":"%s"}]}`, mb)},
		"steps":                 {"", frame(`{"type":"STEP_STARTED","stepName":"s#"}`)},
		"raw events":            {"", frame(`{"type":"RAW","event":{"a":"%s"}}`, mb)},
		"custom events":         {"", frame(`{"type":"CUSTOM","name":"n#","value":"%s"}`, mb)},
		"kinds from the future": {"", frame(`{"type":"FUTURE_#","a":"%s"}`, mb)},
	}
	for name, f := range all {
		all[name] = outFlood{began + f.begin, f.again}
	}
	return all
}

// floodOut writes a flood to standard output.
func floodOut(f outFlood, most int) {
	out := bufio.NewWriterSize(os.Stdout, 1<<20)
	defer out.Flush()
	_, _ = out.WriteString(f.begin)
	for n, sent := 1, 0; sent < most; n++ {
		k, err := out.WriteString(strings.NewReplacer("#", fmt.Sprint(n), "~", fmt.Sprint(n-1)).Replace(f.again))
		if err != nil {
			os.Exit(0)
		}
		sent += k
	}
}

// floodBytes is how much a flood writes whose turn goes on.
const floodBytes = 32 << 20

// floods plays the flood that a prompt names, and reports whether it is an idle one.
func floods(agent, prompt string, end func()) {
	for name, f := range agentFloods()[agent] {
		if !strings.Contains(prompt, `flood: `+name+`"`) {
			continue
		}
		if strings.HasPrefix(name, "idle: ") {
			end()
			floodOut(f, floodBytes)
			return
		}
		floodOut(f, floodBytes)
	}
	end()
}

// liveAsACP is the life of an ACP agent whose prompts name floods.
func liveAsACP() int {
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return 0
		}
		var m struct {
			ID     json.RawMessage
			Method string
		}
		if json.Unmarshal(line, &m) != nil || len(m.ID) == 0 || m.Method == "" {
			continue
		}
		result := `{}`
		switch m.Method {
		case "initialize":
			result = `{"protocolVersion":1,"agentCapabilities":{}}`
		case "session/new":
			result = `{"sessionId":"s"}`
		case "session/prompt":
			result = `{"stopReason":"end_turn"}`
		}
		answer := func() { fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", m.ID, result) }
		if m.Method == "session/prompt" {
			floods("acp", string(line), answer)
		} else {
			answer()
		}
	}
}

// TestAnAgentThatFloods: an agent that repeats one kind of message for ever, in a turn or when
// nobody has asked, costs the gateway bounded memory. Turns beside it work. The floods of an agent
// share a gateway, so what one leaves behind counts with the next. Other agents come by a pipe or a
// stream as these do, and what their adapters keep is bounded by TestFloods of their packages.
//
//evidence:for limit-turn-bytes limit-turn-records limit-held
func TestAnAgentThatFloods(t *testing.T) {
	t.Parallel()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, agent := range slices.Sorted(maps.Keys(agentFloods())) {
		t.Run(agent, func(t *testing.T) {
			t.Parallel()
			how := map[string]string{"acp": "speaks ACP", "claude": "lives"}[agent]
			settings := fmt.Sprintf("adapter: %s, command: %q, env: {%s: %q, %s: %q}", agent, exe, fakeAgent, how, fakePids, t.TempDir())
			if agent == "agui" {
				settings = "adapter: agui, url: " + flooding(t, aguiFloods(), floodBytes).URL
			}
			config := filepath.Join(t.TempDir(), "tributary.yaml")
			text := "log_level: warn\ndefault_agent: demo\nlimits: {turn_bytes: 8MB, turn_records: 2000}\nagents:\n  demo: {options: {pace: 0s}}\n" +
				"  flood: {" + settings + "}\n"
			if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			p := start(t, t.TempDir(), os.Environ(), "--config", config)
			defer p.end()
			for i, name := range slices.Sorted(maps.Keys(agentFloods()[agent])) {
				if i%8 != 0 && !agenttest.Full() { // each kind has a quick test of its bound in its package
					continue
				}
				body, err := json.Marshal(prompt(name, "flood: "+name))
				if err != nil {
					t.Fatal(err)
				}
				status, end := p.send(t.Context(), p.Token(), http.MethodPost, "/api/chat?agent=flood", body)
				if status != http.StatusOK || !strings.Contains(end, "[DONE]") {
					t.Errorf("%s: its turn ends with %d %.600q", name, status, end)
				}
				if strings.HasPrefix(name, "idle: ") { // the agent takes the next prompt when it has said all
					if next := p.chat(name, "hello", nil); !next.done {
						t.Errorf("%s: the next turn: %q", name, next.text)
					}
				}
				if quiet := p.chat("beside", "hello", nil); !quiet.done || !strings.Contains(quiet.text, "demo agent") {
					t.Errorf("%s: a turn beside it: %q", name, quiet.text)
				}
				res := p.request(t.Context(), http.MethodDelete, "/api/sessions/"+url.PathEscape(name), nil) // its agent ends
				_ = res.Body.Close()
				if peak := p.peak(t); peak > mostMemory {
					t.Errorf("%s: the gateway took %d MB", name, peak>>20)
				} else {
					t.Logf("%s: %d MB at most so far", name, peak>>20)
				}
			}
		})
	}
}
