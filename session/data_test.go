package session_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/policy/permission"
	"github.com/tributary-dev/tributary/policy/toolkind"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
)

// The gateway's data directory is closed to agents, wherever a symbolic link lies and
// whatever the policy allows.
func TestNoAgentReadsTheDataDirectory(t *testing.T) {
	t.Parallel()
	data, cwd := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(data, "token"), []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(data, "nats"), 0o700); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{"link": data, "deep": filepath.Join(data, "nats"), "file": filepath.Join(data, "token")} {
		if err := os.Symlink(to, filepath.Join(cwd, link)); err != nil {
			t.Fatal(err)
		}
	}
	outcome := map[string]trace.PermissionOutcome{}
	paths := []string{
		filepath.Join(data, "token"), filepath.Join(data, "none"), "link/token", "link/new/file", "deep/../token", "./link", "file",
		filepath.Join(cwd, "link", "token"), "../" + filepath.Base(data) + "/token", "fine.txt", "/etc/hosts",
	}
	b := newBench(t, func(o *session.Options) {
		o.StateDir = data
		o.Agents = map[string]session.Agent{"demo": {Cwd: cwd, Policy: permission.Policy{Rules: []permission.Rule{{Then: permission.Allow}}}, Runtime: scripted{
			prompt: func(_ context.Context, host agent.Host, _ agent.Prompt, tb *trace.Builder) error {
				for _, path := range paths {
					call := trace.ToolCall{ToolCallID: "t" + path, RawName: "Read", Name: "read", ToolKind: trace.ToolRead, Locations: []trace.Location{{Path: path}}}
					tb.ToolCall(call)
					_, answer, _ := tb.PermissionRequest(trace.PermissionRequest{RequestID: "r" + path, ToolCallID: call.ToolCallID, Title: "Read", Options: []trace.PermissionOption{
						{ID: "yes", Name: "Allow", OptionKind: trace.AllowOnce}, {ID: "no", Name: "Deny", OptionKind: trace.RejectOnce},
					}}, call)
					outcome[path] = trace.Selected
					if !answer.Allowed() {
						outcome[path] = trace.Canceled
					}
					tb.ToolResult(trace.ToolResult{ToolCallID: call.ToolCallID, Status: trace.ToolCompleted})
				}
				if _, _, err := host.Files().ReadFile("link/token"); err == nil {
					t.Error("the workspace reads the token")
				}
				tb.Message("", "done")
				return nil
			},
		}}}
	})
	defer b.close()
	b.wait(b.say("u1", "x"))
	for i, path := range paths {
		if denied := outcome[path] == trace.Canceled; denied != (i < len(paths)-2) {
			t.Errorf("%s: denied %v", path, denied)
		}
	}
}

// Files that the program closes are denied by every name that they have, also when they come
// or change while an agent works, and a search that may come across one is asked.
func TestNoAgentReadsAClosedFile(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	cwd, key := filepath.Join(top, "ws"), filepath.Join(top, "key.pem")
	for _, dir := range []string{"sub", "mount/..one", "other"} {
		if err := os.MkdirAll(filepath.Join(cwd, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	put := func(path string) {
		t.Helper()
		if err := os.WriteFile(path, []byte("secret"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"sub/token", "mount/..one/key", "other/fine.txt", "a.txt", "../key.pem"} {
		put(filepath.Join(cwd, name))
	}
	for link, to := range map[string]string{"mount/..data": "..one", "mount/key": "..data/key", "link": "sub/token", "far": "../key.pem"} {
		if err := os.Symlink(to, filepath.Join(cwd, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(filepath.Join(cwd, "sub", "token"), filepath.Join(cwd, "hard")); err != nil {
		t.Skipf("the file system has no hard links: %v", err)
	}
	denied := []string{
		"sub/token", "./sub/../sub/token", filepath.Join(cwd, "sub", "token"), "link", "hard", "mount/key", "mount/..data/key", "mount/..one/key",
		"far", key, "../key.pem", "file://" + key, "tributary.yaml", "Tributary.yaml",
	}
	verdict := func(host agent.Host, tb *trace.Builder, id string, call trace.ToolCall) string {
		call.ToolCallID, call.Name = "t"+id, call.RawName
		tb.ToolCall(call)
		defer func() { tb.ToolResult(trace.ToolResult{ToolCallID: call.ToolCallID, Status: trace.ToolCompleted}) }()
		_, answer, decided := tb.PermissionRequest(trace.PermissionRequest{RequestID: "r" + id, ToolCallID: call.ToolCallID, Title: "x", Options: []trace.PermissionOption{
			{ID: "yes", Name: "Allow", OptionKind: trace.AllowOnce}, {ID: "no", Name: "Deny", OptionKind: trace.RejectOnce},
		}}, call)
		switch {
		case !decided:
			return "asked"
		case answer.Allowed():
			return "allowed"
		}
		return "denied"
	}
	read := func(path string) trace.ToolCall {
		input, _ := json.Marshal(map[string]string{"path": path})
		return trace.ToolCall{RawName: "read_file", ToolKind: trace.ToolRead, Input: input}
	}
	search := func(path string) trace.ToolCall {
		input, _ := json.Marshal(map[string]string{"path": path, "pattern": "x"})
		return trace.ToolCall{RawName: "grep", ToolKind: trace.ToolSearch, Input: input}
	}
	b := newBench(t, func(o *session.Options) {
		o.Closed = []string{filepath.Join(cwd, "sub", "token"), filepath.Join(cwd, "mount", "key"), key, filepath.Join(cwd, "tributary.yaml")}
		o.Agents = map[string]session.Agent{"demo": {Cwd: cwd, Files: true, Tools: toolkind.OpenAI(), Policy: permission.Policy{Rules: []permission.Rule{{Then: permission.Allow}}}, Runtime: scripted{
			prompt: func(_ context.Context, host agent.Host, _ agent.Prompt, tb *trace.Builder) error {
				for i, path := range denied {
					if got := verdict(host, tb, fmt.Sprint("d", i), read(path)); got != "denied" {
						t.Errorf("%s is %s", path, got)
					}
					if _, _, err := host.Files().ReadFile(path); err == nil {
						t.Errorf("the workspace reads %s", path)
					}
				}
				for i, c := range []struct{ path, want string }{{"other", "allowed"}, {cwd + "/other", "allowed"}, {"sub", "asked"}, {".", "asked"}, {"..", "asked"}, {"mount", "asked"}, {"mount/..one", "asked"}} {
					if got := verdict(host, tb, fmt.Sprint("s", i), search(c.path)); got != c.want {
						t.Errorf("a search of %s is %s, want %s", c.path, got, c.want)
					}
				}
				for i, path := range []string{"a.txt", "other/fine.txt", "new.txt", "sub/token2"} {
					if got := verdict(host, tb, fmt.Sprint("a", i), read(path)); got != "allowed" {
						t.Errorf("%s is %s", path, got)
					}
				}
				put(filepath.Join(cwd, "tributary.yaml"))
				put(filepath.Join(cwd, "sub", "next"))
				if err := os.Rename(filepath.Join(cwd, "sub", "next"), filepath.Join(cwd, "sub", "token")); err != nil {
					t.Error(err)
				}
				if err := os.Link(filepath.Join(cwd, "sub", "token"), filepath.Join(cwd, "hard-again")); err != nil {
					t.Error(err)
				}
				for i, path := range []string{"tributary.yaml", "sub/token", "link", "hard-again"} {
					if got := verdict(host, tb, fmt.Sprint("l", i), read(path)); got != "denied" {
						t.Errorf("later %s is %s", path, got)
					}
				}
				tb.Message("", "done")
				return nil
			},
		}}}
	})
	defer b.close()
	b.wait(b.say("u1", "x"))
	files, _, err := b.Files(t.Context(), "s", "", 100)
	if err != nil || slices.Contains(files, "tributary.yaml") || slices.Contains(files, "sub/token") || !slices.Contains(files, "a.txt") {
		t.Errorf("the list of files shows %q, %v", files, err)
	}
}
