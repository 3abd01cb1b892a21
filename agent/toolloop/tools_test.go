package toolloop_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/agent/toolloop"
	"github.com/tributary-dev/tributary/agent/toolloop/worktool"
	"github.com/tributary-dev/tributary/policy/workspace"
	"github.com/tributary-dev/tributary/trace"
)

func open(t *testing.T, files map[string]string) workspace.Dir {
	t.Helper()
	dir, err := workspace.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = dir.Close() })
	for name, content := range files {
		if err := dir.WriteFile(name, []byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// use runs one call of a tool through the loop and returns the answer that the model reads.
func use(t *testing.T, tools []toolloop.Tool, name, input string) (string, []trace.Event) {
	t.Helper()
	host := agenttest.NewHost()
	host.OnPermit = choose(trace.AllowOnce)
	m := &script{messages: []toolloop.Message{{Calls: []toolloop.Call{{ID: "c1", Name: name, Input: json.RawMessage(input)}}}}}
	events := play(t, host, m, tools, toolloop.Options{})
	return m.seen[1][1].Calls[0].Answer(), events
}

func TestFileTools(t *testing.T) {
	dir := open(t, map[string]string{"a.txt": "one\ntwo\nthree\n", "sub/b.go": "package b\nvar two = 2\n", "bin": "\x00\x01two", "empty": ""})
	for _, c := range []struct{ tool, input, want string }{
		{"read_file", `{"path":"a.txt"}`, "one\ntwo\nthree\n"},
		{"read_file", `{"path":"a.txt","offset":2,"limit":1}`, "two\n[the file goes on at line 3]"},
		{"read_file", `{"path":"a.txt","offset":9}`, "Error: a.txt has no line 9"},
		{"read_file", `{"path":"a.txt","offset":2,"limit":2}`, "two\nthree\n"},
		{"read_file", `{"path":"a.txt","Path":"../x"}`, `has "Path", which the tool does not know`},
		{"read_file", `{"path":"../x","path":"a.txt"}`, `has "path" twice`},
		{"read_file", `{"path":"empty"}`, "[the file is empty]"},
		{"read_file", `{"path":"bin"}`, "Error: bin is no text file"},
		{"read_file", `{"path":"none"}`, "no such file"},
		{"read_file", `{"path":"../x"}`, "outside the workspace"},
		{"list_dir", `{"path":"."}`, "a.txt\nbin\nempty\nsub/\n"},
		{"list_dir", `{}`, "a.txt\nbin\nempty\nsub/\n"},
		{"grep", `{"pattern":"two","path":"."}`, "a.txt:2: two\nsub/b.go:2: var two = 2"},
		{"grep", `{"pattern":"two","path":".","include":"*.go"}`, "sub/b.go:2: var two = 2"},
		{"grep", `{"pattern":"t.o","path":"a.txt"}`, "a.txt:2: two"},
		{"grep", `{"pattern":"(","path":"."}`, "no regular expression"},
		{"grep", `{"pattern":"four","path":"."}`, "[nothing matches]"},
		{"edit_file", `{"path":"a.txt","old_text":"e","new_text":"E"}`, "occurs 3 times"},
		{"edit_file", `{"path":"a.txt","old_text":"four","new_text":"E"}`, "does not occur"},
		{"edit_file", `{"path":"a.txt","old_text":"","new_text":"E"}`, "old_text is empty"},
	} {
		if got, _ := use(t, worktool.Files(dir), c.tool, c.input); !strings.Contains(got, c.want) {
			t.Errorf("%s %s: got %q, want %q", c.tool, c.input, got, c.want)
		}
	}
}

func TestChangesOfFilesAreOnRecordWithADiff(t *testing.T) {
	dir := open(t, map[string]string{"a.txt": "one\ntwo\n"})
	for _, c := range []struct {
		tool, input string
		change      trace.ChangeKind
		diff        string
	}{
		{"edit_file", `{"path":"a.txt","old_text":"two","new_text":"2"}`, trace.FileModified, "-two\n+2\n"},
		{"write_file", `{"path":"new/b.txt","content":"hello\n"}`, trace.FileCreated, "+hello\n"},
		{"write_file", `{"path":"a.txt","content":"all new\n"}`, trace.FileModified, "+all new\n"},
	} {
		said, events := use(t, worktool.Files(dir), c.tool, c.input)
		changes := agenttest.Each[trace.FileChange](events)
		if len(changes) != 1 || changes[0].Change != c.change || changes[0].ToolCallID != "c1" || !strings.Contains(changes[0].Diff, c.diff) {
			t.Errorf("%s %s: the record has %+v, and the model got %q", c.tool, c.input, changes, said)
		}
	}
}

func TestTwoEditsOfOneStepBothSurvive(t *testing.T) {
	dir := open(t, map[string]string{"a.txt": strings.Repeat("x\n", 20)})
	var said toolloop.Message
	for i := range 20 {
		name := fmt.Sprintf("f%d", i)
		said.Calls = append(said.Calls, toolloop.Call{ID: name, Name: "edit_file", Input: json.RawMessage(fmt.Sprintf(`{"path":"b.txt","old_text":"<%d>","new_text":"done"}`, i))})
	}
	var content strings.Builder
	for i := range 20 {
		fmt.Fprintf(&content, "<%d>\n", i)
	}
	if err := dir.WriteFile("b.txt", []byte(content.String())); err != nil {
		t.Fatal(err)
	}
	host := agenttest.NewHost()
	host.OnPermit = choose(trace.AllowOnce)
	play(t, host, &script{messages: []toolloop.Message{said}}, worktool.Files(dir), toolloop.Options{})
	data, _, err := dir.ReadFile("b.txt")
	if err != nil || string(data) != strings.Repeat("done\n", 20) {
		t.Errorf("the file is %q, %v", data, err)
	}
}

func shell(t *testing.T, s worktool.Shell) []toolloop.Tool {
	t.Helper()
	if s.Dir == "" {
		s.Dir = t.TempDir()
	}
	if s.Env == nil {
		s.Env = []string{"PATH=" + os.Getenv("PATH"), "ONLY=this"}
	}
	return []toolloop.Tool{s.Tool()}
}

func TestBash(t *testing.T) {
	t.Setenv("TRIBUTARY_SECRET", "hidden")
	for _, c := range []struct{ command, want string }{
		{"echo out; echo err >&2; echo end", "out\nerr\nend\n"},
		{"exit 3", "Error: exit status 3"},
		{"echo before; exit 4", "before\n\nError: exit status 4"},
		{"cat", "The call succeeded and printed nothing."},
		{"env | grep -c -e TRIBUTARY -e hidden; echo $ONLY", "0\nthis\n"},
		{"kill -9 $$", "killed by a signal"},
		{"printf 'no end'", "no end"},
		{"sleep 60 & echo started", "started\n"},
	} {
		in, err := json.Marshal(map[string]string{"command": c.command})
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := use(t, shell(t, worktool.Shell{}), "bash", string(in)); !strings.Contains(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.command, got, c.want)
		}
	}
}

func TestBashKeepsTheBeginningAndTheEndOfMuchOutput(t *testing.T) {
	got, _ := use(t, shell(t, worktool.Shell{MaxOutput: 1000}), "bash", `{"command":"echo first; seq 100000; echo last"}`)
	if len(got) > 1200 || !strings.HasPrefix(got, "first\n") || !strings.HasSuffix(got, "last\n") || !strings.Contains(got, "bytes are left out") {
		t.Errorf("%d bytes are kept: %.100q … %q", len(got), got, got[max(0, len(got)-100):])
	}
}

func TestCommandThatTakesTooLongIsEndedWithItsGroup(t *testing.T) {
	dir := t.TempDir()
	began := time.Now()
	got, _ := use(t, shell(t, worktool.Shell{Dir: dir, Time: 3 * time.Second}), "bash", `{"command":"sleep 61 & echo $! >pid; echo begun; wait"}`)
	if !strings.Contains(got, "begun") || !strings.Contains(got, "ended after 3s") || time.Since(began) > time.Minute {
		t.Errorf("after %s the model got %q", time.Since(began), got)
	}
	gone(t, filepath.Join(dir, "pid"))
}

func TestStopEndsTheCommandWithItsGroup(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	host := agenttest.NewHost()
	host.OnPermit = choose(trace.AllowOnce)
	go func() {
		for ctx.Err() == nil {
			if _, err := os.Stat(filepath.Join(dir, "ready")); err == nil {
				cancel()
			}
			time.Sleep(5 * time.Millisecond)
		}
	}()
	said := toolloop.Message{Calls: []toolloop.Call{{ID: "c1", Name: "bash", Input: json.RawMessage(`{"command":"sleep 62 & echo $! >pid; touch ready; wait"}`)}}}
	events := playUntil(ctx, t, host, &script{messages: []toolloop.Message{said}}, shell(t, worktool.Shell{Dir: dir}), toolloop.Options{})
	if got := statuses(events); len(got) != 1 || got[0] != "c1 canceled" {
		t.Errorf("the call ended as %v", got)
	}
	gone(t, filepath.Join(dir, "pid"))
}

// gone checks that the process whose id is in a file has ended.
func gone(t *testing.T, file string) {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var pid int
	if _, err := fmt.Sscan(string(raw), &pid); err != nil {
		t.Fatal(err)
	}
	for range 200 {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if syscall.Kill(pid, 0) != nil || err == nil && strings.Contains(string(stat), ") Z ") {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("the process %d still runs", pid)
}

func TestOutputIsShownWhileACommandRuns(t *testing.T) {
	var ran atomic.Int32
	host := agenttest.NewHost()
	host.OnPermit = choose(trace.AllowOnce)
	said := toolloop.Message{Calls: []toolloop.Call{{ID: "c1", Name: "bash", Input: json.RawMessage(`{"command":"for i in 1 2 3; do echo line $i; sleep 0.3; done"}`)}}}
	events := play(t, host, &script{messages: []toolloop.Message{said}}, append(shell(t, worktool.Shell{}), echo("one", &ran)), toolloop.Options{})
	if n := len(agenttest.Each[trace.ToolResultProgress](events)); n < 2 {
		t.Errorf("the output was shown %d times", n)
	}
}
