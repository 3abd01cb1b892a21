package acp_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tributary-dev/tributary/adapter/acp"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
)

// TestMain lets the test binary stand in for an agent.
func TestMain(m *testing.M) {
	agenttest.Fake("FAKE_ACP", func(how string) int { return (&fake{how: how, waiting: map[string]chan json.RawMessage{}}).run() })
	goleak.VerifyTestMain(m)
}

// fakeRuntime runs the fake, which behaves as the word says.
func fakeRuntime(t testing.TB, how string, env ...string) acp.Runtime {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	preset := acp.Preset{Preset: agent.Preset{Name: "fake", Install: "npm install -g fake"}, Title: "Fake", Login: "run `fake login` in a terminal", Keys: map[string]string{"FAKE_KEY": "key"}, LooseModes: []string{"yolo"}, LooseCommands: []string{"allow-all"}}
	return acp.Runtime{
		Preset: preset, Command: exe, Env: append([]string{"FAKE_ACP=" + how, "GORACE=atexit_sleep_ms=0", "PATH=" + os.Getenv("PATH"), "FAKE_MEMORY=" + os.Getenv("FAKE_MEMORY")}, env...),
		StopTime: 2 * time.Second, StartTime: 10 * time.Second,
	}
}

// fake is an agent that does what its prompt says.
type fake struct {
	how string

	mu      sync.Mutex
	last    int
	waiting map[string]chan json.RawMessage // requests of the fake's, by id
	stop    chan struct{}
	word    string
	authed  bool

	gathers  bool
	gathered []byte
}

// twiceID is the id of two requests of the fake's.
const twiceID = `"same"`

type wireMessage struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

func (f *fake) say(v any) {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.gathers {
		f.gathered = append(append(f.gathered, data...), '\n')
		return
	}
	fmt.Printf("%s\n", data)
}

// gather keeps what is said, or writes all that was kept at once.
func (f *fake) gather(on bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, _ = os.Stdout.Write(f.gathered) // the test fails without it
	f.gathers, f.gathered = on, nil
}

func (f *fake) update(fields object) {
	f.say(object{"jsonrpc": "2.0", "method": "session/update", "params": object{"sessionId": "fake-session", "update": fields}})
}

func (f *fake) text(text string) {
	f.update(object{"sessionUpdate": "agent_message_chunk", "content": object{"type": "text", "text": text}})
}

// call asks the client and waits for the reply: its result, or its error.
func (f *fake) call(method string, params object) json.RawMessage {
	params["sessionId"] = "fake-session"
	reply := make(chan json.RawMessage, 1)
	f.mu.Lock()
	f.last++
	id := fmt.Sprintf("f%d", f.last)
	f.waiting[`"`+id+`"`] = reply
	f.mu.Unlock()
	f.say(object{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	return <-reply
}

func (f *fake) run() int {
	switch f.how {
	case "crash at start":
		fmt.Fprintln(os.Stderr, "Error: the config file is broken")
		return 7
	case "wrong arguments":
		fmt.Fprintln(os.Stderr, "error: unknown option '--acp'")
		return 1
	case "mute":
		signal.Ignore(syscall.SIGTERM)
		time.Sleep(time.Minute)
	}
	f.word = os.Getenv("FAKE_MEMORY")
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return 0
		}
		var m wireMessage
		if err := json.Unmarshal(line, &m); err != nil {
			fmt.Fprintln(os.Stderr, "bad line:", err)
			return 9
		}
		if code, over := f.take(m); over {
			return code
		}
	}
}

// page is a page of the fake's sessions. The fake ignores the directory that is asked for.
func (f *fake) page(params json.RawMessage) object {
	here, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	session := func(id, cwd, title, updated string) object {
		return object{"sessionId": id, "cwd": cwd, "title": title, "updatedAt": updated}
	}
	switch {
	case f.how == "lists for ever":
		return object{"sessions": []object{session("elsewhere", "/", "", "")}, "nextCursor": "more"}
	case strings.Contains(string(params), `"cursor":"second"`):
		return object{"sessions": []any{"no session", session("newest", here, "The newest", "2026-03-02T10:00:00.5+02:00"), session("untitled", here, "", "")}}
	}
	return object{"nextCursor": "second", "sessions": []object{
		session("oldest", here, "The oldest", "2026-03-01T10:00:00Z"),
		session("elsewhere", "/", "Of another workspace", "2026-03-01T10:00:00Z"),
		session("below", here+"/below", "Of a folder below", "2026-03-01T10:00:00Z"),
		session("nowhere", "", "Of no place", "2026-03-01T10:00:00Z"),
	}}
}

func (f *fake) take(m wireMessage) (code int, over bool) {
	reply := func(result any) { f.say(object{"jsonrpc": "2.0", "id": m.ID, "result": result}) }
	fail := func(code int, message string) {
		f.say(object{"jsonrpc": "2.0", "id": m.ID, "error": object{"code": code, "message": message}})
	}
	switch m.Method {
	case "":
		f.mu.Lock()
		waiting := f.waiting[string(m.ID)]
		if string(m.ID) != twiceID {
			delete(f.waiting, string(m.ID))
		}
		f.mu.Unlock()
		if waiting == nil {
			return 0, false
		}
		if m.Error != nil {
			m.Result = m.Error
		}
		waiting <- m.Result
	case "initialize":
		version := 1
		switch f.how {
		case "another protocol":
			fail(-32601, "Method not found")
			return 0, false
		case "version 2":
			version = 2
		}
		sessions := object{"close": object{}}
		if strings.HasPrefix(f.how, "lists") {
			sessions["list"] = object{}
		}
		reply(object{
			"protocolVersion": version, "authMethods": []object{{"id": "key", "name": "API key"}, {"id": "browser", "name": "Log in", "type": "terminal", "args": []string{"login"}}},
			"agentCapabilities": object{"loadSession": true, "sessionCapabilities": sessions, "promptCapabilities": object{"image": true, "embeddedContext": true}},
		})
	case "authenticate":
		f.authed = true
		reply(object{})
	case "session/new", "session/load":
		switch {
		case f.how == "tells how it is opened":
			fail(-32602, string(m.Params))
		case f.how == "login" && !f.authed:
			fail(-32000, "Authentication required")
		case f.how == "forgetful" && m.Method == "session/load":
			fail(-32603, "Internal error")
		case f.how == "tells late" && m.Method == "session/load":
			reply(object{})
			go func() {
				for range 3 {
					time.Sleep(50 * time.Millisecond)
					f.text("the past")
				}
			}()
		case m.Method == "session/load":
			f.update(object{"sessionUpdate": "user_message_chunk", "content": object{"type": "text", "text": "what was said before"}})
			f.text("the past")
			f.update(object{"sessionUpdate": "tool_call", "toolCallId": "old", "title": "old", "status": "completed"})
			reply(object{})
		default:
			reply(object{
				"sessionId": "fake-session", "modes": object{"currentModeId": "ask", "availableModes": []object{{"id": "ask", "name": "Ask"}, {"id": "plan", "name": "Plan"}}},
				"configOptions": []object{{"id": "m", "category": "model", "type": "select", "currentValue": "small", "options": []object{{"value": "small", "name": "Small"}, {"value": "large", "name": "Large"}}}},
			})
		}
	case "session/list":
		if f.how == "lists after a login" && !f.authed {
			fail(-32000, "Authentication required")
			return 0, false
		}
		reply(f.page(m.Params))
	case "session/close":
		if err := os.WriteFile("closed-fake-session", nil, 0o600); err != nil {
			panic(err)
		}
		reply(object{})
	case "session/set_mode", "session/set_config_option":
		if strings.Contains(string(m.Params), "no-such") {
			fail(-32602, "there is no such value")
			return 0, false
		}
		f.text("set: " + string(m.Params))
		reply(object{})
	case "session/prompt":
		var p struct {
			Prompt []struct {
				Text string `json:"text"`
			} `json:"prompt"`
		}
		if err := json.Unmarshal(m.Params, &p); err != nil {
			fail(-32602, err.Error())
			return 0, false
		}
		f.stop = make(chan struct{})
		text := ""
		for _, b := range p.Prompt {
			text += b.Text
		}
		if code, over := f.ugly(text); over {
			return code, over
		}
		go f.prompt(text, m.Params, reply, f.stop)
	case "session/cancel":
		if f.how != "deaf" && f.stop != nil {
			close(f.stop)
			f.stop = nil
		}
	default:
		fail(-32601, "Method not found")
	}
	return 0, false
}

// ugly does what an agent should not.
func (f *fake) ugly(text string) (code int, over bool) {
	switch text {
	case "die":
		f.text("half a ")
		fmt.Fprintln(os.Stderr, "Segmentation fault")
		return 139, true
	case "half a line":
		f.text("half a ")
		fmt.Print(`{"jsonrpc":"2.0","id":`)
		return 0, true
	case "garbage":
		fmt.Println("Loading models…\n[]\nnull\n{\"method\":\"session/update\",\"params\":7}\n{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"craft/drainMidTurnQueue\"}")
	}
	return 0, false
}

// prompt plays one turn.
func (f *fake) prompt(text string, params json.RawMessage, reply func(any), stop chan struct{}) {
	reason := "end_turn"
	word, rest, _ := strings.Cut(text, " ")
	switch word {
	case "slow":
		for i := range 2000 {
			f.text(fmt.Sprintf("word%d ", i))
			select {
			case <-stop:
				reply(object{"stopReason": "cancelled"})
				return
			case <-time.After(30 * time.Millisecond):
			}
		}
	case "deaf":
		f.text("I do not listen.")
		signal.Ignore(syscall.SIGTERM)
		return
	case "rich":
		f.update(object{"sessionUpdate": "agent_thought_chunk", "content": object{"type": "text", "text": "I need a file."}})
		reason = f.tool(stop)
	case "behind":
		f.behind(strings.Fields(rest), reply, stop)
		return
	case "tool":
		reason = f.tool(stop)
	case "ask":
		f.text(string(f.call("elicitation/create", object{"message": "Which color?", "mode": "form", "requestedSchema": object{
			"type": "object", "required": []string{"color"}, "properties": object{"color": object{"type": "string", "enum": []string{"red", "blue"}}},
		}})))
		select {
		case <-stop:
			reason = "cancelled"
		default:
		}
	case "form":
		f.text(string(f.call("elicitation/create", object{"message": "Please fill in.", "mode": "form", "requestedSchema": object{
			"type": "object", "required": []string{"count", "sure"}, "properties": object{
				"count": object{"type": "integer", "title": "How many"}, "sure": object{"type": "boolean"}, "tags": object{"type": "array", "items": object{"anyOf": []object{{"const": "a", "title": "The A"}, {"const": "b", "title": "The B"}}}},
			},
		}})))
	case "open":
		f.text(string(f.call("elicitation/create", object{"message": "Log in here.", "mode": "url", "elicitationId": "e", "url": "https://example.com/login"})))
	case "tell":
		f.word = rest
		f.text("I will remember.")
	case "recall":
		f.text("The word is tulip.")
	case "params":
		f.text(string(params))
	case "client": // client METHOD {params}
		method, params, _ := strings.Cut(rest, " ")
		var p object
		if err := json.Unmarshal([]byte(params), &p); err != nil {
			f.text(err.Error())
			break
		}
		f.text(string(f.call(method, p)))
	case "twice": // twice PATH: writes, and uses a terminal under the same id
		replies := make(chan json.RawMessage, 2)
		f.mu.Lock()
		f.waiting[twiceID] = replies
		f.mu.Unlock()
		for _, m := range []object{
			{"method": "fs/write_text_file", "params": object{"sessionId": "fake-session", "path": rest, "content": "x"}},
			{"method": "terminal/kill", "params": object{"sessionId": "fake-session", "terminalId": "none"}},
		} {
			m["jsonrpc"], m["id"] = "2.0", json.RawMessage(twiceID)
			f.say(m)
		}
		f.text(string(<-replies) + "\n" + string(<-replies))
	case "run": // a command from the beginning to the end
		f.text(f.terminal(rest))
	case "big":
		f.update(object{"sessionUpdate": "available_commands_update", "availableCommands": []object{{"name": "x", "description": strings.Repeat("y", 50<<20)}}})
		f.text("done")
	default:
		f.update(object{"sessionUpdate": "agent_thought_chunk", "content": object{"type": "text", "text": "hm"}})
		f.text("you said: " + text)
	}
	reply(object{"stopReason": reason, "usage": object{"inputTokens": 10, "outputTokens": 2, "totalTokens": 12}})
}

// tool asks for a call and runs it if it may.
func (f *fake) tool(stop chan struct{}) string {
	f.text("I will touch a file.")
	f.update(object{"sessionUpdate": "tool_call", "toolCallId": "t1", "name": "touch", "title": "touch x", "kind": "execute", "status": "pending", "rawInput": object{"command": "touch x"}})
	var answer struct {
		Outcome struct {
			Outcome string `json:"outcome"`
			Option  string `json:"optionId"`
		} `json:"outcome"`
	}
	_ = json.Unmarshal(f.call("session/request_permission", object{
		"toolCall": object{"toolCallId": "t1", "rawInput": object{"command": "touch x"}},
		"options":  []object{{"optionId": "o1", "name": "Yes", "kind": "allow_once"}, {"optionId": "o2", "name": "Always", "kind": "allow_always"}, {"optionId": "o3", "name": "No", "kind": "reject_once"}},
	}), &answer)
	select {
	case <-stop:
		return "cancelled"
	default:
	}
	switch {
	case answer.Outcome.Outcome == "cancelled":
		<-stop
		return "cancelled"
	case answer.Outcome.Option == "o3": // like Gemini, it says no more of the call
		f.text("Then not.")
	default:
		if err := os.WriteFile("touched", nil, 0o600); err != nil {
			return "refusal"
		}
		f.update(object{"sessionUpdate": "tool_call_update", "toolCallId": "t1", "status": "completed", "rawOutput": "touched"})
		f.text("Done.")
	}
	return "end_turn"
}

// terminal runs a command in a terminal of the client's.
func (f *fake) terminal(command string) string {
	var made struct {
		ID string `json:"terminalId"`
	}
	created := f.call("terminal/create", object{"command": command, "outputByteLimit": 1000})
	if _ = json.Unmarshal(created, &made); made.ID == "" {
		return string(created)
	}
	id := object{"terminalId": made.ID}
	exit := string(f.call("terminal/wait_for_exit", id))
	output := string(f.call("terminal/output", id))
	f.call("terminal/release", id)
	return exit + " " + output + " " + string(f.call("terminal/output", id))
}
