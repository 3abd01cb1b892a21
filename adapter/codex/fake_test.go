//go:build unix

package codex_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tributary-dev/tributary/adapter/codex"
	"github.com/tributary-dev/tributary/agent/agenttest"
)

// TestMain lets the test binary stand in for Codex: a fake that does what the real one
// rarely does.
func TestMain(m *testing.M) {
	agenttest.Fake("FAKE_CODEX", func(how string) int { return (&fake{how: how, in: bufio.NewReader(os.Stdin)}).run() })
	goleak.VerifyTestMain(m)
}

// fakeRuntime runs the fake.
func fakeRuntime(t testing.TB, how string, env ...string) codex.Runtime {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return codex.Runtime{
		Command: exe, Env: append([]string{"FAKE_CODEX=" + how, "GORACE=atexit_sleep_ms=0"}, env...),
		StopTime: time.Second, StartTime: 10 * time.Second,
	}
}

// fake is a fake Codex. It remembers the words of a conversation in a file of its home.
type fake struct {
	how   string
	in    *bufio.Reader
	turns int
	words []string // of the conversation, one for each turn
	stop  string   // the turn that was interrupted
}

type call struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		ThreadID string `json:"threadId"`
		Cursor   string `json:"cursor"`
		Before   string `json:"beforeTurnId"`
		TurnID   string `json:"turnId"`
		Sandbox  string `json:"sandbox"`
		Approval string `json:"approvalPolicy"`
		Reviewer string `json:"approvalsReviewer"`
		Model    string `json:"model"`
		Input    []input
	} `json:"params"`
	Result struct {
		Decision, Action string
		Answers          map[string]struct{ Answers []string }
	} `json:"result"`
}

type input struct {
	Type string `json:"type"`
	Text string `json:"text,omitempty"`
	URL  string `json:"url,omitempty"`
}

func say(format string, args ...any) { fmt.Printf(format+"\n", args...) }

// startsAlone fails the process if another one of its home starts. The function ends the start.
func (f *fake) startsAlone() (started func()) {
	if f.how != "starts alone" {
		return func() {}
	}
	mark := filepath.Join(os.Getenv("HOME"), "starting")
	if err := os.Mkdir(mark, 0o700); err != nil {
		fmt.Fprintln(os.Stderr, "another process starts:", err)
		os.Exit(3)
	}
	return func() { _ = os.Remove(mark) }
}

func (f *fake) run() int {
	started := f.startsAlone()
	defer started()
	switch {
	case len(os.Args) > 1 && os.Args[1] == "--version":
		say("codex-cli " + strings.TrimPrefix(f.how, "version "))
		return 0
	case f.how == "crash at start":
		fmt.Fprintln(os.Stderr, "Error: the config file is broken")
		return 7
	case f.how == "mute":
		signal.Ignore(syscall.SIGTERM)
		for {
			time.Sleep(time.Hour) // not select {}: without cgo that is a deadlock, which ends a program
		}
	}
	for {
		c, err := f.read()
		if err != nil {
			return 0
		}
		started()
		if code, over := f.answer(c); over {
			return code
		}
	}
}

func (f *fake) read() (c call, err error) {
	line, err := f.in.ReadBytes('\n')
	if err != nil {
		return c, err
	}
	return c, json.Unmarshal(line, &c)
}

func (f *fake) answer(c call) (code int, over bool) {
	result := `{}`
	switch c.Method {
	case "initialize":
		result = `{"userAgent":"tributary/0.169.0 (fake)"}`
		if f.how == "old" {
			result = `{"userAgent":"tributary/0.120.3 (fake)"}`
		}
		if f.how == "another protocol" {
			say(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}`, c.ID)
			return 0, false
		}
	case "account/read":
		result = `{"account":null,"requiresOpenaiAuth":` + fmt.Sprint(f.how == "not logged in") + `}`
	case "thread/list":
		here, err := os.Getwd()
		if err != nil {
			panic(err)
		}
		if f.how == "no list" {
			say(`{"id":%s,"error":{"code":-32600,"message":"the state cannot be read"}}`, c.ID)
			return 0, false
		}
		result = `{"nextCursor":"second","data":[{"id":"t1","cwd":"` + here + `","name":null,"preview":"hello","updatedAt":1772359200},{"id":"t2","cwd":"/","preview":"elsewhere","updatedAt":1}]}`
		if c.Params.Cursor == "second" {
			result = `{"nextCursor":null,"data":[{"id":"t3","cwd":"` + here + `","name":"A name","preview":"hello","updatedAt":1772359201}]}`
		}
	case "thread/start":
		result = `{"thread":{"id":"thread"},"model":"fake"}`
		f.words = nil
		f.save()
		if c.Params.Reviewer != "user" || c.Params.Sandbox+c.Params.Approval != "workspace-writeuntrusted" && c.Params.Sandbox+c.Params.Approval != "read-onlyon-request" {
			fmt.Fprintln(os.Stderr, "unsafe settings")
			return 3, true
		}
	case "thread/resume":
		switch f.how {
		case "busy thread":
			say(`{"id":%s,"error":{"code":-32600,"message":"thread x already has an active writer"}}`, c.ID)
			return 0, false
		case "forgetful":
			say(`{"id":%s,"error":{"code":-32600,"message":"no rollout found for thread id x"}}`, c.ID)
			return 0, false
		}
		f.load()
		result = `{"thread":{"id":"thread"}}`
	case "thread/turns/list":
		var all []string
		for i := range f.words {
			all = append(all, fmt.Sprintf(`{"id":"turn-%d","status":"completed"}`, i+1))
		}
		slices.Reverse(all)
		result = `{"data":[` + strings.Join(all, ",") + `],"nextCursor":null}`
	case "thread/revert":
		var before int
		_, _ = fmt.Sscanf(c.Params.Before, "turn-%d", &before)
		f.words = f.words[:before-1]
		f.save()
	case "model/list":
		result = `{"data":[{"id":"m1","displayName":"One","isDefault":true},{"id":"m2","displayName":"Two"}]}`
	case "turn/start":
		f.turns = len(f.words) + 1
		say(`{"id":%s,"result":{"turn":{"id":"turn-%d"}}}`, c.ID, f.turns)
		if c.Params.Input[0].Text == "model" {
			return f.turn(c.Params.Model)
		}
		if f.how == "echo" {
			data, _ := json.Marshal(c.Params.Input)
			return f.turn(string(data))
		}
		return f.turn(c.Params.Input[0].Text)
	case "thread/read":
		result = fmt.Sprintf(`{"thread":{"id":"thread","turns":[{"id":"turn-%d","items":[{"type":"agentMessage","id":"m-%d","text":"half a sentence. The end."}],"status":"completed"}]}}`, f.turns, f.turns)
	case "turn/interrupt":
		f.stop = c.Params.TurnID
	case "initialized", "":
		return 0, false
	}
	say(`{"id":%s,"result":%s}`, c.ID, result)
	return 0, false
}

// conversation is the file that keeps the words over restarts.
func conversation() string { return os.Getenv("HOME") + "/words" }

func (f *fake) load() {
	data, err := os.ReadFile(conversation())
	if err == nil {
		f.words = strings.Split(strings.TrimSpace(string(data)), "\n")
	}
}

func (f *fake) save() {
	if os.Getenv("HOME") != "" {
		_ = os.WriteFile(conversation(), []byte(strings.Join(f.words, "\n")), 0o600)
	}
}

func (f *fake) notify(method, format string, args ...any) {
	say(`{"method":%q,"params":{"threadId":"thread","turnId":"turn-%d",%s}}`, method, f.turns, fmt.Sprintf(format, args...))
}

func (f *fake) text(text string) {
	f.notify("item/agentMessage/delta", `"itemId":"m-%d","delta":%q`, f.turns, text)
}

// turn answers one prompt.
func (f *fake) turn(prompt string) (code int, over bool) {
	f.words = append(f.words, strings.ReplaceAll(prompt, "\n", " "))
	f.save()
	f.notify("turn/started", `"turn":{"id":"turn-%d"}`, f.turns)
	f.text("half a ")
	status := "completed"
	switch {
	case f.how == "dies", prompt == "dies":
		fmt.Fprintln(os.Stderr, "Segmentation fault")
		return 139, true
	case f.how == "half a line", prompt == "half a line":
		fmt.Print(`{"method":"turn/comp`)
		return 0, true
	case f.how == "deaf":
		signal.Ignore(syscall.SIGTERM)
		for {
			if _, err := f.read(); err != nil {
				for {
					time.Sleep(time.Hour)
				}
			}
		}
	case f.how == "garbage", prompt == "garbage":
		say("\nWarning: something was printed\n[]\n{\"method\":17}\n{\"method\":\"from/the/future\",\"params\":{}}\nnull\n\xff\xfe{")
		say(`{"id":99,"method":"attestation/generate","params":{}}`)
	case f.how == "long line":
		f.notify("item/completed", `"item":{"type":"commandExecution","id":"c","command":"cat","status":"completed","aggregatedOutput":"%s"}`, strings.Repeat("x", 5<<20))
	case prompt == "huge":
		say(`{"method":"from/the/future","params":{"x":"` + strings.Repeat("x", 50<<20) + `"}}`)
	case prompt == "rich":
		f.notify("item/completed", `"item":{"type":"agentMessage","id":"m-%d","text":"half a "}`, f.turns)
		f.notify("item/started", `"item":{"type":"reasoning","id":"r","summary":[]}`)
		f.notify("item/reasoning/summaryTextDelta", `"itemId":"r","delta":"I need a list.","summaryIndex":0`)
		f.notify("item/completed", `"item":{"type":"reasoning","id":"r","summary":["I need a list."]}`)
		status = f.ask("permission")
	case f.how == "noisy":
		for range 20_000 {
			fmt.Fprintln(os.Stderr, "noise, noise, noise")
		}
	case f.how == "echo", prompt == "m2":
		f.text(prompt)
	case prompt == "permission" || prompt == "question":
		status = f.ask(prompt)
	case prompt == "slow":
		status = f.slow()
	case prompt == "recall":
		f.text(strings.Join(f.words[:len(f.words)-1], " "))
	}
	f.text("sentence")
	f.notify("thread/status/changed", `"status":{"type":"idle"}`)
	if prompt == "no end" {
		return 0, false
	}
	f.notify("turn/completed", `"turn":{"id":"turn-%d","status":%q}`, f.turns, status)
	return 0, f.how == "leaves"
}

// ask asks for a permission, or a question, and waits for the answer.
func (f *fake) ask(what string) (status string) {
	id := 1000 + f.turns
	if what == "question" {
		say(`{"id":%d,"method":"item/tool/requestUserInput","params":{"threadId":"thread","turnId":"turn-%d","itemId":"q","questions":[{"id":"c","question":"Which colour?","options":[{"label":"Red"},{"label":"Blue"}]}]}}`, id, f.turns)
	} else {
		f.notify("item/started", `"item":{"type":"commandExecution","id":"c%d","command":"ls","cwd":"/","status":"inProgress"}`, f.turns)
		say(`{"id":%d,"method":"item/commandExecution/requestApproval","params":{"threadId":"thread","turnId":"turn-%d","itemId":"c%d","command":"ls","cwd":"/","availableDecisions":["accept","cancel"]}}`, id, f.turns, f.turns)
	}
	for {
		c, err := f.read()
		switch {
		case err != nil:
			os.Exit(0)
		case c.Method != "":
			if f.answer(c); c.Method == "turn/interrupt" {
				return "interrupted"
			}
			continue
		case what == "question":
			f.text(fmt.Sprint(c.Result.Answers))
			return "completed"
		}
		outcome := map[string]string{"accept": "completed"}[c.Result.Decision]
		output := "a b"
		if outcome == "" {
			outcome, output = "declined", ""
		}
		f.notify("item/completed", `"item":{"type":"commandExecution","id":"c%d","command":"ls","cwd":"/","status":%q,"aggregatedOutput":%q,"exitCode":0}`, f.turns, outcome, output)
		if c.Result.Decision == "cancel" {
			return "interrupted"
		}
		return "completed"
	}
}

// slow talks until it is interrupted, or for three seconds.
func (f *fake) slow() (status string) {
	stopped := make(chan struct{})
	go func() {
		for {
			c, err := f.read()
			if err != nil {
				os.Exit(0)
			}
			f.answer(c)
			if f.stop == fmt.Sprintf("turn-%d", f.turns) {
				close(stopped)
				return
			}
		}
	}()
	for range 2000 {
		select {
		case <-stopped:
			return "interrupted"
		case <-time.After(30 * time.Millisecond):
			f.text("and on ")
		}
	}
	os.Exit(4) // nobody has stopped it
	return ""
}
