//go:build unix

package claude_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tributary-dev/tributary/adapter/claude"
	"github.com/tributary-dev/tributary/agent/agenttest"
)

// TestMain lets the test binary stand in for Claude Code: a fake that does what
// the real one rarely does.
func TestMain(m *testing.M) {
	agenttest.Fake("FAKE_CLAUDE", fake)
	goleak.VerifyTestMain(m)
}

// fakeRuntime runs the fake.
func fakeRuntime(t testing.TB, how string, env ...string) claude.Runtime {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return claude.Runtime{Command: exe, Env: append([]string{"FAKE_CLAUDE=" + how, "GORACE=atexit_sleep_ms=0"}, env...), StopTime: time.Second, StartTime: 10 * time.Second}
}

// fake is the life of a fake Claude Code.
func fake(how string) int {
	say := func(lines ...string) {
		for _, l := range lines {
			fmt.Println(l)
		}
	}
	in := bufio.NewReader(os.Stdin)
	switch how {
	case "crash at start":
		fmt.Fprintln(os.Stderr, "warming up")
		fmt.Fprintln(os.Stderr, "Error: the config file is broken")
		return 7
	case "not logged in":
		fmt.Fprintln(os.Stderr, "Invalid API key · Please run /login")
		return 1
	case "mute":
		signal.Ignore(syscall.SIGTERM)
		for {
			time.Sleep(time.Hour) // not select {}: without cgo that is a deadlock, which ends a program
		}
	}
	for _, arg := range os.Args {
		if arg == "--resume-session-at" && (how == "lost" || how == "forgetful") {
			say(`{"type":"result","subtype":"error_during_execution","is_error":true,"errors":["No message found with message.uuid of: x"],"session_id":"x"}`)
			fmt.Fprintln(os.Stderr, "No message found with message.uuid of: x")
			return 1
		}
		if arg == "--resume-session-at" && how == "old" {
			fmt.Fprintln(os.Stderr, "error: unknown option '--resume-session-at'")
			return 1
		}
		if arg == "--resume" && how == "forgetful" {
			say(`{"type":"result","subtype":"error_during_execution","is_error":true,"errors":["No conversation found with session ID: x"],"session_id":"x"}`)
			fmt.Fprintln(os.Stderr, "No conversation found with session ID: x")
			return 1
		}
	}
	hooked := false
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return 0
		}
		var l struct {
			Type      string `json:"type"`
			RequestID string `json:"request_id"`
			Request   struct {
				Subtype string                             `json:"subtype"`
				Hooks   map[string][]struct{ Timeout int } `json:"hooks"`
			} `json:"request"`
			Message struct {
				Content json.RawMessage `json:"content"`
			} `json:"message"`
		}
		if err := json.Unmarshal(line, &l); err != nil {
			fmt.Fprintln(os.Stderr, "bad line:", err)
			return 9
		}
		switch {
		case l.Type == "control_request":
			if l.Request.Subtype == "interrupt" && how == "deaf" {
				continue
			}
			if l.Request.Hooks != nil && how == "knows no hooks" {
				say(`{"type":"control_response","response":{"subtype":"error","request_id":"` + l.RequestID + `","error":"initialize: unknown field hooks"}}`)
				continue
			}
			for _, h := range slices.Concat(slices.Collect(maps.Values(l.Request.Hooks))...) {
				if h.Timeout < 24*60*60 { // Claude Code would refuse before a person's day is over
					fmt.Fprintln(os.Stderr, "a hook has no day")
					return 1
				}
			}
			hooked = hooked || l.Request.Hooks != nil && how != "ignores hooks"
			say(`{"type":"control_response","response":{"subtype":"success","request_id":"` + l.RequestID + `","response":{}}}`)
		case l.Type == "user":
			does := how
			if how == "as told" {
				does = ""
				_ = json.Unmarshal(l.Message.Content, &does) // files are no instruction
			}
			if how == "knows no hooks" || how == "ignores hooks" {
				does = "permission"
			}
			if event, rest, ok := strings.Cut(does, ": "); ok {
				fakeHooked(hooked, event, rest, say, in)
				continue
			}
			if code, over := fakeTurn(does, say, in); over {
				return code
			}
		}
	}
}

const (
	fakeInit  = `{"type":"system","subtype":"init","session_id":"fake-session","model":"fake"}`
	fakeStart = `{"type":"stream_event","event":{"type":"message_start","message":{"id":"m1"}}}` + "\n" +
		`{"type":"stream_event","event":{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}}` + "\n" +
		`{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"half a "}}}`
	fakeEnd = `{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"sentence"}}}` + "\n" +
		`{"type":"result","subtype":"success","is_error":false,"terminal_reason":"completed","stop_reason":"end_turn","result":"half a sentence","session_id":"fake-session"}`
)

// fakeRich are the reasoning and the call of a turn.
var fakeRich = []string{
	`{"type":"stream_event","event":{"type":"content_block_stop","index":0}}`,
	`{"type":"stream_event","event":{"type":"content_block_start","index":1,"content_block":{"type":"thinking","thinking":""}}}`,
	`{"type":"stream_event","event":{"type":"content_block_delta","index":1,"delta":{"type":"thinking_delta","thinking":"I need a list."}}}`,
	`{"type":"stream_event","event":{"type":"content_block_stop","index":1}}`,
	`{"type":"stream_event","event":{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"t1","name":"Bash","input":{}}}}`,
	`{"type":"stream_event","event":{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"command\":\"ls\"}"}}}`,
	`{"type":"assistant","message":{"id":"m1","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}]}}`,
	`{"type":"stream_event","event":{"type":"content_block_stop","index":2}}`,
	`{"type":"stream_event","event":{"type":"message_stop"}}`,
	`{"type":"control_request","request_id":"p1","request":{"subtype":"can_use_tool","tool_name":"Bash","tool_use_id":"t1","input":{"command":"ls"}}}`,
}

// fakeQuestion is a call that asks a question.
var fakeQuestion = []string{
	`{"type":"assistant","message":{"id":"m1","content":[{"type":"tool_use","id":"t1","name":"AskUserQuestion","input":{"questions":[{"question":"Which?","options":[{"label":"Red"},{"label":"Blue"}]}]}}]}}`,
	`{"type":"control_request","request_id":"p1","request":{"subtype":"can_use_tool","tool_name":"AskUserQuestion","tool_use_id":"t1","input":{"questions":[{"question":"Which?","options":[{"label":"Red"},{"label":"Blue"}]}]}}}`,
}

// fakeAnswered runs the tool with the input of the answer, if it may. The result is false
// when the turn was interrupted.
func fakeAnswered(say func(...string), in *bufio.Reader) bool {
	line, err := in.ReadBytes('\n')
	var l struct {
		Type      string `json:"type"`
		RequestID string `json:"request_id"`
		Response  struct {
			Response struct {
				Behavior     string          `json:"behavior"`
				UpdatedInput json.RawMessage `json:"updatedInput"`
			} `json:"response"`
		} `json:"response"`
	}
	if err != nil || json.Unmarshal(line, &l) != nil {
		return false
	}
	if l.Type == "control_request" {
		say(`{"type":"control_response","response":{"subtype":"success","request_id":"`+l.RequestID+`","response":{}}}`,
			`{"type":"result","subtype":"error_during_execution","is_error":true,"terminal_reason":"aborted_tools","session_id":"fake-session"}`)
		return false
	}
	input := l.Response.Response.UpdatedInput
	var form struct {
		Answers json.RawMessage `json:"answers"`
	}
	if json.Unmarshal(input, &form) == nil && form.Answers != nil {
		input = form.Answers // the questions hold all choices
	}
	content, failed := "I ran "+string(input), false
	if l.Response.Response.Behavior != "allow" {
		content, failed = "It was refused.", true
	}
	result, _ := json.Marshal(content)
	say(fmt.Sprintf(`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":%s,"is_error":%v}]}}`, result, failed),
		`{"type":"stream_event","event":{"type":"message_start","message":{"id":"m2"}}}`,
		`{"type":"stream_event","event":{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}}`)
	return true
}

// fakeHooked makes a call that the agent's settings allow. Where a hook is registered, it
// comes first, and its answer counts. The event is that of the hook, and what stands behind
// it is the tool and its input.
func fakeHooked(hooked bool, event, call string, say func(...string), in *bufio.Reader) {
	say(fakeInit, fakeStart)
	tool, input, _ := strings.Cut(call, " ")
	if event == "PreToolUse" {
		say(fmt.Sprintf(`{"type":"assistant","message":{"id":"m1","content":[{"type":"tool_use","id":"t1","name":%q,"input":%s}]}}`, tool, input))
	}
	decision, reason := "", ""
	if hooked {
		say(fmt.Sprintf(`{"type":"control_request","request_id":"h1","request":{"subtype":"hook_callback","callback_id":"gateway","input":{"hook_event_name":%q,"tool_name":%q,"tool_input":%s,"tool_use_id":"t1","command_name":"deploy"}}}`, event, tool, input))
		line, _ := in.ReadBytes('\n')
		var l struct {
			Response struct {
				Subtype  string `json:"subtype"`
				Response struct {
					Specific struct {
						Event    string          `json:"hookEventName"`
						Decision string          `json:"permissionDecision"`
						Reason   string          `json:"permissionDecisionReason"`
						Input    json.RawMessage `json:"updatedInput"`
					} `json:"hookSpecificOutput"`
				} `json:"response"`
			} `json:"response"`
		}
		if json.Unmarshal(line, &l) != nil || l.Response.Subtype != "success" {
			decision, reason = "deny", "The hook failed." // as registered
		}
		if o := l.Response.Response.Specific; o.Event == event {
			decision, reason = o.Decision, o.Reason
			if len(o.Input) > 0 {
				input = string(o.Input)
			}
		}
	}
	said, _ := json.Marshal("ran " + input)
	switch {
	case decision == "ask" && event == "PreToolUse", decision == "" && strings.Contains(input, "armed"): // it asks about such a skill by itself
		say(fmt.Sprintf(`{"type":"control_request","request_id":"p1","request":{"subtype":"can_use_tool","tool_name":%q,"tool_use_id":"t1","input":%s}}`, tool, input))
		if !fakeAnswered(say, in) {
			return
		}
	case decision == "deny" || decision == "ask":
		said, _ = json.Marshal("not run: " + reason)
		fallthrough
	case event != "PreToolUse":
		say(fmt.Sprintf(`{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":%s}}}`, said))
	default:
		say(fmt.Sprintf(`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":%s}]}}`, said))
	}
	say(fakeEnd)
}

// fakeTurn answers one prompt.
func fakeTurn(how string, say func(...string), in *bufio.Reader) (code int, over bool) {
	say(fakeInit, fakeStart)
	if heard, ok := strings.CutPrefix(how, "echo "); ok {
		say(`{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"` + heard + `"}}}`)
	}
	switch how {
	case "dies":
		fmt.Fprintln(os.Stderr, "Segmentation fault")
		return 139, true
	case "half a line":
		fmt.Print(`{"type":"result","subtype":"succ`)
		return 0, true
	case "deaf":
		signal.Ignore(syscall.SIGTERM)
		return 0, false
	case "garbage":
		say("", "Warning: something was printed", `{"type":"assistant","message":17}`, `[]`, `{"type":"from the future","x":{}}`, `null`, "\xff\xfe{")
	case "long line":
		say(`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"` + strings.Repeat("x", 600<<10) + `"}]}}`)
	case "huge":
		say(`{"type":"from the future","x":"` + strings.Repeat("x", 50<<20) + `"}`)
	case "rich":
		say(fakeRich...)
		_, _ = in.ReadBytes('\n') // the answer
		say(`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"a.txt"}]}}`,
			`{"type":"stream_event","event":{"type":"message_start","message":{"id":"m2"}}}`,
			`{"type":"stream_event","event":{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}}`)
	case "permission", "question":
		call := fakeRich[4:]
		if how == "question" {
			call = fakeQuestion
		}
		say(call...)
		if !fakeAnswered(say, in) {
			return 0, false
		}
	case "noisy":
		for range 20_000 {
			fmt.Fprintln(os.Stderr, "noise, noise, noise")
		}
	case "asks twice":
		say(`{"type":"control_request","request_id":"h1","request":{"subtype":"hook_callback"}}`,
			`{"type":"control_request","request_id":"p1","request":{"subtype":"can_use_tool","tool_name":"Bash","tool_use_id":"t1","input":{"command":"ls"}}}`,
			`{"type":"control_cancel_request","request_id":"p1"}`)
	}
	say(fakeEnd)
	return 0, how == "leaves"
}
