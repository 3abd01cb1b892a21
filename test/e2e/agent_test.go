//go:build linux

package e2e

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// fakeAgent, in the environment, makes the test binary an agent that talks like
// Claude Code and does what the real one rarely does. Its value is what it does
// at its start; what it does in a turn, the prompt says.
const fakeAgent = "TRIBUTARY_FAKE_AGENT"

// fakePids names the directory where each fake notes its process id.
const fakePids = "TRIBUTARY_FAKE_PIDS"

func TestMain(m *testing.M) {
	if how := os.Getenv(fakeAgent); how != "" {
		notePid()
		os.Exit(liveAs(how))
	}
	waitTogether()
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		http.DefaultClient.CloseIdleConnections()
		postgres.Stop()
		if err := os.RemoveAll(binaryDir()); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(code)
	}))
}

// waitTogether lets more tests run at a time than there are processors: they wait for
// processes that stop late, or not at all.
func waitTogether() {
	flag.Parse()
	const atOnce = "8"
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		if err := flag.Set("test.parallel", atOnce); err != nil {
			panic(err)
		}
	}
}

func notePid() {
	name := filepath.Join(os.Getenv(fakePids), strconv.Itoa(os.Getpid()))
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

const (
	fakeInit  = `{"type":"system","subtype":"init","session_id":"fake-session","model":"fake"}`
	fakeBegin = `{"type":"stream_event","event":{"type":"message_start","message":{"id":"m1"}}}` + "\n" +
		`{"type":"stream_event","event":{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}}` + "\n" +
		`{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"half a "}}}`
	fakeEnd = `{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"sentence"}}}` + "\n" +
		`{"type":"result","subtype":"success","is_error":false,"terminal_reason":"completed","stop_reason":"end_turn","result":"half a sentence","session_id":"fake-session"}`
)

// liveAs is the life of a fake agent.
func liveAs(how string) int {
	switch how {
	case "crashes at start":
		fmt.Fprintln(os.Stderr, "Error: the config file is broken")
		return 7
	case "leaves at start":
		return 0
	case "speaks ACP":
		return liveAsACP()
	case "mute":
		signal.Ignore(syscall.SIGTERM, os.Interrupt)
		for {
			time.Sleep(time.Hour) // not select {}: without cgo that is a deadlock, which ends a program
		}
	case "child": // of one that is stubborn
		signal.Ignore(syscall.SIGTERM, os.Interrupt)
		fmt.Println("ready")
		for {
			time.Sleep(time.Hour)
		}
	}
	in := bufio.NewReader(os.Stdin)
	stubborn := false
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			if stubborn {
				for {
					time.Sleep(time.Hour)
				}
			}
			return 0
		}
		var l struct {
			Type      string `json:"type"`
			RequestID string `json:"request_id"`
			Message   json.RawMessage
		}
		if err := json.Unmarshal(line, &l); err != nil {
			fmt.Fprintln(os.Stderr, "bad line:", err)
			return 9
		}
		switch l.Type {
		case "control_request":
			if !stubborn {
				fmt.Println(`{"type":"control_response","response":{"subtype":"success","request_id":"` + l.RequestID + `","response":{}}}`)
			}
		case "user":
			var code int
			var over bool
			if code, over, stubborn = turn(string(l.Message)); over {
				return code
			}
		}
	}
}

// turn answers a prompt in the way that its words say.
func turn(prompt string) (code int, over, stubborn bool) {
	does := func(words string) bool { return strings.Contains(prompt, words) }
	if does("says nothing") {
		return 0, true, false
	}
	fmt.Println(fakeInit)
	fmt.Println(fakeBegin)
	switch {
	case does("flood: "):
		floods("claude", prompt, func() { fmt.Println(fakeEnd) })
		return 0, false, false
	case does("dies"):
		fmt.Fprintln(os.Stderr, "Segmentation fault")
		return 139, true, false
	case does("half a line"):
		fmt.Print(`{"type":"result","subtype":"succ`)
		return 0, true, false
	case does("garbage"):
		for _, l := range []string{"", "Warning: something was printed", `{"type":"assistant","message":17}`, `[]`, `{"type":"from the future","x":{}}`, `null`, "\xff\xfe{"} {
			fmt.Println(l)
		}
	case does("hangs"):
		return 0, false, false
	case does("is stubborn"):
		signal.Ignore(syscall.SIGTERM, os.Interrupt)
		bear()
		return 0, false, true
	case does("spams words"):
		spam(`{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"`, `"}}}`, 64<<10)
	case does("spams input"):
		fmt.Println(`{"type":"stream_event","event":{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"toolu_1","name":"Write","input":{}}}}`)
		spam(`{"type":"stream_event","event":{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"`, `"}}}`, 10_000)
	case does("spams items"):
		fmt.Println(`{"type":"assistant","message":{"id":"m2","content":[` + strings.Repeat("{},", 20<<20) + `{}]}}`)
	case does("spams noise"):
		spam("not JSON at all ", "", 1<<10)
	case does("spams a line"):
		spam(`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"`, `"}]}}`, spamBytes)
	case does("spams output"):
		fmt.Println(`{"type":"assistant","message":{"id":"m2","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"yes"}}]}}`)
		fmt.Println(`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"` + strings.Repeat("x", spamBytes/2) + `"}]}}`)
	}
	fmt.Println(fakeEnd)
	return 0, false, false
}

// bear starts a child that is as stubborn.
func bear() {
	child := exec.Command(os.Args[0]) //nolint:noctx // it is to be left behind
	child.Env = append(os.Environ(), fakeAgent+"=child")
	out, err := child.StdoutPipe()
	if err == nil {
		err = child.Start()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	_, _ = bufio.NewReader(out).ReadString('\n')
}

// spamBytes is how much an agent says that does not know when to stop.
const spamBytes = 100 << 20

// spam says so much in lines.
func spam(before, after string, each int) {
	out := bufio.NewWriterSize(os.Stdout, 1<<20)
	defer out.Flush()
	line := before + strings.Repeat("x", each) + after + "\n"
	for n := 0; n < spamBytes; n += each {
		_, _ = out.WriteString(line)
	}
}

// fakes is a gateway's configuration with fake agents, and where they note
// themselves.
type fakes struct{ config, pids string }

func newFakes(t *testing.T, sessions string) fakes {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	f := fakes{config: filepath.Join(t.TempDir(), "tributary.yaml"), pids: t.TempDir()}
	text := "log_level: warn\ndefault_agent: fake\nsessions: {" + sessions + "}\nagents:\n  missing: {adapter: claude, command: /no/such/agent}\n  demo: {options: {pace: 0s}}\n"
	for name, how := range map[string]string{"fake": "lives", "crashing": "crashes at start", "leaving": "leaves at start", "mute": "mute"} {
		text += fmt.Sprintf("  %s: {adapter: claude, command: %q, env: {%s: %q, %s: %q}}\n", name, exe, fakeAgent, how, fakePids, f.pids)
	}
	if err := os.WriteFile(f.config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return f
}

// gone checks that no fake is left, and returns how many there were.
func (f fakes) gone(t *testing.T) int {
	t.Helper()
	notes, err := os.ReadDir(f.pids)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range notes {
		pid, err := strconv.Atoi(n.Name())
		if err != nil {
			t.Fatal(err)
		}
		for range 200 { // whoever is killed takes a moment to be no more
			if !isAlive(pid) {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		if isAlive(pid) {
			t.Errorf("process %d is left", pid)
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	return len(notes)
}

// isAlive reports whether a process runs; one that is dead and not reaped does not.
func isAlive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, state, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(state, "Z") && !strings.HasPrefix(state, "X")
}
