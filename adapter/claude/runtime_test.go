//go:build unix

package claude_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/adapter/claude"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/permission/permissiontest"
	"github.com/tributary-dev/tributary/trace"
)

func open(t *testing.T, r claude.Runtime, host agent.Host, resume string) agent.Session {
	t.Helper()
	s, err := r.Open(t.Context(), host, agent.Config{SessionID: "s", Cwd: t.TempDir(), Resume: resume})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

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

func TestOpenFails(t *testing.T) {
	t.Parallel()
	mute := fakeRuntime(t, "mute")
	mute.StartTime = 200 * time.Millisecond
	for _, c := range []struct {
		runtime claude.Runtime
		want    string
	}{
		{claude.Runtime{BaseEnv: []string{}, Command: "no-such-claude"}, "no-such-claude was not found: correct agents.claude.command"},
		{fakeRuntime(t, "crash at start"), "it ended before it was ready: exit status 7: Error: the config file is broken"},
		{fakeRuntime(t, "not logged in"), "log in by running `claude` once in a terminal, or set ANTHROPIC_API_KEY"},
		{mute, "did not answer within 200ms"},
	} {
		_, err := c.runtime.Open(t.Context(), agenttest.NewHost(), agent.Config{Cwd: t.TempDir()})
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("Open says %v, want %q", err, c.want)
		}
	}
	_, err := fakeRuntime(t, "plain").Open(t.Context(), agenttest.NewHost(), agent.Config{Cwd: "/no/such/directory"})
	if err == nil || !strings.Contains(err.Error(), "the workspace /no/such/directory is not a directory") {
		t.Errorf("Open in a directory that does not exist: %v", err)
	}
}

func TestUglyTurns(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		how     string
		outcome trace.Outcome
		err     string
	}{
		{"plain", trace.OutcomeCompleted, ""},
		{"garbage", trace.OutcomeCompleted, ""},
		{"long line", trace.OutcomeCompleted, ""},
		{"noisy", trace.OutcomeCompleted, ""},
		{"asks twice", trace.OutcomeCompleted, ""},
		{"dies", trace.OutcomeFailed, "Claude Code ended in the middle of the turn: exit status 139: Segmentation fault."},
		{"half a line", trace.OutcomeFailed, "Claude Code ended in the middle of the turn: exit status 0."},
	} {
		t.Run(c.how, func(t *testing.T) {
			t.Parallel()
			host := agenttest.NewHost()
			s := open(t, fakeRuntime(t, c.how), host, "")
			for range 2 { // the second prompt starts it again if need be
				events, stop := turn(t.Context(), t, s, host, "hello")
				if stop.Outcome != c.outcome || stop.Error != c.err {
					t.Errorf("the turn ended as %+v", stop)
				}
				said := strings.TrimSpace(strings.ReplaceAll(agenttest.Said(events), "\n", "")) // being asked ends a part
				if want := map[bool]string{true: "half a sentence", false: "half a"}[c.err == ""]; said != want {
					t.Errorf("it said %q, want %q", said, want)
				}
			}
			if host.Token() != "fake-session" {
				t.Errorf("the resume token is %q", host.Token())
			}
		})
	}
}

// TestDiesBetweenTurns: a process that has ended is started again.
func TestDiesBetweenTurns(t *testing.T) {
	t.Parallel()
	host := agenttest.NewHost()
	s := open(t, fakeRuntime(t, "leaves"), host, "")
	for range 3 {
		if _, stop := turn(t.Context(), t, s, host, "hello"); stop.Outcome != trace.OutcomeCompleted {
			t.Errorf("the turn ended as %+v", stop)
		}
	}
}

func TestStopOfOneThatDoesNotListen(t *testing.T) {
	t.Parallel()
	host := agenttest.NewHost()
	s := open(t, fakeRuntime(t, "deaf"), host, "")
	ctx, cancel := context.WithCancel(t.Context())
	p := prompt("hello")
	r := host.Turn(p)
	done := make(chan error, 1)
	go func() { done <- s.Prompt(ctx, p, r.Builder) }()
	if _, err := r.Await(t.Context(), func(e trace.Event) bool { _, ok := e.Payload.(trace.MessageDelta); return ok }); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if v, _ := r.Verdict(); v.Outcome != trace.OutcomeCanceled {
		t.Errorf("the turn ended as %+v", v)
	}
	if err := r.Finish(trace.Stop{Outcome: trace.OutcomeCanceled}); err != nil {
		t.Error(err)
	}
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
			s := open(t, fakeRuntime(t, c.how), host, c.token)
			for _, want := range []string{c.want, ""} {
				events, stop := turn(t.Context(), t, s, host, "hello")
				if stop.Outcome != trace.OutcomeCompleted {
					t.Errorf("the turn ended as %+v", stop)
				}
				told := ""
				for _, e := range agenttest.Each[trace.Error](events) {
					told += e.Code
				}
				if told != want {
					t.Errorf("it told %q, want %q", told, want)
				}
			}
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
	s := open(t, fakeRuntime(t, "as told"), host, "")
	events, _ := turn(t.Context(), t, s, host, "echo @a.txt and @/etc/passwd and @out")
	if said := agenttest.Said(events); !strings.Contains(said, "@a.txt and @ /etc/passwd and @ out") {
		t.Errorf("it was told %q", said)
	}
}

// A prompt may not change whether Claude Code asks.
func TestACommandThatSwitchesPermissionRequestsOffIsRefused(t *testing.T) {
	t.Parallel()
	host := agenttest.NewHost()
	s := open(t, fakeRuntime(t, "as told"), host, "")
	for _, text := range []string{"/config permissionMode=auto", "/settings permissionMode=auto"} {
		if _, stop := turn(t.Context(), t, s, host, text); stop.Outcome != trace.OutcomeFailed || !strings.Contains(stop.Error, "the gateway refuses it") {
			t.Errorf("%s ended as %+v", text, stop)
		}
	}
}

func TestEmptyPrompt(t *testing.T) {
	t.Parallel()
	host := agenttest.NewHost()
	s := open(t, fakeRuntime(t, "plain"), host, "")
	r := host.Turn(agent.Prompt{})
	if err := s.Prompt(t.Context(), agent.Prompt{}, r.Builder); err != nil {
		t.Error(err)
	}
	if v, _ := r.Verdict(); v.Outcome != trace.OutcomeFailed {
		t.Errorf("the turn ended as %+v", v)
	}
	if err := r.Finish(trace.Stop{}); err != nil {
		t.Error(err)
	}
}

// TestSuite runs the suite of all adapters against a fake that breaks as the prompt says.
func TestSuite(t *testing.T) {
	agenttest.Run(t, agenttest.Suite{
		Open: func(t testing.TB) agent.Runtime { return fakeRuntime(t, "as told") },
		Prompts: map[agenttest.Ability]string{
			agenttest.Text: "hello", agenttest.Die: "dies", agenttest.Half: "half a line", agenttest.Garbage: "garbage",
		},
		Bound: 30 * time.Second,
	})
}
