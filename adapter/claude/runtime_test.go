//go:build unix

package claude_test

import (
	"strings"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/adapter/claude"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/policy/permission/permissiontest"
	"github.com/tributary-dev/tributary/trace"
)

func TestOpenFails(t *testing.T) {
	t.Parallel()
	mute := fakeRuntime(t, "mute")
	mute.StartTime = 200 * time.Millisecond
	agenttest.BadStarts(t, []agenttest.BadStart{
		{Runtime: claude.Runtime{Env: []string{}, Command: "no-such-claude"}, Want: "no-such-claude was not found: correct agents.claude.command"},
		{Runtime: fakeRuntime(t, "crash at start"), Want: "it ended before it was ready: exit status 7: Error: the config file is broken"},
		{Runtime: fakeRuntime(t, "not logged in"), Want: "log in by running `claude` once in a terminal, or set ANTHROPIC_API_KEY"},
		{Runtime: mute, Want: "did not answer within 200ms"},
		{Runtime: fakeRuntime(t, "plain"), Config: agent.Config{Cwd: "/no/such/directory"}, Want: "the workspace /no/such/directory is not a directory"},
	})
}

func TestUglyTurns(t *testing.T) {
	t.Parallel()
	agenttest.UglyTurns(t, func(how string) agent.Runtime { return fakeRuntime(t, how) }, "fake-session", []agenttest.Ugly{
		{How: "plain", Said: "half a sentence"},
		{How: "garbage", Said: "half a sentence"},
		{How: "long line", Said: "half a sentence"},
		{How: "noisy", Said: "half a sentence"},
		{How: "leaves", Said: "half a sentence"}, // its process ends behind each turn
		{How: "asks twice", Said: "half a sentence"},
		{How: "dies", Said: "half a", Error: "Claude Code ended in the middle of the turn: exit status 139: Segmentation fault."},
		{How: "half a line", Said: "half a", Error: "Claude Code ended in the middle of the turn: exit status 0."},
	})
}

//evidence:for promise-disconnect
func TestStopOfOneThatDoesNotListen(t *testing.T) {
	t.Parallel()
	agenttest.StopsDeaf(t, fakeRuntime(t, "deaf"), "hello")
}

// TestResumeGoesWrong: the agent goes on as well as it can, and the next turn
// says once what was lost.
func TestResumeGoesWrong(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ how, token, want string }{
		{"forgetful", "gone", "session_lost"},
		{"forgetful", "gone@m1", "session_lost"},
		{"lost", "fake-session@m1", "place_lost"},
		{"lost", "fake-session", ""},
		{"old", "fake-session@m1", "place_lost"},
	} {
		t.Run(c.how+" "+c.token, func(t *testing.T) {
			t.Parallel()
			host := agenttest.NewHost()
			s := agenttest.Open(t, fakeRuntime(t, c.how), host, agent.Config{Resume: c.token})
			agenttest.NoticesOnce(t, s, host, c.want)
			if len(host.Begun()) != 0 {
				t.Error("what it said at its start began a turn")
			}
		})
	}
}

// Claude Code reads a file that a prompt mentions with @ and asks nobody.
func TestAPromptMentionsNoFileOutside(t *testing.T) {
	t.Parallel()
	host := agenttest.NewHost()
	host.Dir = permissiontest.Workspace(t)
	s := agenttest.Open(t, fakeRuntime(t, "as told"), host, agent.Config{})
	events, _ := agenttest.Turn(t, s, host, agenttest.Prompt("echo @a.txt and @/etc/passwd and @out"))
	if said := agenttest.Said(events); !strings.Contains(said, "@a.txt and @ /etc/passwd and @ out") {
		t.Errorf("the agent got %q", said)
	}
}

// A prompt may not change whether Claude Code asks.
func TestACommandThatSwitchesPermissionRequestsOffIsRefused(t *testing.T) {
	t.Parallel()
	host := agenttest.NewHost()
	s := agenttest.Open(t, fakeRuntime(t, "as told"), host, agent.Config{})
	for _, text := range []string{"/config permissionMode=auto", "/settings permissionMode=auto"} {
		if _, stop := agenttest.Turn(t, s, host, agenttest.Prompt(text)); stop.Outcome != trace.OutcomeFailed || !strings.Contains(stop.Error, "the gateway refuses it") {
			t.Errorf("%s ended as %+v", text, stop)
		}
	}
}

func TestEmptyPrompt(t *testing.T) {
	t.Parallel()
	host := agenttest.NewHost()
	s := agenttest.Open(t, fakeRuntime(t, "plain"), host, agent.Config{})
	if _, stop := agenttest.Turn(t, s, host, agent.Prompt{}); stop.Outcome != trace.OutcomeFailed {
		t.Errorf("the turn ended as %+v", stop)
	}
}

// TestSuite runs the suite of all adapters against a fake that breaks as the prompt says.
func TestSuite(t *testing.T) {
	agenttest.Run(t, agenttest.Suite{
		Open: func(t testing.TB) agent.Runtime { return fakeRuntime(t, "as told") },
		Cut:  func(t testing.TB, c *agenttest.Cut) agent.Runtime { return fakeRuntime(t, "as told", c.Env()) },
		Prompts: map[agenttest.Ability]string{
			agenttest.Text: "hello", agenttest.Permission: "permission", agenttest.Question: "question", agenttest.Die: "dies", agenttest.Half: "half a line", agenttest.Garbage: "garbage",
			agenttest.Huge: "huge", agenttest.Rich: "rich",
		},
		Runs:    agenttest.Tells(`I ran {\"command\":\"ls\"}`, `{"command":"ls"}`),
		Decoder: func() agent.Decoder { return claude.NewDecoder(claude.Options{}) },
		Bound:   time.Minute,
	})
}
