//go:build unix

package codex_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/adapter/codex"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/internal/testkit/realagent"
	"github.com/tributary-dev/tributary/policy/workspace"
	"github.com/tributary-dev/tributary/trace"
)

// realAgent is the real Codex with a scripted model.
type realAgent struct{ realagent.Agent }

func realCodex(t *testing.T) realAgent {
	t.Helper()
	return realAgent{realagent.Get(t, "codex")}
}

func (a realAgent) runtime() codex.Runtime { return codex.Runtime{Command: a.Path, Env: a.Env} }

// session opens a session with the real Codex.
func (a realAgent) session(t *testing.T, r codex.Runtime, host agent.Host, resume string) agent.Session {
	t.Helper()
	return agenttest.Open(t, r, host, agent.Config{Cwd: a.Dir, Resume: resume})
}

// TestRealCodex runs the suite of all adapters against the real Codex.
func TestRealCodex(t *testing.T) {
	real := realCodex(t)
	agenttest.Run(t, agenttest.Suite{
		Open: func(testing.TB) agent.Runtime { return real.runtime() },
		Config: func(testing.TB) agent.Config {
			return agent.Config{SessionID: "session", Cwd: real.Dir, StateDir: t.TempDir()}
		},
		Prompts: map[agenttest.Ability]string{
			agenttest.Text:       "[[script:think]]",
			agenttest.Slow:       "[[script:slow 100]]",
			agenttest.Permission: "[[script:shell touch " + real.Dir + "/touched]]",
			agenttest.Tell:       "[[script:plain]] The word is heron.",
			agenttest.Recall:     "[[script:recall]]",
		},
		Runs:    agenttest.Leaves(func() string { return real.Dir + "/touched" }, `{"command":"touch `+real.Dir+`/touched"}`),
		Decoder: func() agent.Decoder { return codex.NewDecoder(codex.Options{}) },
		Without: agenttest.WithoutFaults("the fake agent plays them"),
		Word:    "heron",
		Turns: []string{
			"[[script:read " + real.Dir + "/hello.txt]]",
			"[[script:both " + real.Dir + "/hello.txt]]",
			"[[script:chain " + real.Dir + "/hello.txt]]",
			"[[script:error 400]]",
			"[[script:error-cut]]",
			"[[script:empty]]",
			"[[script:big 600]]",
		},
		Bound: 30 * time.Second,
	})
}

func TestRealCodexTellsItsVersion(t *testing.T) {
	t.Parallel()
	real := realCodex(t)
	if version, err := real.runtime().Probe(t.Context()); err != nil || version != real.Package.Version {
		t.Errorf("Probe says %q, %v; want %s", version, err, real.Package.Version)
	}
}

// TestRealCodexAsksBeforeEverything: not even a file outside the workspace is read
// without the policy.
func TestRealCodexAsksBeforeEverything(t *testing.T) {
	t.Parallel()
	real := realCodex(t)
	host := agenttest.NewHost()
	host.OnPermit = func(context.Context, trace.PermissionRequest) trace.PermissionResponse {
		return trace.PermissionResponse{Outcome: trace.Selected, ChosenOption: "decline", OptionKind: trace.RejectOnce, By: "tester"}
	}
	s := real.session(t, real.runtime(), host, "")
	for _, prompt := range []string{"[[script:shell cat /etc/hostname]]", "[[script:shell ls]]", "[[script:write " + real.Dir + "/new.txt]]"} {
		events, stop := agenttest.Turn(t, s, host, agenttest.Prompt(prompt))
		if stop.Outcome != trace.OutcomeCompleted {
			t.Errorf("%s: the turn ended as %+v", prompt, stop)
		}
		r := agenttest.Each[trace.ToolResult](events)
		if asked := agenttest.Each[trace.PermissionRequest](events); len(asked) != 1 || len(r) != 1 || r[0].Status != trace.ToolDenied {
			t.Errorf("%s: it asked %+v and the results are %+v", prompt, asked, r)
		}
	}
	if _, err := os.Stat(filepath.Join(real.Dir, "new.txt")); err == nil {
		t.Error("the denied file was written")
	}
}

func allow(context.Context, trace.PermissionRequest) trace.PermissionResponse {
	return trace.PermissionResponse{Outcome: trace.Selected, ChosenOption: "accept", By: "tester"}
}

func TestRealCodexAsksAgainAfterAnAlways(t *testing.T) {
	t.Parallel()
	real := realCodex(t)
	host := agenttest.NewHost()
	host.OnPermit = func(_ context.Context, r trace.PermissionRequest) trace.PermissionResponse {
		i := slices.IndexFunc(r.Options, func(o trace.PermissionOption) bool { return o.OptionKind == trace.AllowAlways })
		return trace.PermissionResponse{Outcome: trace.Selected, ChosenOption: r.Options[i].ID, OptionKind: trace.AllowAlways, By: "tester"}
	}
	s := real.session(t, real.runtime(), host, "")
	for i := range 2 { // the gateway keeps the "always", so the agent asks again
		events, stop := agenttest.Turn(t, s, host, agenttest.Prompt("[[script:shell touch "+real.Dir+"/always]]"))
		if stop.Outcome != trace.OutcomeCompleted {
			t.Errorf("turn %d ended as %+v", i+1, stop)
		}
		if got := len(agenttest.Each[trace.PermissionRequest](events)); got != 1 {
			t.Errorf("turn %d asked %d times", i+1, got)
		}
		if r := agenttest.Each[trace.ToolResult](events); len(r) != 1 || r[0].Status != trace.ToolCompleted {
			t.Errorf("turn %d: %+v", i+1, r)
		}
	}
}

func TestRealCodexReportsThePatch(t *testing.T) {
	t.Parallel()
	real := realCodex(t)
	host := agenttest.NewHost()
	files, err := workspace.Open(real.Dir) // else no word behind an @ is proven harmless, and the patch has @@
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = files.Close() })
	host.Dir = files
	host.OnPermit = allow
	s := real.session(t, real.runtime(), host, "")
	events, _ := agenttest.Turn(t, s, host, agenttest.Prompt(`[[script:call exec_command {"cmd":"apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: hello.txt\n*** Move to: moved.txt\n@@\n-hello from a file\n+goodbye\n*** Add File: sub/new.txt\n+one\n+two\n*** End Patch\nEOF"}]]`))
	var got []string
	for _, c := range agenttest.Each[trace.FileChange](events) {
		name, _ := filepath.Rel(real.Dir, c.Path)
		got = append(got, string(c.Change)+" "+name+"\n"+strings.ReplaceAll(c.Diff, real.Dir, ""))
	}
	want := []string{
		"moved moved.txt\n--- /hello.txt\n+++ /moved.txt\n@@ -1 +1 @@\n-hello from a file\n+goodbye\n",
		"created sub/new.txt\n--- /dev/null\n+++ /sub/new.txt\n@@ -0,0 +1,2 @@\n+one\n+two\n",
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("the changes are %q, want %q", got, want)
	}
	if kinds := agenttest.Each[trace.ToolCall](events); len(kinds) == 0 || kinds[0].ToolKind != trace.ToolMove {
		t.Errorf("the call is %+v, want one of the kind move", kinds)
	}
}

func TestRealCodexReportsErrorsPlainly(t *testing.T) {
	t.Parallel()
	real := realCodex(t)
	for prompt, want := range map[string]string{
		"[[script:error 400]]":   "scripted error 400",
		"[[script:error 500]]":   "high demand",
		"[[script:error-event]]": "scripted failure",
		"[[script:error 401]]":   "run `codex login`",
	} {
		host := agenttest.NewHost()
		s := real.session(t, real.runtime(), host, "")
		if _, stop := agenttest.Turn(t, s, host, agenttest.Prompt(prompt)); stop.Outcome != trace.OutcomeFailed || !strings.Contains(stop.Error, want) {
			t.Errorf("%s ended as %+v, want %q", prompt, stop, want)
		}
		if _, stop := agenttest.Turn(t, s, host, agenttest.Prompt("[[script:plain]]")); stop.Outcome != trace.OutcomeCompleted {
			t.Errorf("the turn after %s ended as %+v", prompt, stop)
		}
	}
}

func TestRealCodexTakesAMessageInMidTurn(t *testing.T) {
	t.Parallel()
	real := realCodex(t)
	host := agenttest.NewHost()
	s := real.session(t, real.runtime(), host, "")
	p := agenttest.Prompt("[[script:slow 20]]")
	r := host.Turn(p)
	done := make(chan error, 1)
	go func() { done <- s.Prompt(t.Context(), p, r.Builder) }()
	if _, err := r.Await(t.Context(), func(e trace.Event) bool { _, ok := e.Payload.(trace.MessageDelta); return ok }); err != nil {
		t.Fatal(err)
	}
	controlled, ok := s.(agent.Controllable)
	if !ok {
		t.Fatal("the session has no controls")
	}
	if err := controlled.Controls().Steer(t.Context(), agenttest.Prompt("[[script:plain]]")); err != nil {
		t.Error(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	if err := r.Finish(trace.Stop{Outcome: trace.OutcomeCompleted}); err != nil {
		t.Error(err)
	}
	if said := agenttest.Said(r.Events()); !strings.Contains(said, "This is a plain answer.") {
		t.Errorf("it said %q", said)
	}
	if err := controlled.Controls().Steer(t.Context(), agenttest.Prompt("late")); err == nil {
		t.Error("a message without a turn was taken")
	}
}

// TestRealCodexTakesFiles: the model gets the files, not only the agent.
func TestRealCodexTakesFiles(t *testing.T) {
	t.Parallel()
	real := realCodex(t)
	host := agenttest.NewHost()
	s := real.session(t, real.runtime(), host, "")
	p := agenttest.Prompt("")
	p.Message.Parts = agenttest.FileParts("[[script:plain]]")
	if _, stop := agenttest.Turn(t, s, host, p); stop.Outcome != trace.OutcomeCompleted {
		t.Errorf("the turn ended as %+v", stop)
	}
	agenttest.CheckFiles(t, real.Model.Asked(), "point.png", "notes.txt")
}

// TestRealCodexHasOneWriter: the conversation is open in another process.
func TestRealCodexHasOneWriter(t *testing.T) {
	t.Parallel()
	real := realCodex(t)
	host := agenttest.NewHost()
	s := real.session(t, real.runtime(), host, "")
	agenttest.Turn(t, s, host, agenttest.Prompt("[[script:plain]]"))
	_, err := real.runtime().Open(t.Context(), agenttest.NewHost(), agent.Config{Cwd: real.Dir, Resume: host.Token()})
	if err == nil || !strings.Contains(err.Error(), "another Codex works on this conversation") {
		t.Errorf("the second Open says %v", err)
	}
}

func TestRealCodexForgets(t *testing.T) {
	t.Parallel()
	real := realCodex(t)
	for _, token := range []string{"01a206ca-752b-71c3-817b-33c58325ffff@01a206ca-752b-71c3-817b-33c58325fffe", "nonsense"} {
		host := agenttest.NewHost()
		s := real.session(t, real.runtime(), host, token)
		events, stop := agenttest.Turn(t, s, host, agenttest.Prompt("[[script:plain]]"))
		if stop.Outcome != trace.OutcomeCompleted {
			t.Errorf("the turn ended as %+v", stop)
		}
		if told := agenttest.Each[trace.Error](events); len(told) != 1 || told[0].Code != "session_lost" {
			t.Errorf("errors on record: %+v", told)
		}
	}
}

func TestRealCodexNeedsALogin(t *testing.T) {
	t.Parallel()
	real := realCodex(t)
	r := real.runtime()
	r.Env = append(slices.Clone(r.Env), "CODEX_HOME="+t.TempDir())
	_, err := r.Open(t.Context(), agenttest.NewHost(), agent.Config{Cwd: real.Dir})
	if err == nil || !strings.Contains(err.Error(), "it is not logged in — run `codex login`") {
		t.Errorf("Open says %v", err)
	}
}
