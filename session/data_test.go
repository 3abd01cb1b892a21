package session_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/permission"
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
