//go:build unix

package codex_test

import (
	"context"
	"testing"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/trace"
)

func prompt(text string) agent.Prompt {
	return agent.Prompt{By: "tester", Message: trace.UserMessage{ID: "u", Parts: []trace.InputPart{{Type: trace.InputText, Text: text}}}}
}

// turn prompts and returns the events of the finished turn.
func turn(ctx context.Context, t *testing.T, s agent.Session, host *agenttest.Host, text string) ([]trace.Event, trace.Stop) {
	t.Helper()
	p := prompt(text)
	r := host.Turn(p)
	if err := s.Prompt(ctx, p, r.Builder); err != nil {
		t.Fatal(err)
	}
	verdict, told := r.Verdict()
	if !told {
		t.Fatal("Prompt returned and the turn has no end")
	}
	if err := r.Finish(verdict); err != nil {
		t.Fatal(err)
	}
	if err := agenttest.CheckTurn(r.Events()); err != nil {
		t.Error(err)
	}
	return r.Events(), agenttest.Each[trace.Stop](r.Events())[0]
}
