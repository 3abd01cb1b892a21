//go:build unix

package codex_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tributary-dev/tributary/adapter/codex"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/trace"
)

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
		Runs:    agenttest.Tells("a b", `{"command":"ls","cwd":"/"}`),
		Decoder: func() agent.Decoder { return codex.NewDecoder(codex.Options{}) },
		Word:    "heron", Bound: time.Minute,
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
	agenttest.BadStarts(t, []agenttest.BadStart{
		{Runtime: codex.Runtime{Command: "no-such-codex"}, Want: "no-such-codex was not found: correct agents.codex.command, or install Codex with `npm install -g @openai/codex`"},
		{Runtime: codex.Runtime{Env: []string{}}, Want: "codex was not found on PATH"},
		{Runtime: fakeRuntime(t, "crash at start"), Want: "it ended before it was ready: exit status 7: Error: the config file is broken"},
		{Runtime: fakeRuntime(t, "not logged in"), Want: "it is not logged in — run `codex login`"},
		{Runtime: fakeRuntime(t, "old"), Want: "version 0.120.3 is too old: install 0.160 or newer"},
		{Runtime: fakeRuntime(t, "another protocol"), Want: "it refuses to start: no such method"},
		{Runtime: fakeRuntime(t, "busy thread"), Config: agent.Config{Resume: "thread@turn-1"}, Want: "another Codex works on this conversation (thread): close it there, then ask again"},
		{Runtime: mute, Want: "did not answer within 200ms"},
		{Runtime: unsafe, Want: `options.sandbox is "danger-full-access": write read-only or workspace-write`},
		{Runtime: never, Want: `options.approval is "never": write untrusted or on-request`},
	})
}

// Codex removes the link to its sandbox of a process that starts beside it.
func TestProcessesOfCodexStartOneAfterAnother(t *testing.T) {
	t.Parallel()
	r := fakeRuntime(t, "starts alone", "HOME="+t.TempDir())
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() { agenttest.Open(t, r, agenttest.NewHost(), agent.Config{}) })
		all.Go(func() {
			if _, err := r.Probe(t.Context()); err != nil && !strings.Contains(err.Error(), "no version of Codex") {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

func TestTheSandboxIsTighterWhenCodexAsksForLess(t *testing.T) {
	t.Parallel()
	for approval, want := range map[string]string{"": "workspace-write", "untrusted": "workspace-write", "on-request": "read-only"} {
		if s, err := (codex.Settings{Approval: approval}).Filled(); err != nil || s.Sandbox != want {
			t.Errorf("%q: the sandbox is %q, %v; want %s", approval, s.Sandbox, err, want)
		}
		r := fakeRuntime(t, "plain")
		r.Settings.Approval = approval
		agenttest.Open(t, r, agenttest.NewHost(), agent.Config{})
	}
}

func TestProbeTellsTheVersion(t *testing.T) {
	t.Parallel()
	for how, want := range map[string]string{
		"version 0.169.0": "", "version 1.2.3": "", "version 0.99.0": "version 0.99.0 is too old", "version ": "prints no version of Codex",
	} {
		version, err := fakeRuntime(t, how).Probe(t.Context())
		if version != strings.TrimPrefix(how, "version ") || (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: Probe says %q, %v", how, version, err)
		}
	}
}

func TestUglyTurns(t *testing.T) {
	t.Parallel()
	agenttest.UglyTurns(t, func(how string) agent.Runtime { return fakeRuntime(t, how) }, "thread@turn-", []agenttest.Ugly{
		{How: "plain", Said: "half a sentence"},
		{How: "garbage", Said: "half a sentence"},
		{How: "long line", Said: "half a sentence"},
		{How: "noisy", Said: "half a sentence"},
		{How: "leaves", Said: "half a sentence"}, // its process ends behind each turn
		{How: "dies", Said: "half a", Error: "Codex ended in the middle of the turn: exit status 139: Segmentation fault."},
		{How: "half a line", Said: "half a", Error: "Codex ended in the middle of the turn: exit status 0."},
	})
}

func TestAProcessThatDoesNotStopIsKilled(t *testing.T) {
	t.Parallel()
	agenttest.StopsDeaf(t, fakeRuntime(t, "deaf"), "hello")
}

func TestALostConversationIsReportedOnce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ how, token, want string }{
		{"forgetful", "gone@turn-1", "session_lost"},
		{"plain", "thread@turn-9", "place_lost"},
		{"plain", "thread", ""},
	} {
		host := agenttest.NewHost()
		s := agenttest.Open(t, fakeRuntime(t, c.how, "HOME="+t.TempDir()), host, agent.Config{Resume: c.token})
		agenttest.NoticesOnce(t, s, host, c.want)
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
	s := agenttest.Open(t, fakeRuntime(t, "plain"), host, agent.Config{})
	if _, stop := agenttest.Turn(t, s, host, agenttest.Prompt("")); stop.Outcome != trace.OutcomeFailed || !strings.Contains(stop.Error, "nothing that Codex can read") {
		t.Errorf("the turn ended as %+v", stop)
	}
}

func TestTheModelsAreReported(t *testing.T) {
	t.Parallel()
	host := agenttest.NewHost()
	s := agenttest.Open(t, fakeRuntime(t, "plain"), host, agent.Config{})
	agenttest.Turn(t, s, host, agenttest.Prompt("hello"))
	deadline := time.After(time.Minute)
	for len(host.Notes()) < 2 {
		select {
		case <-deadline:
			t.Fatalf("the notes are %v", host.Notes())
		case <-time.After(time.Millisecond):
		}
	}
	want := []trace.Payload{trace.AgentInfo{Product: "codex", Version: "0.169.0", Model: "fake"}.Payload(), trace.Models("m1", []trace.Model{{ID: "m1", Name: "One"}, {ID: "m2", Name: "Two"}})}
	if d := cmp.Diff(want, host.Notes()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestTheModelIsChosenForTheNextTurn: also when another process takes over.
func TestTheModelIsChosenForTheNextTurn(t *testing.T) {
	t.Parallel()
	host := agenttest.NewHost()
	s := agenttest.Open(t, fakeRuntime(t, "leaves"), host, agent.Config{})
	controlled, ok := s.(agent.Controllable)
	if !ok {
		t.Fatal("the session has no controls")
	}
	if err := controlled.Controls().SetModel(t.Context(), "m2"); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		events, _ := agenttest.Turn(t, s, host, agenttest.Prompt("model"))
		if said := agenttest.Said(events); !strings.Contains(said, "m2") {
			t.Errorf("it said %q", said)
		}
	}
}

func TestCodexGetsAttachments(t *testing.T) {
	t.Parallel()
	host := agenttest.NewHost()
	s := agenttest.Open(t, fakeRuntime(t, "echo"), host, agent.Config{})
	for want, part := range map[string]trace.InputPart{
		`{"type":"image","url":"data:image/png;base64,aGk="}`:                                                             {MediaType: "image/png", URL: "data:image/png;base64,aGk="},
		`{"type":"text","text":"[The user attached the file b.png: https://a/b.png]"}`:                                    {MediaType: "image/png", URL: "https://a/b.png", Filename: "b.png"},
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

// TestTheConversationIsReadForAnEndThatDoesNotCome: the next turn is one of its own.
func TestTheConversationIsReadForAnEndThatDoesNotCome(t *testing.T) {
	t.Parallel()
	host := agenttest.NewHost()
	s := agenttest.Open(t, fakeRuntime(t, "plain"), host, agent.Config{})
	for prompt, want := range map[string]string{"no end": "half a sentence. The end.\n", "hello": "half a sentence\n"} {
		if events, stop := agenttest.Turn(t, s, host, agenttest.Prompt(prompt)); stop.Outcome != trace.OutcomeCompleted || agenttest.Said(events) != want {
			t.Errorf("%s: it said %q and ended as %+v", prompt, agenttest.Said(events), stop)
		}
	}
}
