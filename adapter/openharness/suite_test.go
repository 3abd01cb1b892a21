package openharness_test

import (
	"flag"
	"maps"
	"net/http"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tributary-dev/tributary/adapter/openharness"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/agent/remote/remotetest"
)

// TestMain lets many tests run at a time: those of bad servers mostly wait.
func TestMain(m *testing.M) {
	_ = flag.Set("test.parallel", "12") // a flag on the command line has the last word
	goleak.VerifyTestMain(m)
}

// noPermit is why a suite has no rich turn.
const noPermit = "the kernel has no permission requests: the tests of gaps cut its connections"

func decoder() agent.Decoder { return openharness.NewDecoder() }

// faults are the prompts that break things, added to others.
func faults(prompts map[agenttest.Ability]string) map[agenttest.Ability]string {
	maps.Copy(prompts, map[agenttest.Ability]string{
		agenttest.Text: "hello", agenttest.Slow: "slow",
		agenttest.Die: "die", agenttest.Half: "half", agenttest.Garbage: "garbage", agenttest.Huge: "huge",
	})
	return prompts
}

func TestSuiteKernel(t *testing.T) {
	s := newKernel(t)
	agenttest.Run(t, agenttest.Suite{
		Open:    func(testing.TB) agent.Runtime { return openharness.Runtime{URL: s.address()} },
		Prompts: faults(map[agenttest.Ability]string{agenttest.Question: "question"}),
		Without: map[agenttest.Ability]string{agenttest.Rich: noPermit},
		Decoder: decoder,
		Turns:   []string{"", "tool", "error", "fake"},
		Bound:   90 * time.Second, // a message of 5 or 50 MB under the race detector
	})
}

func TestSuiteHTTP02(t *testing.T) {
	s := newWeb(t)
	agenttest.Run(t, agenttest.Suite{
		Open: func(testing.TB) agent.Runtime {
			return openharness.Runtime{URL: s.URL, Options: openharness.Options{Protocol: openharness.HTTP02}}
		},
		Prompts: faults(map[agenttest.Ability]string{}),
		Without: map[agenttest.Ability]string{agenttest.Rich: noPermit},
		Decoder: decoder,
		Turns:   []string{"", "tool", "error", "question", "busy"},
		Bound:   90 * time.Second, // as above
	})
}

func TestBadServers(t *testing.T) {
	t.Parallel()
	for protocol, handler := range map[string]func(*testing.T) http.Handler{
		openharness.Scaffold: func(t *testing.T) http.Handler { return newScaffold(t, nil).Config.Handler },
		openharness.HTTP02:   func(t *testing.T) http.Handler { return newWeb(t).Config.Handler },
	} {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			remotetest.BadServers(t, remotetest.Upstream{Handler: handler, Prompt: "tool", NoEnd: protocol == openharness.HTTP02, Open: func(url string) (agent.Runtime, error) {
				return openharness.Runtime{URL: url, Options: openharness.Options{Protocol: protocol, Silence: agent.Duration(2 * time.Second)}}, nil
			}})
		})
	}
}

func TestSuiteScaffold(t *testing.T) {
	s := newScaffold(t, nil)
	agenttest.Run(t, agenttest.Suite{
		Open:    func(testing.TB) agent.Runtime { return scaffold(s) },
		Prompts: faults(map[agenttest.Ability]string{agenttest.Permission: "permit", agenttest.Question: "question", agenttest.Rich: "rich"}),
		Runs:    agenttest.Tells("The answer was yes.", `{"prompt":"Touch it?"}`),
		Cut:     func(t testing.TB, c *agenttest.Cut) agent.Runtime { return scaffold(newScaffold(t, c)) },
		Decoder: decoder,
		Turns:   []string{"", "tool", "error", "fake", "line"},
		Bound:   90 * time.Second, // as above
	})
}
