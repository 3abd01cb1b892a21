package openharness_test

import (
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tributary-dev/tributary/adapter/openharness"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// noCut is why the suite does not cut. It cuts what a process writes; the tests of positions,
// gaps and restarts cut connections.
const noCut = "the agent is a server, and a connection that breaks is not its death"

func TestSuiteKernel(t *testing.T) {
	s := newKernel(t)
	agenttest.Run(t, agenttest.Suite{
		Open: func(testing.TB) agent.Runtime { return openharness.Runtime{URL: s.address()} },
		Prompts: map[agenttest.Ability]string{
			agenttest.Text: "hello", agenttest.Slow: "slow", agenttest.Question: "question",
			agenttest.Die: "die", agenttest.Half: "half", agenttest.Garbage: "garbage", agenttest.Huge: "huge",
		},
		Without: map[agenttest.Ability]string{agenttest.Rich: noCut},
		Turns:   []string{"", "tool", "error", "fake"},
		Bound:   40 * time.Second, // 50 MB under the race detector
	})
}

func TestSuiteKernel02(t *testing.T) {
	s := newKernel(t)
	s.version2 = true
	agenttest.Run(t, agenttest.Suite{
		Open: func(testing.TB) agent.Runtime {
			return openharness.Runtime{URL: s.address(), Options: openharness.Options{Protocol: openharness.Kernel02}}
		},
		Prompts: map[agenttest.Ability]string{agenttest.Text: "hello", agenttest.Slow: "slow", agenttest.Garbage: "garbage"},
		Without: agenttest.WithoutFaults("the connection is that of the kernel's suite"),
		Turns:   []string{"question", "tool", "error"},
	})
}

func TestSuiteHTTP02(t *testing.T) {
	s := newWeb(t)
	agenttest.Run(t, agenttest.Suite{
		Open: func(testing.TB) agent.Runtime {
			return openharness.Runtime{URL: s.URL, Options: openharness.Options{Protocol: openharness.HTTP02}}
		},
		Prompts: map[agenttest.Ability]string{
			agenttest.Text: "hello", agenttest.Slow: "slow",
			agenttest.Die: "die", agenttest.Half: "half", agenttest.Garbage: "garbage", agenttest.Huge: "huge",
		},
		Without: map[agenttest.Ability]string{agenttest.Rich: noCut},
		Turns:   []string{"", "tool", "error", "question", "busy"},
		Bound:   40 * time.Second, // as above
	})
}

func TestSuiteScaffold(t *testing.T) {
	s := newScaffold(t)
	agenttest.Run(t, agenttest.Suite{
		Open: func(testing.TB) agent.Runtime {
			effects.Store(0)
			return openharness.Runtime{URL: s.URL, Options: openharness.Options{Silence: agent.Duration(300 * time.Millisecond)}}
		},
		Prompts: map[agenttest.Ability]string{
			agenttest.Text: "hello", agenttest.Slow: "slow", agenttest.Permission: "permit", agenttest.Question: "question",
			agenttest.Die: "die", agenttest.Half: "half", agenttest.Garbage: "garbage", agenttest.Huge: "huge",
		},
		Effect:  func(testing.TB) bool { return effects.Load() > 0 },
		Without: map[agenttest.Ability]string{agenttest.Rich: noCut},
		Turns:   []string{"", "tool", "error", "fake", "line"},
		Bound:   40 * time.Second, // as above
	})
}
