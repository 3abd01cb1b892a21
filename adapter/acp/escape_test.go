package acp_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/policy/workspace"
	"github.com/tributary-dev/tributary/policy/workspace/workspacetest"
	"github.com/tributary-dev/tributary/trace"
)

// TestAttemptsToLeaveTheWorkspace plays the table of attempts by the files that an agent
// asks the client for.
func TestAttemptsToLeaveTheWorkspace(t *testing.T) {
	workspacetest.Run(t, func(t *testing.T, dir string) workspacetest.User {
		t.Helper()
		files, err := workspace.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		host := agenttest.NewHost()
		host.Dir = files
		says(trace.AllowOnce)(host)
		s, err := fakeRuntime(t, "plain").Open(t.Context(), host, agent.Config{SessionID: "s", Cwd: dir})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _, _ = s.Close(), files.Close() })
		st := &stage{t: t, dir: dir, host: host, s: s}
		ask := func(method string, params object) (string, error) {
			data, err := json.Marshal(params)
			if err != nil {
				return "", err
			}
			_, said, _ := st.turn(agenttest.Prompt("client " + method + " " + string(data)))
			var r struct {
				Code    int     `json:"code"`
				Message string  `json:"message"`
				Content *string `json:"content"`
			}
			switch err := json.Unmarshal([]byte(said), &r); {
			case err != nil:
				return "", err
			case r.Code != 0 && strings.Contains(r.Message, "outside the workspace"):
				return "", errors.Join(workspace.ErrOutside, errors.New(r.Message))
			case r.Code != 0:
				return "", errors.New(r.Message)
			case r.Content == nil:
				return "", nil
			}
			return *r.Content, nil
		}
		return workspacetest.User{
			Read: func(path string) (string, error) { return ask("fs/read_text_file", object{"path": path}) },
			Write: func(path, content string) error {
				_, err := ask("fs/write_text_file", object{"path": path, "content": content})
				return err
			},
		}
	})
}
