package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
)

// TestSuite is what every adapter passes.
func TestSuite(t *testing.T) {
	agenttest.Run(t, agenttest.Suite{
		Open: func(t testing.TB) agent.Runtime {
			r, err := shoutAdapter().New(agent.Settings{Options: []byte(`{"mark":"?!"}`)})
			if err != nil {
				t.Fatal(err)
			}
			return r
		},
		Config: func(t testing.TB) agent.Config {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "book.txt"), []byte("Call me Ishmael."), 0o600); err != nil {
				t.Fatal(err)
			}
			return agent.Config{SessionID: "session", Cwd: dir}
		},
		Prompts: map[agenttest.Ability]string{agenttest.Text: "hello", agenttest.Permission: "read book.txt"},
		Runs:    agenttest.Tells("Call me Ishmael.", `{"book":"book.txt"}`),
		Without: agenttest.WithoutFaults("the agent is a function: there is no process and no protocol"),
	})
}

func TestAMisspeltOptionIsRefused(t *testing.T) {
	if _, err := shoutAdapter().New(agent.Settings{Options: []byte(`{"marc":"?"}`)}); err == nil {
		t.Error("taken")
	}
}
