package agentops_test

import (
	"testing"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
)

// The suite that every adapter passes, with a server and with a gateway in its place, and with
// both kinds of connection.
func TestSuite(t *testing.T) {
	for _, c := range []struct {
		name    string
		era     serverKind
		perTurn bool
	}{{"far", gatewayServer, false}, {"head", agentOpsServer, false}, {"far per turn", gatewayServer, true}, {"head per turn", agentOpsServer, true}} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("TRIBUTARY_TEST_AGENTOPS", "token-ada")
			prompts := map[agenttest.Ability]string{
				agenttest.Text: "hello", agenttest.Slow: "slow", agenttest.Question: "question",
				agenttest.Tell: "tell: the word is rain", agenttest.Recall: "recall", agenttest.Permission: "permission",
			}
			var s *server
			agenttest.Run(t, agenttest.Suite{
				Open: func(tb testing.TB) agent.Runtime {
					if s == nil || tb.Name() != s.t.Name() { // one for each test: the server remembers words over sessions
						s = newServer(tb.(*testing.T), c.era)
					}
					r := s.runtime()
					r.Token.Env, r.PerTurn = "TRIBUTARY_TEST_AGENTOPS", c.perTurn
					return r
				},
				Config:  func(testing.TB) agent.Config { return agent.Config{SessionID: s.id} },
				Without: agenttest.WithoutFaults("the tests of lost connections and of hostile servers play them"),
				Runs:    agenttest.Tells("Sent.", `{"tool_id":"gmail:send","params":{"to":"ana@example.com"}}`),
				Prompts: prompts, Word: "rain", Turns: []string{"tool", "fail", "question"},
			})
		})
	}
}
