package echo_test

import (
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/adapter/echo"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/trace"
)

func TestSuite(t *testing.T) {
	agenttest.Run(t, agenttest.Suite{
		Open:    func(testing.TB) agent.Runtime { return echo.Runtime{} },
		Prompts: map[agenttest.Ability]string{agenttest.Text: "hello", agenttest.Huge: strings.Repeat("x", 50<<20)},
		Without: agenttest.WithoutFaults("the agent is a function: there is no process and no protocol"),
		Turns:   []string{"", " ", "one\ntwo  three ", strings.Repeat("many ", 10_000)},
	})
}

func TestEcho(t *testing.T) {
	t.Parallel()
	for _, prompt := range []string{"hello", "two  words and a space ", "a\nb", "e\u0301 \U0001F600"} {
		session, err := echo.Runtime{}.Open(t.Context(), nil, agent.Config{})
		if err != nil {
			t.Fatal(err)
		}
		p := agent.Prompt{Message: trace.UserMessage{Parts: []trace.InputPart{{Type: trace.InputText, Text: prompt}}}}
		r := agenttest.NewRecorder()
		if err := session.Prompt(t.Context(), p, r.Builder); err != nil {
			t.Fatal(err)
		}
		verdict, _ := r.Result()
		if err := r.Finish(verdict); err != nil {
			t.Fatal(err)
		}
		messages := agenttest.Each[trace.Message](r.Events())
		if len(messages) != 1 || messages[0].Text != prompt {
			t.Errorf("the echo of %q is %+v", prompt, messages)
		}
		deltas := agenttest.Each[trace.MessageDelta](r.Events())
		if want := len(strings.Fields(prompt)); len(deltas) < want-1 {
			t.Errorf("%q came as %d deltas, want it word by word", prompt, len(deltas))
		}
		if err := session.Close(); err != nil {
			t.Error(err)
		}
	}
}
