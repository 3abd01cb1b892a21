//go:build unix

package claude_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/adapter/claude"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/internal/testkit/realagent"
	"github.com/tributary-dev/tributary/internal/testkit/scriptedmodel"
	"github.com/tributary-dev/tributary/policy/permission"
	"github.com/tributary-dev/tributary/policy/toolkind"
	"github.com/tributary-dev/tributary/trace"
)

const askColour = `[[script:call AskUserQuestion {"questions":[{"question":"Which colour?","header":"Colour","multiSelect":false,"options":[{"label":"Red","description":"r"},{"label":"Blue","description":"b"}]}]}]]`

// TestRealClaude runs the suite of all adapters against the real Claude Code,
// with a scripted model.
func TestRealClaude(t *testing.T) {
	real := realagent.Claude(t)
	agenttest.Run(t, agenttest.Suite{
		Open: func(testing.TB) agent.Runtime {
			return claude.Runtime{Command: real.Path, Env: real.Env}
		},
		Config: func(testing.TB) agent.Config {
			return agent.Config{SessionID: "session", Cwd: real.Dir, StateDir: t.TempDir()}
		},
		Prompts: map[agenttest.Ability]string{
			agenttest.Text:       "[[script:think]]",
			agenttest.Slow:       "[[script:slow 100]]",
			agenttest.Permission: "[[script:shell touch " + real.Dir + "/touched]]",
			agenttest.Question:   askColour,
			agenttest.Tell:       "[[script:plain]] The word is heron.",
			agenttest.Recall:     "[[script:recall]]",
		},
		Runs:    agenttest.Leaves(func() string { return real.Dir + "/touched" }, `{"command":"touch `+real.Dir+`/touched"}`),
		Decoder: func() agent.Decoder { return claude.NewDecoder(claude.Options{}) },
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
		Bound: time.Minute,
	})
}

func TestProbeRealClaude(t *testing.T) {
	t.Parallel()
	real := realagent.Claude(t)
	version, err := claude.Runtime{Command: real.Path, Env: real.Env}.Probe(t.Context())
	if err != nil || !strings.HasSuffix(real.Package.String(), "@"+version) {
		t.Errorf("Probe says %q, %v; want the version of %s", version, err, real.Package)
	}
}

// realSession opens a session with the real Claude Code.
func realSession(t *testing.T, real realagent.Agent, host agent.Host, resume string) agent.Session {
	t.Helper()
	return agenttest.Open(t, claude.Runtime{Command: real.Path, Env: real.Env}, host, agent.Config{Cwd: real.Dir, Resume: resume})
}

func TestRealClaudeForgets(t *testing.T) {
	t.Parallel()
	real := realagent.Claude(t)
	host := agenttest.NewHost()
	s := realSession(t, real, host, "99999999-2222-4333-8444-555555555555")
	events, stop := agenttest.Turn(t, s, host, agenttest.Prompt("[[script:plain]]"))
	if stop.Outcome != trace.OutcomeCompleted {
		t.Errorf("the turn ended as %+v", stop)
	}
	if told := agenttest.Each[trace.Error](events); len(told) != 1 || told[0].Code != "session_lost" {
		t.Errorf("errors on record: %+v", told)
	}
}

// An "always" is a grant of the session. Claude Code learns of one call only, and asks again.
func TestRealClaudeRemembersNoAlways(t *testing.T) {
	t.Parallel()
	real := realagent.Claude(t)
	host := agenttest.NewHost()
	host.OnPermit = func(_ context.Context, r trace.PermissionRequest) trace.PermissionResponse {
		return trace.PermissionResponse{Outcome: trace.Selected, ChosenOption: "always", By: "tester"}
	}
	s := realSession(t, real, host, "")
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
	if _, err := os.Stat(filepath.Join(real.Dir, ".claude")); err == nil {
		t.Error("the agent wrote a rule into the workspace")
	}
}

// Claude Code reads and searches its directory without a request, and leaves out what is closed.
func TestRealClaudeLeavesClosedFilesAlone(t *testing.T) {
	t.Parallel()
	real := realagent.Claude(t)
	const secret = "the-secret-of-the-gateway"
	for _, name := range []string{"key (1), [a].txt", "sub/token", "open.txt"} {
		path := filepath.Join(real.Dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(secret+" of "+filepath.Base(name)+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("sub/token", filepath.Join(real.Dir, "link")); err != nil {
		t.Fatal(err)
	}
	closed := []string{filepath.Join(real.Dir, "key (1), [a].txt"), filepath.Join(real.Dir, "link"), t.TempDir()}
	host := agenttest.NewHost()
	host.OnPermit = func(context.Context, trace.PermissionRequest) trace.PermissionResponse {
		return trace.PermissionResponse{Outcome: trace.Selected, ChosenOption: "deny", By: "tester"}
	}
	host.Judge = func(r trace.PermissionRequest, c trace.ToolCall) (trace.PermissionResponse, bool) { // without the gateway's own rule for closed files
		return permission.Default().Decide(r, c, permission.Scope{Tools: toolkind.Claude(), Contains: func(string) bool { return true }})
	}
	s := agenttest.Open(t, claude.Runtime{Command: real.Path, Env: real.Env}, host, agent.Config{Cwd: real.Dir, Closed: closed})
	for script, open := range map[string]bool{
		"read " + real.Dir + "/key (1), [a].txt": false, "read " + real.Dir + "/sub/token": false, "read " + real.Dir + "/link": false,
		"read " + real.Dir + "/open.txt": true, "shell cat sub/token": false, "shell cat open.txt": false, "shell grep -r the-secret sub": false, "shell grep -r the-secret .": false,
	} {
		events, _ := agenttest.Turn(t, s, host, agenttest.Prompt("[[script:"+script+"]]"))
		if asked := len(agenttest.Each[trace.PermissionRequest](events)); strings.HasPrefix(script, "shell grep") && asked != 1 {
			t.Errorf("%s asks %d times", script, asked)
		}
		results := agenttest.Each[trace.ToolResult](events)
		text, err := json.Marshal(results)
		if err != nil {
			t.Fatal(err)
		}
		said := string(text)
		if len(results) != 1 || strings.Contains(said, secret) != open || strings.Contains(said, secret+" of token") || strings.Contains(said, secret+" of key") {
			t.Errorf("%s: %s", script, said)
		}
	}
}

// TestRealClaudeReportsLater: a sub-agent outlives the turn that started it, and
// its report is a turn that nobody asked for.
func TestRealClaudeReportsLater(t *testing.T) {
	t.Parallel()
	real := realagent.Claude(t)
	host := agenttest.NewHost()
	s := realSession(t, real, host, "")
	_, stop := agenttest.Turn(t, s, host, agenttest.Prompt(`[[script:call Task {"description":"sub task","subagent_type":"general-purpose","prompt":"[[script:read `+real.Dir+`/hello.txt]]"}]]`))
	if stop.Outcome != trace.OutcomeCompleted {
		t.Fatalf("the turn ended as %+v", stop)
	}
	deadline := time.After(20 * time.Second)
	for len(host.Begun()) == 0 {
		select {
		case <-deadline:
			t.Fatal("the report began no turn")
		case <-time.After(20 * time.Millisecond):
		}
	}
	r := host.Begun()[0]
	select {
	case <-deadline:
		t.Fatal("the report's turn did not end")
	case <-r.Ended():
	}
	verdict, _ := r.Result()
	if err := r.Finish(verdict); err != nil {
		t.Fatal(err)
	}
	if err := agenttest.CheckTurn(r.Events()); err != nil {
		t.Error(err)
	}
	if verdict.Outcome != trace.OutcomeCompleted {
		t.Errorf("it ended as %+v", verdict)
	}
	// The conversation goes on.
	if _, stop := agenttest.Turn(t, s, host, agenttest.Prompt("[[script:plain]]")); stop.Outcome != trace.OutcomeCompleted {
		t.Errorf("the next turn ended as %+v", stop)
	}
}

// TestRealClaudeCountsItsSubAgents: the turn's tokens are the agent's and those of a sub-agent
// that calls the model several times.
func TestRealClaudeCountsItsSubAgents(t *testing.T) {
	t.Parallel()
	real := realagent.Claude(t)
	host := agenttest.NewHost()
	host.OnPermit = func(_ context.Context, r trace.PermissionRequest) trace.PermissionResponse {
		return trace.PermissionResponse{Outcome: trace.Selected, ChosenOption: "allow", OptionKind: trace.AllowOnce}
	}
	s := realSession(t, real, host, "")
	events, stop := agenttest.Turn(t, s, host, agenttest.Prompt(`[[script:call Task {"description":"sub task","subagent_type":"general-purpose","run_in_background":false,"prompt":"[[script:chain `+real.Dir+`/hello.txt]]"}]]`))
	if stop.Outcome != trace.OutcomeCompleted {
		t.Fatalf("the turn ended as %+v", stop)
	}
	var sum, turn trace.Usage
	calls := 0
	for _, e := range events {
		u, _ := e.Payload.(trace.Usage)
		switch _, sub := e.Actor.SubagentCall(); {
		case u.Scope == trace.UsageTurn:
			turn = u
		case u.Scope == trace.UsageStep:
			sum = sum.Plus(u)
			if sub {
				calls++
			}
		}
	}
	if tokens(sum) != tokens(turn) || calls < 3 || turn.CostUSD == nil {
		t.Errorf("%d model calls of the sub-agent; the steps have used %v, and the turn %v", calls, tokens(sum), tokens(turn))
	}
}

// TestRealClaudeTakesFiles: the model gets the files, not only the agent.
func TestRealClaudeTakesFiles(t *testing.T) {
	t.Parallel()
	real := realagent.Claude(t)
	host := agenttest.NewHost()
	s := realSession(t, real, host, "")
	p := agenttest.Prompt("")
	p.Message.Parts = agenttest.FileParts("[[script:plain]]")
	if _, stop := agenttest.Turn(t, s, host, p); stop.Outcome != trace.OutcomeCompleted {
		t.Errorf("the turn ended as %+v", stop)
	}
	agenttest.CheckFiles(t, real.Model.Asked(), "point.png", "notes.txt", "paper.pdf", "web.png")
}

// TestRealClaudeRewinds: whatever a turn was, the token after it is a place that
// is found again, and nothing that came later reaches the model. The newest comes
// first: what is gone back behind is found no more. All turns are gone back to with TRIBUTARY_TEST_FULL=1;
// otherwise the beginning, the sub-agent, and half of the others, by chance: each is a process of its own.
//
//evidence:for promise-rewind
func TestRealClaudeRewinds(t *testing.T) {
	t.Parallel()
	real := realagent.Claude(t)
	host := agenttest.NewHost()
	s := realSession(t, real, host, "")
	scripts := []string{
		"[[script:plain]]",
		"[[script:both " + real.Dir + "/hello.txt]]",
		"[[script:error 400]]",
		"[[script:empty]]",
		"[[script:error-event-once back]]",
		"[[script:error-cut]]",
		"[[script:slow 100]]",
		// Closed before its report: a session that is resumed here learns that its place is lost.
		`[[script:call Task {"description":"sub task","subagent_type":"general-purpose","prompt":"[[script:slow 1000]]"}]]`,
	}
	mark := func(i int) string { return "mark-" + string(rune('A'+i)) }
	tokens := []string{host.Token()}
	for i, script := range scripts {
		ctx, cancel := context.WithCancel(t.Context())
		p := agenttest.Prompt(script + " " + mark(i))
		r := host.Turn(p)
		if script == "[[script:slow 100]]" {
			go func() {
				_, _ = r.Await(t.Context(), func(e trace.Event) bool { _, is := e.Payload.(trace.MessageDelta); return is })
				cancel()
			}()
		}
		if err := s.Prompt(ctx, p, r.Builder); err != nil {
			t.Fatal(err)
		}
		cancel()
		tokens = append(tokens, host.Token())
		if err := r.Finish(trace.Stop{Outcome: trace.OutcomeCompleted}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	// A token of an older version names the conversation only, and resumes it whole.
	conversation, _, _ := strings.Cut(tokens[len(scripts)], "@")
	s = realSession(t, real, host, conversation)
	agenttest.Turn(t, s, host, agenttest.Prompt("[[script:recall]]"))
	if sent := string(newestRequest(real).Body); !strings.Contains(sent, mark(0)) || !strings.Contains(sent, mark(len(scripts)-1)) {
		t.Error("resumed by its id the agent does not know the conversation")
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	played := agenttest.Random(t).Perm(len(scripts) - 1)[:(len(scripts)-1)/2]
	for i := len(scripts); i >= 0; i-- {
		if !(claude.Runtime{}).Rewinds(tokens[i]) {
			t.Errorf("the token %q after %d turns names no moment", tokens[i], i)
		}
		if i > 0 && i < len(scripts) && !slices.Contains(played, i-1) && !agenttest.Full() {
			continue
		}
		s := realSession(t, real, host, tokens[i])
		events, _ := agenttest.Turn(t, s, host, agenttest.Prompt("[[script:recall]]"))
		if told := agenttest.Each[trace.Error](events); len(told) != 0 {
			t.Errorf("after %d turns: %+v", i, told)
		}
		sent := string(newestRequest(real).Body)
		for j := range scripts {
			if got, want := strings.Contains(sent, mark(j)), j < i; got != want {
				t.Errorf("back to after %d turns: turn %d is sent to the model: %v, want %v", i, j+1, got, want)
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// newestRequest is what the model was sent last for an answer.
func newestRequest(real realagent.Agent) (newest scriptedmodel.Request) {
	for _, r := range real.Model.Requests() {
		if r.Kind == "answer" {
			newest = r
		}
	}
	return newest
}
