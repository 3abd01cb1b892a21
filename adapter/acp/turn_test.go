package acp_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/internal/testkit/replay/replaytest"
	"github.com/tributary-dev/tributary/policy/permission"
	"github.com/tributary-dev/tributary/trace"
)

// chunk is a line of a recording in which the agent says something.
func chunk(text string) string {
	return out(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"` + text + `"}}`)
}

const (
	opening = `{"dir":"in","msg":{"id":0,"method":"session/new","params":{"cwd":"/w"}}}`
	open    = `{"dir":"out","msg":{"id":0,"result":{"sessionId":"s"}}}`
)

// textsOf is what the agent says in each turn of a recording.
func textsOf(t *testing.T, lines ...string) []string {
	t.Helper()
	p := recordings().Play(t, []byte(strings.Join(lines, "\n")))
	if p.Skipped > 0 {
		t.Fatalf("%d lines were skipped: %v", p.Skipped, p.First)
	}
	all := []string{}
	for _, records := range p.Turns {
		all = append(all, strings.TrimSpace(agenttest.Said(replaytest.Events(records))))
	}
	return all
}

func TestWordsOutsideATurnAreNotLost(t *testing.T) {
	t.Parallel()
	again := strings.Replace(begun, `"id":1`, `"id":2`, 1)
	endedAgain := strings.Replace(ended, `"id":1`, `"id":2`, 1)
	for name, c := range map[string]struct{ lines, want []string }{
		"before the first prompt they belong to its turn": {[]string{opening, chunk("Welcome. "), open, chunk("Ready. "), begun, chunk("hi"), ended}, []string{"Welcome. Ready. hi"}},
		"after a turn they begin one of the agent's own":  {[]string{opening, open, begun, chunk("hi"), ended, chunk("late "), chunk("words")}, []string{"hi", "late words"}},
		"the next prompt ends a turn of the agent's own":  {[]string{opening, open, begun, ended, chunk("late"), again, chunk("hello"), endedAgain}, []string{"", "late", "hello"}},
		"news of a call that is over begin no turn":       {[]string{opening, open, begun, ended, out(`{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"failed"}`)}, []string{""}},
		"the past of a loaded session is no news": {
			[]string{strings.Replace(opening, "session/new", "session/load", 1), chunk("the past"), open, chunk("the past"), begun, chunk("hi"), ended}, []string{"hi"},
		},
	} {
		if got := textsOf(t, c.lines...); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestWordsWithoutEndBeforeTheFirstPrompt: what waits for a turn is bounded by its bytes, too.
//
//evidence:for limit-early
func TestWordsWithoutEndBeforeTheFirstPrompt(t *testing.T) {
	t.Parallel()
	lines := []string{opening, open}
	for range 20 {
		lines = append(lines, chunk(strings.Repeat("x", 100<<10)))
	}
	got := textsOf(t, append(lines, begun, chunk("hi"), ended)...)
	if len(got) != 1 || len(got[0]) > 1<<20 || len(got[0]) < 900<<10 || !strings.HasSuffix(got[0], "hi") {
		t.Errorf("%d turns, the first has %d bytes", len(got), len(got[0]))
	}
}

func TestAModeInAMessageOfGeminiIsNoText(t *testing.T) {
	t.Parallel()
	p := recordings().Play(t, []byte(strings.Join([]string{opening, open, begun, chunk("[MODE_UPDATE] autoEdit"), chunk("hi"), ended}, "\n")))
	if text := strings.TrimSpace(agenttest.Said(replaytest.Events(p.Turns[0]))); text != "hi" {
		t.Errorf("the turn says %q", text)
	}
	told := slices.ContainsFunc(p.Records, func(r trace.Record) bool {
		d, ok := r.Payload.(trace.Data)
		return ok && d.Name == "mode" && strings.Contains(string(d.Value), "autoEdit")
	})
	if !told {
		t.Error("the mode is not on record")
	}
}

func TestAContextSizeAfterATurnIsOnRecordInTheNext(t *testing.T) {
	t.Parallel()
	p := recordings().Play(t, []byte(strings.Join([]string{
		opening, open, begun, ended, out(`{"sessionUpdate":"usage_update","used":7,"size":9}`), strings.Replace(begun, `"id":1`, `"id":2`, 1), strings.Replace(ended, `"id":1`, `"id":2`, 1),
	}, "\n")))
	if len(p.Turns) != 2 {
		t.Fatalf("%d turns", len(p.Turns))
	}
	used := agenttest.Each[trace.Usage](replaytest.Events(p.Turns[1]))
	if len(used) != 1 || used[0].ContextUsed != 7 || used[0].ContextSize != 9 {
		t.Errorf("the usage is %+v", used)
	}
}

// TestATurnOfTheAgentsOwnEndsWhenTheAgentIsQuiet: no message of the protocol ends it.
func TestATurnOfTheAgentsOwnEndsWhenTheAgentIsQuiet(t *testing.T) {
	t.Parallel()
	st := newStage(t, "plain", "")
	if _, text, _ := st.turn(agenttest.Prompt("behind reply 600 a late word")); text != "" {
		t.Errorf("the turn says %q", text)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for len(st.host.Begun()) == 0 {
		select {
		case <-ctx.Done():
			t.Fatal("no turn has begun")
		case <-time.After(10 * time.Millisecond):
		}
	}
	own := st.host.Begun()[0]
	select {
	case <-own.Ended():
	case <-ctx.Done():
		t.Fatal("the turn does not end")
	}
	verdict, _ := own.Result()
	if err := own.Finish(verdict); err != nil {
		t.Fatal(err)
	}
	if text := strings.TrimSpace(agenttest.Said(own.Events())); text != "a late word" || verdict.Outcome != trace.OutcomeCompleted {
		t.Errorf("the agent says %q, and the turn ended as %+v", text, verdict)
	}
	if _, text, _ := st.turn(agenttest.Prompt("hello")); text != "you said: hello" {
		t.Errorf("the next turn says %q", text)
	}
}

func TestTheAgentLearnsThatItsSessionIsClosed(t *testing.T) {
	t.Parallel()
	st := newStage(t, "plain", "")
	if err := st.s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(st.dir, "closed-fake-session")); err != nil {
		t.Error(err)
	}
}

// TestThePolicyJudgesReads: a read by the gateway is a call like any other, but one that
// the policy allows leaves no record.
func TestThePolicyJudgesReads(t *testing.T) {
	t.Parallel()
	policy := permission.Policy{Rules: []permission.Rule{
		{Kinds: []trace.ToolKind{trace.ToolRead}, Paths: []string{"secrets/**"}, Then: permission.Deny},
		{Kinds: []trace.ToolKind{trace.ToolRead}, Paths: []string{"asked/**"}, Then: permission.Ask},
		{Kinds: []trace.ToolKind{trace.ToolRead}, Inside: true, Then: permission.Allow},
	}}
	for name, c := range map[string]struct {
		path    string
		person  func(*agenttest.Host)
		read    bool
		decided []string // for each request on record
	}{
		"an allowed file":                 {"a.txt", says(trace.RejectOnce), true, nil},
		"a denied file":                   {"secrets/key", says(trace.AllowOnce), false, []string{permission.By}},
		"a link to a denied file":         {"link", says(trace.AllowOnce), false, []string{permission.By}},
		"a file that a person allows":     {"asked/a", says(trace.AllowOnce), true, []string{""}},
		"a file that a person refuses":    {"asked/a", says(trace.RejectOnce), false, []string{""}},
		"a file outside: nobody is asked": {"../outside", says(trace.AllowOnce), false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st := newStage(t, "plain", "", c.person, func(h *agenttest.Host) {
				h.Judge = func(r trace.PermissionRequest, call trace.ToolCall) (trace.PermissionResponse, bool) {
					return policy.Decide(r, call, permission.Scope{Contains: h.Dir.Contains, Resolve: h.Dir.Resolve})
				}
			})
			for _, path := range []string{"a.txt", "secrets/key", "asked/a", "../outside"} {
				path = filepath.Join(st.dir, path)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte("the content"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Symlink("secrets/key", filepath.Join(st.dir, "link")); err != nil {
				t.Fatal(err)
			}
			events, text, _ := st.turn(agenttest.Prompt(`client fs/read_text_file {"path":"` + st.dir + "/" + c.path + `"}`))
			if read := text == `{"content":"the content"}`; read != c.read {
				t.Errorf("the agent got %s", text)
			}
			var decided []string
			for _, r := range agenttest.Each[trace.PermissionRequest](events) {
				decided = append(decided, r.DecidedBy)
			}
			results := agenttest.Each[trace.ToolResult](events)
			if !slices.Equal(decided, c.decided) || len(results) != len(c.decided) {
				t.Errorf("requests %q, results %+v", decided, results)
			}
			if len(results) == 1 && (results[0].Status == trace.ToolCompleted) != c.read {
				t.Errorf("the read is on record as %s", results[0].Status)
			}
		})
	}
}

// TestAnInputThatIsWrittenAsTextIsInTheRequest plays Kimi, which shows the input of a call
// as text, asks with a summary, and then uses the gateway.
func TestAnInputThatIsWrittenAsTextIsInTheRequest(t *testing.T) {
	t.Parallel()
	const (
		shows = `{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"in_progress","content":[{"type":"content","content":{"type":"text","text":`
		input = `{"command":"touch x","description":"Make x"}`
	)
	all := events(t,
		`{"dir":"in","msg":{"id":5,"method":"initialize"}}`, `{"dir":"out","msg":{"id":5,"result":{"protocolVersion":1,"agentInfo":{"name":"Kimi Code CLI"}}}}`,
		out(`{"sessionUpdate":"tool_call","toolCallId":"c","title":"Bash","kind":"execute","status":"pending","content":[{"type":"content","content":{"type":"text","text":""}}]}`),
		out(shows+`"{\"command\":"}}]}`),
		out(shows+`"{\"command\":\"touch x\",\"description\":\"Make x\"}"}}]}`),
		`{"dir":"out","msg":{"id":7,"method":"session/request_permission","params":{"toolCall":{"toolCallId":"c","title":"Bash","content":[{"type":"content","content":{"type":"text","text":"Requesting approval to Running: to…"}}]},"options":[{"optionId":"y","kind":"allow_once"}]}}}`,
		`{"dir":"in","msg":{"id":7,"result":{"outcome":{"outcome":"selected","optionId":"y"}}}}`,
		out(`{"sessionUpdate":"tool_call_update","toolCallId":"c","title":"Running: to…","status":"in_progress","rawInput":`+input+`}`),
		`{"dir":"out","msg":{"id":8,"method":"terminal/create","params":{"command":"/bin/bash","args":["-c","touch x"],"env":[{"name":"SHELL","value":"/bin/bash"}]}}}`,
		`{"dir":"in","msg":{"id":8,"result":{"terminalId":"t1"}}}`,
		out(`{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed"}`))
	calls := agenttest.Each[trace.ToolCall](all)
	if len(calls) == 0 || string(calls[0].Input) != input {
		t.Errorf("the calls are %+v", calls)
	}
	if asked := agenttest.Each[trace.PermissionRequest](all); len(asked) != 1 {
		t.Errorf("asked is %+v", asked)
	}
	var grown strings.Builder
	for _, d := range agenttest.Each[trace.ToolCallDelta](all) {
		grown.WriteString(d.Delta)
	}
	if grown.String() != input {
		t.Errorf("the input grew as %s", grown.String())
	}
}
