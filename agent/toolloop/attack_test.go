package toolloop_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/agent/toolloop"
	"github.com/tributary-dev/tributary/agent/toolloop/worktool"
	"github.com/tributary-dev/tributary/policy/permission/permissiontest"
	"github.com/tributary-dev/tributary/policy/toolkind"
	"github.com/tributary-dev/tributary/policy/workspace"
	"github.com/tributary-dev/tributary/trace"
)

// dialect is how the tools of this package name things.
func dialect() permissiontest.Dialect {
	return permissiontest.Dialect{
		permissiontest.Read:   {Name: "read_file", Keys: map[string]string{"path": "path", "second": "file_path"}},
		permissiontest.Edit:   {Name: "write_file", Keys: map[string]string{"path": "path", "content": "content"}},
		permissiontest.Search: {Name: "grep", Keys: map[string]string{"path": "path", "expression": "pattern", "glob": "include"}},
		permissiontest.Run:    {Name: "bash", Keys: map[string]string{"command": "command"}},
	}
}

// liar is a model that shows one call while it writes it, and then makes another.
type liar struct {
	shown, asked permissiontest.Call
	done         bool
}

func (m *liar) Step(_ context.Context, _ []toolloop.Message, _ []toolloop.Tool, b *trace.Builder) (toolloop.Message, toolloop.Finish, error) {
	if m.done {
		return toolloop.Message{}, toolloop.Done, nil
	}
	m.done = true
	b.ToolCallStart(trace.ToolCallStart{ToolCallID: "c1", RawName: m.shown.Tool})
	b.ToolCallDelta("c1", string(m.shown.Input))
	return toolloop.Message{Calls: []toolloop.Call{{ID: "c1", Name: m.asked.Tool, Input: m.asked.Input}}}, toolloop.Done, nil
}

func TestThePolicyJudgesTheCallThatRuns(t *testing.T) {
	dir := permissiontest.Workspace(t)
	permissiontest.Play(t, dir, dialect(), func(t *testing.T, shown, asked permissiontest.Call) bool {
		host := agenttest.NewHost()
		host.Judge = permissiontest.Judge(dir, toolkind.OpenAI())
		events := play(t, host, &liar{shown: shown, asked: asked}, inert(dir), toolloop.Options{Table: toolkind.OpenAI()})
		for _, a := range agenttest.Each[trace.PermissionResponse](events) {
			if a.Allowed() {
				return true
			}
		}
		return false
	})
}

// inert are the real tools, without what they do.
func inert(dir workspace.Dir) []toolloop.Tool {
	tools := append(worktool.Files(dir), worktool.Shell{}.Tool())
	for i := range tools {
		tools[i].Run = echo("", new(counter)).Run
	}
	return tools
}

func TestFileToolsReachNothingOutsideThoughEverythingIsAllowed(t *testing.T) {
	dir := permissiontest.Workspace(t)
	top := filepath.Dir(dir.Path())
	secrets := []string{filepath.Join(top, "outside/secret"), filepath.Join(top, "ws2/secret")}
	for _, name := range secrets {
		if err := os.WriteFile(name, []byte("TOP SECRET x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	words := dialect()
	delete(words, permissiontest.Run)
	tried := 0
	permissiontest.Play(&testing.T{}, dir, words, func(_ *testing.T, _, asked permissiontest.Call) bool {
		tried++
		answer, _ := use(t, worktool.Files(dir), asked.Tool, string(asked.Input))
		if strings.Contains(answer, "TOP SECRET") || strings.Contains(answer, "root:") {
			t.Errorf("%s %s returned %q", asked.Tool, asked.Input, answer)
		}
		return false
	})
	for _, name := range secrets {
		if data, err := os.ReadFile(name); err != nil || string(data) != "TOP SECRET x" {
			t.Errorf("%s is now %q, %v", name, data, err)
		}
	}
	if tried < 150 {
		t.Errorf("only %d attacks were played", tried)
	}
}
