package claude_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tributary-dev/tributary/trace"
)

// finishes are the words with which the steps end.
func finishes(records []trace.Record) (words []string) {
	for _, r := range records {
		if s, is := r.Payload.(trace.Step); is && s.Phase == trace.PhaseEnd {
			words = append(words, s.Finish)
		}
	}
	return words
}

func TestWhyTheModelStopped(t *testing.T) {
	t.Parallel()
	whole := strings.Replace(assistantLine("b", `{"type":"text","text":"2"}`), `"model"`, `"stop_reason":"max_tokens","model"`, 1)
	lines := []string{hello, begin("a"), open1(0, text0), textDelta(0, "1"), shut(0), messageEnd("pause_turn"), whole, done}
	if d := cmp.Diff([]string{"pause_turn", "max_tokens"}, finishes(recordings().Play(t, []byte(strings.Join(lines, "\n"))).Records)); d != "" {
		t.Error(d)
	}
}

func TestACallGoesOnInLaterTurns(t *testing.T) {
	t.Parallel()
	sub := func(id string) string {
		return strings.Replace(assistantLine(id, `{"type":"text","text":"`+id+`"}`), `"type":"assistant"`, `"type":"assistant","parent_tool_use_id":"t1"`, 1)
	}
	lines := []string{
		hello, assistantLine("a", `{"type":"tool_use","id":"t1","name":"Task","input":{}}`),
		out(`{"type":"system","subtype":"task_started","task_id":"k","tool_use_id":"t1"}`),
		userLine(`[{"type":"tool_result","tool_use_id":"t1","content":"launched"}]`), done, hello, sub("s1"), done, hello, sub("s2"), done,
	}
	var got []string
	for _, r := range recordings().Play(t, []byte(strings.Join(lines, "\n"))).Records {
		if c, is := r.Payload.(trace.ToolCall); is {
			got = append(got, strings.TrimSpace(r.Turn+" "+c.ToolCallID+" "+c.Continues))
		}
	}
	if d := cmp.Diff([]string{"turn-1 t1", "turn-2 t1 turn-1", "turn-3 t1 turn-1"}, got); d != "" {
		t.Error(d)
	}
}

// abouts are what the records say of the agent.
func abouts(t *testing.T, lines ...string) (all []trace.AgentInfo) {
	t.Helper()
	for _, r := range recordings().Play(t, []byte(strings.Join(lines, "\n"))).Records {
		d, _ := r.Payload.(trace.Data)
		if a, is := d.Agent(); is {
			all = append(all, a)
		}
	}
	return all
}

func TestWhichAgent(t *testing.T) {
	t.Parallel()
	initLine := func(model string) string {
		return out(fmt.Sprintf(`{"type":"system","subtype":"init","claude_code_version":"2.9","model":%q,"tools":["Bash"]}`, model))
	}
	answer := func(provider string) string {
		return out(`{"type":"control_response","response":{"request_id":"x","response":{"claude_code_version":"2.9","account":{"apiProvider":"` + provider + `"}}}}`)
	}
	says := func(model string) string { return spent("", "a", model, 1, 1) }
	known := trace.AgentInfo{Product: "claude-code", Version: "2.9", Provider: "anthropic"}
	begun := known
	begun.Model, begun.Tools = "claude-x", []trace.ToolDefinition{{Name: "Bash"}}
	bedrock := trace.AgentInfo{Product: "claude-code", Version: "2.9", Provider: "bedrock"}
	unnamed := begun
	unnamed.Model = ""
	for _, c := range []struct {
		name  string
		lines []string
		want  []trace.AgentInfo
	}{
		{"at the start", []string{answer("firstParty"), hello, initLine("claude-x"), says("claude-x"), done}, []trace.AgentInfo{known, begun}},
		{"another provider", []string{answer("bedrock"), hello, done}, []trace.AgentInfo{bedrock}},
		{"another model", []string{hello, initLine("claude-x"), says("claude-y"), done}, []trace.AgentInfo{begun, {Model: "claude-y"}}},
		{"the same model, with a larger context", []string{hello, initLine("claude-x[1m]"), says("claude-x"), done}, []trace.AgentInfo{begun}},
		{"a word for a model", []string{hello, initLine("default"), done}, []trace.AgentInfo{unnamed}},
		{"a sub-agent's model is not the agent's", []string{hello, initLine("claude-x"), spent("t1", "s", "claude-small", 1, 1), done}, []trace.AgentInfo{begun}},
		{"tools of another form", []string{hello, out(`{"type":"system","subtype":"init","model":"claude-x","tools":[{"a":1}]}`), done}, []trace.AgentInfo{{Product: "claude-code", Provider: "anthropic", Model: "claude-x"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if d := cmp.Diff(c.want, abouts(t, c.lines...)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func TestTheClassOfAFailure(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		message, result string // more fields of the two lines
		want            trace.Class
	}{
		{`"error":"authentication_failed"`, `"api_error_status":401`, trace.ClassAuth},
		{`"error":"billing_error"`, `"api_error_status":400`, trace.ClassRateLimit},
		{`"error":"rate_limit"`, `"api_error_status":429`, trace.ClassRateLimit},
		{`"error":"overloaded"`, `"api_error_status":529`, trace.ClassOverloaded},
		{`"error":"server_error"`, `"api_error":"connection_failed"`, trace.ClassNetwork},
		{`"error":"server_error","api_error":"stream_idle_timeout"`, `"api_error_status":null`, trace.ClassNetwork},
		{`"error":"invalid_request"`, `"api_error_status":400`, trace.ClassRequest},
		{`"error":"invalid_request"`, `"api_error_status":400,"result":"Prompt is too long"`, trace.ClassContext},
		{`"error":"invalid_request"`, `"terminal_reason":"prompt_too_long"`, trace.ClassContext},
		{`"error":"max_output_tokens"`, `"api_error_status":null`, trace.ClassLimit},
		{`"error":"unknown"`, `"api_error_status":502`, trace.ClassOverloaded},
		{`"error":"unknown","api_error_status":403`, `"api_error_status":null`, trace.ClassAuth},
		{`"error":"unknown"`, `"api_error_status":null`, ""},
		{`"error":"from the future"`, `"terminal_reason":"hook_stopped"`, ""},
		{`"error":null`, `"subtype":"error_max_turns"`, trace.ClassLimit},
		{`"error":null`, `"subtype":"error_max_budget_usd"`, trace.ClassLimit},
		{`"error":"server_error"`, `"terminal_reason":"aborted_streaming"`, ""},
	} {
		lines := []string{
			hello, out(`{"type":"assistant","is_api_error_message":true,"message":{"model":"<synthetic>","content":[{"type":"text","text":"API Error"}]},` + c.message + `}`),
			out(`{"type":"result","is_error":true,` + c.result + `}`),
		}
		for _, l := range lines {
			if !json.Valid([]byte(l)) {
				t.Fatal(l)
			}
		}
		records := recordings().Play(t, []byte(strings.Join(lines, "\n"))).Records
		if stop, is := records[len(records)-1].Payload.(trace.Stop); !is || stop.Class != c.want {
			t.Errorf("%s, %s: the class is %q, want %q", c.message, c.result, stop.Class, c.want)
		}
	}
}
