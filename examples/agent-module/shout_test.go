package main

import (
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
		Prompts: map[agenttest.Ability]string{agenttest.Text: "hello"},
		Without: agenttest.WithoutFaults("the agent is a function: there is no process and no protocol"),
	})
}

func TestAMisspeltOptionIsRefused(t *testing.T) {
	if _, err := shoutAdapter().New(agent.Settings{Options: []byte(`{"marc":"?"}`)}); err == nil {
		t.Error("taken")
	}
}
