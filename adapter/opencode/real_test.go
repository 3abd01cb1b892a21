//go:build unix

package opencode_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/adapter/opencode"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/internal/testkit/realagent"
	"github.com/tributary-dev/tributary/trace"
)

// real is a real OpenCode with a scripted model.
type real struct {
	path, dir, home string
	env             []string
}

// realOpenCode skips the test unless TRIBUTARY_TEST_AGENTS asks for the agents that `make
// test` does not run.
func realOpenCode(t *testing.T) real {
	t.Helper()
	if which := os.Getenv("TRIBUTARY_TEST_AGENTS"); which != "others" && which != "all" {
		t.Skip("the real OpenCode runs with TRIBUTARY_TEST_AGENTS=others: make test-agents")
	}
	a := realagent.Get(t, "opencode")
	return real{path: a.Path, dir: a.Dir, home: a.Home, env: a.Env}
}

func (r real) open(t *testing.T, host agent.Host, resume string) agent.Session {
	t.Helper()
	return agenttest.Open(t, r.runtime(), host, agent.Config{
		Cwd: r.dir, Resume: resume, Logger: slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
}

func (r real) runtime() opencode.Runtime { return opencode.Runtime{Command: r.path, Environ: r.env} }

func TestRealOpenCode(t *testing.T) {
	real := realOpenCode(t)
	host := agenttest.NewHost()
	host.OnPermit = agenttest.Choose(trace.AllowOnce)
	host.OnAsk = func(context.Context, trace.Question) trace.Answer {
		return trace.Answer{Outcome: trace.Selected, Values: []string{"Blue"}, By: "tester"}
	}
	s := real.open(t, host, "")

	for name, c := range map[string]struct {
		prompt, say string
		tools       int
	}{
		"plain":    {"[[script:plain]]", "plain answer", 0},
		"tool":     {"[[script:read " + real.dir + "/hello.txt]]", "hello from a file", 1},
		"parallel": {"[[script:both " + real.dir + "/hello.txt]]", "Done", 2},
		"chain":    {"[[script:chain " + real.dir + "/hello.txt]]", "hello.txt.out", 3},
		"question": {"[[script:ask Colour? | Red | Blue]]", "Blue", 1},
		"plan":     {"[[script:plan A | B | C]]", "Done", 1},
		"subagent": {`[[script:call task {"description":"sub","subagent_type":"general","prompt":"[[script:shell echo from below]]"}]]`, "from below", 2},
	} {
		t.Run(name, func(t *testing.T) {
			events, stop := agenttest.Turn(t, s, host, agenttest.Prompt(c.prompt))
			results := agenttest.Each[trace.ToolResult](events)
			if stop.Outcome != trace.OutcomeCompleted || !strings.Contains(agenttest.Said(events), c.say) || len(results) != c.tools {
				t.Errorf("it ended as %+v after %d results and said %q", stop, len(results), agenttest.Said(events))
			}
			for _, r := range results {
				if r.Status != trace.ToolCompleted {
					t.Errorf("a result is %+v", r)
				}
			}
			asked := len(agenttest.Each[trace.PermissionRequest](events))
			if want := c.tools; name != "question" && name != "plan" && asked != want {
				t.Errorf("%d permission requests, want %d", asked, want)
			}
		})
	}
	t.Run("model error", func(t *testing.T) {
		_, stop := agenttest.Turn(t, s, host, agenttest.Prompt("[[script:error 400]]"))
		if stop.Outcome != trace.OutcomeFailed || !strings.Contains(stop.Error, "scripted error 400") {
			t.Errorf("it ended as %+v", stop)
		}
	})
	t.Run("endless retries are told and can be stopped", func(t *testing.T) {
		events, stop := agenttest.TurnWhile(t, s, host, agenttest.Prompt("[[script:error 500]]"), func(stop func(), r *agenttest.Recorder) {
			if told := agenttest.Until[trace.Error](t, r); told.Code != "retry" || !strings.Contains(told.Message, "scripted error 500") {
				t.Errorf("the user sees %+v", told)
			}
			stop()
		})
		if stop.Outcome != trace.OutcomeCanceled {
			t.Errorf("it ended as %+v, in\n%s", stop, agenttest.Said(events))
		}
	})
	t.Run("an error in mid-stream, and its retry", func(t *testing.T) {
		events, stop := agenttest.Turn(t, s, host, agenttest.Prompt("[[script:error-event-once x1]]"))
		if said := agenttest.Said(events); stop.Outcome != trace.OutcomeCompleted || strings.Count(said, "Partial answer") > 1 {
			t.Errorf("it said %q and ended as %+v", said, stop)
		}
	})
	t.Run("stop in text", func(t *testing.T) {
		events, stop := agenttest.TurnWhile(t, s, host, agenttest.Prompt("[[script:slow 100]]"), func(stop func(), r *agenttest.Recorder) {
			agenttest.Until[trace.MessageDelta](t, r)
			stop()
		})
		if stop.Outcome != trace.OutcomeCanceled || agenttest.Said(events) == "" {
			t.Errorf("it ended as %+v", stop)
		}
	})
	t.Run("the next turn after a stop", func(t *testing.T) {
		events, stop := agenttest.Turn(t, s, host, agenttest.Prompt("[[script:plain]]"))
		if stop.Outcome != trace.OutcomeCompleted || !strings.Contains(agenttest.Said(events), "plain answer") {
			t.Errorf("it ended as %+v in\n%s", stop, agenttest.Said(events))
		}
	})
}

func TestRealPermissions(t *testing.T) {
	real := realOpenCode(t)
	host := agenttest.NewHost()
	s := real.open(t, host, "")
	file := func(name string) string { return filepath.Join(real.dir, name) }
	exists := func(name string) bool { _, err := os.Stat(file(name)); return err == nil }

	host.OnPermit = agenttest.Choose(trace.RejectOnce)
	events, stop := agenttest.Turn(t, s, host, agenttest.Prompt("[[script:shell touch "+file("denied")+"]]"))
	if results := agenttest.Each[trace.ToolResult](events); stop.Outcome != trace.OutcomeCompleted || exists("denied") || results[0].Status != trace.ToolDenied {
		t.Errorf("denied: %+v in\n%s", stop, agenttest.Said(events))
	}
	if !strings.Contains(agenttest.Said(events), "it was denied") {
		t.Errorf("the model did not learn of the denial: %q", agenttest.Said(events))
	}
	host.OnPermit = agenttest.Choose(trace.AllowAlways) // the gateway keeps that, so the agent asks again
	events, _ = agenttest.Turn(t, s, host, agenttest.Prompt("[[script:shell touch "+file("one")+"]]"))
	if asked := agenttest.Each[trace.PermissionRequest](events); len(asked) != 1 || !exists("one") {
		t.Errorf("always: %+v", asked)
	}
	events, _ = agenttest.Turn(t, s, host, agenttest.Prompt("[[script:shell touch "+file("two")+"]]"))
	if asked := agenttest.Each[trace.PermissionRequest](events); len(asked) != 1 || !exists("two") {
		t.Errorf("after always: %+v", asked)
	}
	wait := make(chan struct{})
	defer close(wait)
	host.OnPermit = func(ctx context.Context, _ trace.PermissionRequest) trace.PermissionResponse {
		select {
		case <-ctx.Done():
		case <-wait:
		}
		return trace.PermissionResponse{Outcome: trace.Canceled}
	}
	events, stop = agenttest.TurnWhile(t, s, host, agenttest.Prompt("[[script:write "+file("three")+"]]"), func(stop func(), r *agenttest.Recorder) {
		agenttest.Until[trace.PermissionRequest](t, r)
		stop()
	})
	if stop.Outcome != trace.OutcomeCanceled || exists("three") {
		t.Errorf("stopped at a permission: %+v in\n%s", stop, agenttest.Said(events))
	}
	host.OnPermit = agenttest.Choose(trace.AllowOnce)
	events, stop = agenttest.Turn(t, s, host, agenttest.Prompt("[[script:write "+file("four")+"]]"))
	if changes := agenttest.Each[trace.FileChange](events); stop.Outcome != trace.OutcomeCompleted || !exists("four") || len(changes) != 1 || changes[0].Change != trace.FileCreated || changes[0].Diff == "" {
		t.Errorf("the turn after it: %+v in\n%s", stop, agenttest.Said(events))
	}
}

func TestRealResumeAndRewind(t *testing.T) {
	real := realOpenCode(t)
	host := agenttest.NewHost()
	first := real.open(t, host, "")
	agenttest.Turn(t, first, host, agenttest.Prompt("[[script:plain]] The word is heron."))
	early := host.Token()
	agenttest.Turn(t, first, host, agenttest.Prompt("[[script:plain]] The other word is wren."))
	late := host.Token()
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	events, _ := agenttest.Turn(t, real.open(t, host, late), host, agenttest.Prompt("[[script:recall]]"))
	if said := agenttest.Said(events); !strings.Contains(said, "heron") || !strings.Contains(said, "wren") {
		t.Errorf("resumed, it says %q", said)
	}
	events, _ = agenttest.Turn(t, real.open(t, host, early), host, agenttest.Prompt("[[script:recall]]"))
	if said := agenttest.Said(events); !strings.Contains(said, "heron") || strings.Contains(said, "wren") {
		t.Errorf("rewound, it says %q", said)
	}
	events, _ = agenttest.Turn(t, real.open(t, host, "ses_e06777d7effe4dNclYuEoePiYv@msg_1"), host, agenttest.Prompt("[[script:plain]]"))
	if told := agenttest.Each[trace.Error](events); len(told) != 1 || told[0].Code != "session_lost" {
		t.Errorf("a lost place is reported as %+v", told)
	}
}

func TestRealSuite(t *testing.T) {
	real := realOpenCode(t)
	agenttest.Run(t, agenttest.Suite{
		Open: func(testing.TB) agent.Runtime { return real.runtime() },
		Config: func(testing.TB) agent.Config {
			return agent.Config{SessionID: "session", Cwd: real.dir, StateDir: t.TempDir()}
		},
		Prompts: map[agenttest.Ability]string{
			agenttest.Text:       "[[script:think]]",
			agenttest.Slow:       "[[script:slow 100]]",
			agenttest.Permission: "[[script:shell touch " + real.dir + "/touched]]",
			agenttest.Question:   "[[script:ask Colour? | Red | Blue]]",
			agenttest.Tell:       "[[script:plain]] The word is heron.",
			agenttest.Recall:     "[[script:recall]]",
		},
		Runs:    agenttest.Leaves(func() string { return real.dir + "/touched" }, `{"command":"touch `+real.dir+`/touched"}`),
		Without: agenttest.WithoutFaults("the fake agent plays them"),
		Word:    "heron",
		Turns:   []string{"[[script:chain " + real.dir + "/hello.txt]]", "[[script:error 400]]", "[[script:empty]]", "[[script:big 600]]"},
		Bound:   60 * time.Second,
	})
}
