//go:build unix

package codex_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tributary-dev/tributary/adapter/codex"
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

func open(t *testing.T, r codex.Runtime, host agent.Host, resume string) agent.Session {
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

func TestSuite(t *testing.T) {
	home := t.TempDir()
	agenttest.Run(t, agenttest.Suite{
		Open: func(testing.TB) agent.Runtime { return fakeRuntime(t, "plain", "HOME="+home) },
		Cut: func(t testing.TB, c *agenttest.Cut) agent.Runtime {
			return fakeRuntime(t, "plain", "HOME="+t.TempDir(), c.Env())
		},
		Prompts: map[agenttest.Ability]string{
			agenttest.Text: "hello", agenttest.Slow: "slow", agenttest.Permission: "permission", agenttest.Question: "question",
			agenttest.Tell: "The word is heron.", agenttest.Recall: "recall",
			agenttest.Die: "dies", agenttest.Half: "half a line", agenttest.Garbage: "garbage",
			agenttest.Huge: "huge", agenttest.Rich: "rich",
		},
		Word: "heron", Bound: time.Minute,
	})
}

func TestOpenFailsInOneSentence(t *testing.T) {
	t.Parallel()
	mute := fakeRuntime(t, "mute")
	mute.StartTime = 200 * time.Millisecond
	unsafe := fakeRuntime(t, "plain")
	unsafe.Settings.Sandbox = "danger-full-access"
	never := fakeRuntime(t, "plain")
	never.Settings.Approval = "never"
	for _, c := range []struct {
		runtime codex.Runtime
		resume  string
		want    string
	}{
		{codex.Runtime{Command: "no-such-codex"}, "", "no-such-codex was not found: correct agents.codex.command, or install Codex with `npm install -g @openai/codex`"},
		{codex.Runtime{Env: []string{}}, "", "codex was not found on PATH"},
		{fakeRuntime(t, "crash at start"), "", "it ended before it was ready: exit status 7: Error: the config file is broken"},
		{fakeRuntime(t, "not logged in"), "", "it is not logged in — run `codex login`"},
		{fakeRuntime(t, "old"), "", "version 0.120.3 is too old: install 0.160 or newer"},
		{fakeRuntime(t, "another protocol"), "", "it refuses to start: no such method"},
		{fakeRuntime(t, "busy thread"), "thread@turn-1", "another Codex works on this conversation (thread): close it there, then ask again"},
		{mute, "", "did not answer within 200ms"},
		{unsafe, "", `options.sandbox is "danger-full-access": write read-only or workspace-write`},
		{never, "", `options.approval is "never": write untrusted or on-request`},
	} {
		_, err := c.runtime.Open(t.Context(), agenttest.NewHost(), agent.Config{Cwd: t.TempDir(), Resume: c.resume})
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("Open says %v, want %q", err, c.want)
		}
	}
}

func TestTheSandboxIsTighterWhenCodexAsksForLess(t *testing.T) {
	t.Parallel()
	for approval, want := range map[string]string{"": "workspace-write", "untrusted": "workspace-write", "on-request": "read-only"} {
		if s, err := (codex.Settings{Approval: approval}).Filled(); err != nil || s.Sandbox != want {
			t.Errorf("%q: the sandbox is %q, %v; want %s", approval, s.Sandbox, err, want)
		}
		r := fakeRuntime(t, "plain")
		r.Settings.Approval = approval
		open(t, r, agenttest.NewHost(), "")
	}
}

func TestProbeTellsTheVersion(t *testing.T) {
	t.Parallel()
	for how, want := range map[string]string{
		"version 0.169.0": "", "version 1.2.3": "", "version 0.99.0": "version 0.99.0 is too old", "version ": "is it Codex?",
	} {
		version, err := fakeRuntime(t, how).Probe(t.Context())
		if version != strings.TrimPrefix(how, "version ") || (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: Probe says %q, %v", how, version, err)
		}
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
		{"dies", trace.OutcomeFailed, "Codex ended in the middle of the turn: exit status 139: Segmentation fault."},
		{"half a line", trace.OutcomeFailed, "Codex ended in the middle of the turn: exit status 0."},
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
				said := strings.TrimSpace(strings.ReplaceAll(agenttest.Said(events), "\n", "")) // an item ends a text
				if want := map[bool]string{true: "half a sentence", false: "half a"}[c.err == ""]; said != want {
					t.Errorf("it said %q, want %q", said, want)
				}
			}
			if !strings.HasPrefix(host.Token(), "thread@turn-") {
				t.Errorf("the resume token is %q", host.Token())
			}
		})
	}
}

func TestAProcessThatHasEndedIsStartedAgain(t *testing.T) {
	t.Parallel()
	host := agenttest.NewHost()
	s := open(t, fakeRuntime(t, "leaves"), host, "")
	for range 3 {
		if _, stop := turn(t.Context(), t, s, host, "hello"); stop.Outcome != trace.OutcomeCompleted {
			t.Errorf("the turn ended as %+v", stop)
		}
	}
}

func TestAProcessThatDoesNotStopIsKilled(t *testing.T) {
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

func TestALostConversationIsSaidOnce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ how, token, want string }{
		{"forgetful", "gone@turn-1", "session_lost"},
		{"plain", "thread@turn-9", "place_lost"},
		{"plain", "thread", ""},
	} {
		host := agenttest.NewHost()
		s := open(t, fakeRuntime(t, c.how, "HOME="+t.TempDir()), host, c.token)
		for _, want := range []string{c.want, ""} {
			events, _ := turn(t.Context(), t, s, host, "hello")
			told := ""
			for _, e := range agenttest.Each[trace.Error](events) {
				told += e.Code
			}
			if told != want {
				t.Errorf("%s %s: it told %q, want %q", c.how, c.token, told, want)
			}
		}
	}
}

func TestOnlyATurnNamesAMoment(t *testing.T) {
	t.Parallel()
	for token, want := range map[string]bool{"": true, "thread@turn": true, "thread": false, "thread@": false} {
		if got := (codex.Runtime{}).Rewinds(token); got != want {
			t.Errorf("%q names a moment: %v", token, got)
		}
	}
}

func TestAnEmptyPromptIsNotSent(t *testing.T) {
	t.Parallel()
	host := agenttest.NewHost()
	s := open(t, fakeRuntime(t, "plain"), host, "")
	if _, stop := turn(t.Context(), t, s, host, ""); stop.Outcome != trace.OutcomeFailed || !strings.Contains(stop.Error, "nothing that Codex can read") {
		t.Errorf("the turn ended as %+v", stop)
	}
}

func TestTheModelsAreTold(t *testing.T) {
	t.Parallel()
	host := agenttest.NewHost()
	s := open(t, fakeRuntime(t, "plain"), host, "")
	turn(t.Context(), t, s, host, "hello")
	deadline := time.After(5 * time.Second)
	for len(host.Notes()) == 0 {
		select {
		case <-deadline:
			t.Fatal("nothing was told")
		case <-time.After(time.Millisecond):
		}
	}
	want := []trace.Payload{trace.Models("m1", []trace.Model{{ID: "m1", Name: "One"}, {ID: "m2", Name: "Two"}})}
	if d := cmp.Diff(want, host.Notes()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestTheModelIsChosenForTheNextTurn: also when another process takes over.
func TestTheModelIsChosenForTheNextTurn(t *testing.T) {
	t.Parallel()
	host := agenttest.NewHost()
	s := open(t, fakeRuntime(t, "leaves"), host, "")
	controlled, ok := s.(agent.Controllable)
	if !ok {
		t.Fatal("the session has no controls")
	}
	if err := controlled.Controls().SetModel(t.Context(), "m2"); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		events, _ := turn(t.Context(), t, s, host, "model")
		if said := agenttest.Said(events); !strings.Contains(said, "m2") {
			t.Errorf("it said %q", said)
		}
	}
}

func TestCodexGetsWhatIsAttached(t *testing.T) {
	t.Parallel()
	host := agenttest.NewHost()
	s := open(t, fakeRuntime(t, "echo"), host, "")
	for want, part := range map[string]trace.InputPart{
		`{"type":"image","url":"data:image/png;base64,aGk="}`:                                                             {MediaType: "image/png", URL: "data:image/png;base64,aGk="},
		`{"type":"image","url":"https://a/b.png"}`:                                                                        {MediaType: "image/png", URL: "https://a/b.png"},
		`{"type":"text","text":"Attached file a.txt:\n\nhi"}`:                                                             {MediaType: "text/plain", URL: "data:text/plain,hi", Filename: "a.txt"},
		`{"type":"text","text":"[The user attached the file a.pdf of type application/pdf, which cannot be passed on.]"}`: {MediaType: "application/pdf", URL: "data:application/pdf;base64,aGk=", Filename: "a.pdf"},
	} {
		part.Type = trace.InputFile
		p := agent.Prompt{Message: trace.UserMessage{ID: "u", Parts: []trace.InputPart{{Type: trace.InputText, Text: "see"}, part}}}
		r := host.Turn(p)
		if err := s.Prompt(t.Context(), p, r.Builder); err != nil {
			t.Error(err)
		}
		if err := r.Finish(trace.Stop{}); err != nil {
			t.Error(err)
		}
		if said := agenttest.Said(r.Events()); !strings.Contains(said, `[{"type":"text","text":"see"},`+want+"]") {
			t.Errorf("it got %s, want %s", said, want)
		}
	}
}
