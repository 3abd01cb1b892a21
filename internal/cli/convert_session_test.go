package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tributary-dev/tributary/trace"
)

// Two recordings are two sessions, so that their traces do not become one where they are stored. The
// same recording is the same session, whatever the name of its file.
func TestConvertNamesTheSessionByTheRecording(t *testing.T) {
	t.Parallel()
	session := func(stdin string, args ...string) string {
		t.Helper()
		got := command(t, stdin, append([]string{"convert", "--from", "claude", "--to", "trace"}, args...)...)
		got.want(t, exitOK, "")
		all := records(t, got.out)
		for _, r := range all {
			if r.Session != all[0].Session {
				t.Errorf("the sessions %s and %s", all[0].Session, r.Session)
			}
		}
		return all[0].Session
	}
	plain, tool := filepath.Join(recordings, "plain.jsonl"), filepath.Join(recordings, "tool.jsonl")
	data, err := os.ReadFile(plain)
	if err != nil {
		t.Fatal(err)
	}
	one := session("", plain)
	if !regexp.MustCompile("^recording-[0-9a-f]{12}$").MatchString(one) || session(string(data), "-") != one || session("", tool) == one {
		t.Errorf("the session is %q; from standard input %q; of another recording %q", one, session(string(data), "-"), session("", tool))
	}
}

func TestConvertShiftsATraceToATime(t *testing.T) {
	t.Parallel()
	const lines = `{"t":250,"dir":"in","msg":{"type":"user","message":{"role":"user","content":"hi"}}}
{"t":1750,"dir":"out","msg":{"type":"result","subtype":"success","is_error":false,"result":"","session_id":"s","num_turns":0}}
`
	at := func(args ...string) (all []time.Time) {
		t.Helper()
		got := command(t, lines, append([]string{"convert", "--from", "claude", "--to", "trace", "-"}, args...)...)
		got.want(t, exitOK, "")
		for _, r := range records(t, got.out) {
			all = append(all, r.Time)
		}
		return all
	}
	old, now := at(), at("--at", "2026-03-04T06:06:07+01:00")
	begin := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	if len(now) != len(old) || !now[0].Equal(begin) || !now[len(now)-1].Equal(begin.Add(1500*time.Millisecond)) || old[0].Year() != 1970 {
		t.Errorf("%v became %v", old, now)
	}
}

func infos(t *testing.T, text string) (all []trace.AgentInfo, places []int) {
	t.Helper()
	for i, r := range records(t, text) {
		if data, is := r.Payload.(trace.Data); is {
			if info, ok := data.Agent(); ok {
				all, places = append(all, info), append(places, i)
			}
		}
	}
	return all, places
}

// The trace of a recording says which agent and adapter it is of, and an agent of the configuration
// brings the kinds of its tools.
func TestConvertSaysWhichAgentItIsOf(t *testing.T) {
	t.Parallel()
	const recording = `data: {"type":"start","messageId":"m"}

data: {"type":"start-step"}

data: {"type":"tool-input-available","toolCallId":"1","toolName":"read_file","input":{"path":"a.txt"}}

data: {"type":"tool-input-available","toolCallId":"2","toolName":"pay","input":{}}

data: {"type":"finish"}

`
	conf := file(t, "tributary.yaml", "agents: {shop: {adapter: uiendpoint, url: 'http://127.0.0.1:1', tool_kinds: {pay: execute}}, coder: {adapter: gemini}}")
	for _, c := range []struct {
		args  []string
		agent trace.AgentInfo
		kinds []trace.ToolKind
	}{
		{[]string{"--from", "uiendpoint"}, trace.AgentInfo{Name: "uiendpoint", Adapter: "uiendpoint"}, []trace.ToolKind{trace.ToolRead, trace.ToolOther}},
		{[]string{"--agent", "shop", "--config", conf}, trace.AgentInfo{Name: "shop", Adapter: "uiendpoint"}, []trace.ToolKind{trace.ToolRead, trace.ToolExecute}},
		{[]string{"--from", "uiendpoint", "--agent", "coder", "--config", conf}, trace.AgentInfo{Name: "coder", Adapter: "uiendpoint"}, []trace.ToolKind{trace.ToolRead, trace.ToolOther}},
	} {
		got := command(t, recording, append([]string{"convert", "--to", "trace", "-"}, c.args...)...)
		got.want(t, exitOK, "")
		all, places := infos(t, got.out)
		if diff := cmp.Diff([]trace.AgentInfo{c.agent}, all); diff != "" || places[0] != 0 {
			t.Errorf("%v: at %v: %s", c.args, places, diff)
		}
		var kinds []trace.ToolKind
		for _, r := range records(t, got.out) {
			if call, is := r.Payload.(trace.ToolCall); is {
				kinds = append(kinds, call.ToolKind)
			}
		}
		if diff := cmp.Diff(c.kinds, kinds); diff != "" {
			t.Errorf("%v: %s", c.args, diff)
		}
	}
}

// What the recording tells of the agent is on record before the first turn ends, and once.
func TestConvertSaysWhatARecordingTellsOfItsAgent(t *testing.T) {
	t.Parallel()
	got := command(t, "", "convert", "--from", "langgraph", "--to", "trace", "../../test/recordings/langgraph/weather-multi.sse")
	got.want(t, exitOK, "")
	all, places := infos(t, got.out)
	bare := trace.AgentInfo{Name: "langgraph", Adapter: "langgraph"}
	if diff := cmp.Diff([]trace.AgentInfo{bare, bare.With(trace.AgentInfo{Provider: "scripted", Model: "scripted-1"})}, all); diff != "" {
		t.Fatal(diff)
	}
	for i, r := range records(t, got.out) {
		if _, stops := r.Payload.(trace.Stop); stops && i < places[1] {
			t.Errorf("the turn ends at record %d, before the agent at %d", i, places[1])
		}
	}
}

// The tools of these agents are those of any application. Their kinds are shown by their names, and
// a policy gets only the kinds of the configuration.
func TestNoPolicyBelievesTheNameOfAnUnknownTool(t *testing.T) {
	t.Parallel()
	cfg, err := load(builtIn(), file(t, "tributary.yaml", `
agents:
  agui: {url: "http://127.0.0.1:1", tool_kinds: {mine: read}}
  uiendpoint: {url: "http://127.0.0.1:1", tool_kinds: {mine: read}}
  langgraph: {url: "http://127.0.0.1:1", options: {assistant: a}, tool_kinds: {mine: read}}
  langgraph-events: {url: "http://127.0.0.1:1", tool_kinds: {mine: read}}
`), flags{alone: true})
	if err != nil {
		t.Fatal(err)
	}
	for name := range cfg.Agents {
		agent, err := cfg.agent(name)
		if err != nil {
			t.Fatal(err)
		}
		for tool, want := range map[string]trace.ToolKind{"read_file": trace.ToolOther, "mine": trace.ToolRead} {
			if got := agent.Tools.Judged(trace.ToolCall{RawName: tool, ToolKind: trace.ToolRead}).ToolKind; got != want {
				t.Errorf("the policy of %s takes %s for %s, want %s", name, tool, got, want)
			}
		}
	}
}

// convert leaves out content as export does, and says where --content does nothing.
func TestConvertLeavesOutContent(t *testing.T) {
	t.Parallel()
	plain := filepath.Join(recordings, "plain.jsonl")
	for _, c := range []struct {
		to, content string
		status      int
		says        string // on standard error
		spoken      bool
	}{
		{"atif", "all", exitOK, "", true},
		{"atif", "none", exitOK, "", false},
		{"otlp", "none", exitOK, "", false},
		{"otlp", "prompt,output", exitOK, "", true},
		{"otlp", "words", exitUsage, "--content: content \"words\" is no class", false},
		{"trace", "none", exitUsage, "--content does nothing for --to trace", false},
	} {
		got := command(t, "", "convert", "--from", "claude", "--at", "2026-03-04T05:06:07Z", "--to", c.to, "--content", c.content, plain)
		got.want(t, c.status, c.says)
		if spoken := strings.Contains(got.out, "Hello"); spoken != c.spoken {
			t.Errorf("--to %s --content %s: %s", c.to, c.content, got.out)
		}
	}
}
