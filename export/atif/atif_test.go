package atif_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tributary-dev/tributary/export/atif"
	"github.com/tributary-dev/tributary/export/exporttest"
	"github.com/tributary-dev/tributary/export/redact"
	"github.com/tributary-dev/tributary/internal/testkit/replay/replaytest"
	"github.com/tributary-dev/tributary/trace"
)

// file is what the tests read of a trajectory.
type file struct {
	SchemaVersion string `json:"schema_version"`
	TrajectoryID  string `json:"trajectory_id"`
	SessionID     string `json:"session_id"`
	Agent         struct {
		Name    string         `json:"name"`
		Version string         `json:"version"`
		Model   string         `json:"model_name"`
		Tools   []any          `json:"tool_definitions"`
		Extra   map[string]any `json:"extra"`
	} `json:"agent"`
	Steps     []step `json:"steps"`
	Subagents []file `json:"subagent_trajectories"`
	Final     *struct {
		Prompt     int64    `json:"total_prompt_tokens"`
		Completion int64    `json:"total_completion_tokens"`
		Cached     int64    `json:"total_cached_tokens"`
		Cost       *float64 `json:"total_cost_usd"`
		Steps      int      `json:"total_steps"`
	} `json:"final_metrics"`
	Extra map[string]any `json:"extra"`
}

type step struct {
	ID        int    `json:"step_id"`
	Timestamp string `json:"timestamp"`
	Source    string `json:"source"`
	Message   any    `json:"message"`
	Model     string `json:"model_name"`
	Reasoning string `json:"reasoning_content"`
	Calls     []struct {
		ID        string         `json:"tool_call_id"`
		Name      string         `json:"function_name"`
		Arguments map[string]any `json:"arguments"`
		Extra     map[string]any `json:"extra"`
	} `json:"tool_calls"`
	Observation *struct {
		Results []struct {
			Call      string  `json:"source_call_id"`
			Content   *string `json:"content"`
			Subagents []struct {
				ID string `json:"trajectory_id"`
			} `json:"subagent_trajectory_ref"`
		} `json:"results"`
	} `json:"observation"`
	Metrics *struct {
		Prompt *int64   `json:"prompt_tokens"`
		Cached *int64   `json:"cached_tokens"`
		Cost   *float64 `json:"cost_usd"`
	} `json:"metrics"`
	Extra map[string]any `json:"extra"`
}

func (s step) text() string { return fmt.Sprint(s.Message) }

func write(t testing.TB, records []trace.Record, o atif.Options) (string, error) {
	t.Helper()
	var b bytes.Buffer
	err := atif.Write(&b, exporttest.Durable(records), o)
	return b.String(), err
}

type fataler interface {
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// read decodes a trajectory, and checks it.
func read(t fataler, text string) file {
	var f file
	if err := json.Unmarshal([]byte(text), &f); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	calls := map[string]bool{}
	check(t, f, calls)
	if f.Final == nil || f.Final.Steps != len(f.Steps) {
		t.Fatalf("total_steps: %+v of %d", f.Final, len(f.Steps))
	}
	return f
}

// check holds what ATIF asks, and what its validators do not see.
func check(t fataler, f file, calls map[string]bool) {
	if f.Agent.Name == "" || f.Agent.Version == "" || f.SessionID == "" || len(f.Steps) == 0 || !strings.HasPrefix(f.SchemaVersion, "ATIF-v1.") {
		t.Fatalf("head: %+v", f)
	}
	subs := map[string]bool{}
	for _, s := range f.Subagents {
		if s.TrajectoryID == "" || subs[s.TrajectoryID] {
			t.Fatalf("the trajectory %q is there twice, or has no id", s.TrajectoryID)
		}
		subs[s.TrajectoryID] = true
		check(t, s, calls)
	}
	for i, s := range f.Steps {
		if s.ID != i+1 || s.Message == nil || !slices.Contains([]string{"user", "agent", "system"}, s.Source) {
			t.Fatalf("step %d: %+v", i, s)
		}
		if _, err := time.Parse(time.RFC3339Nano, s.Timestamp); err != nil {
			t.Fatal(err)
		}
		if s.Source != "agent" && (s.Calls != nil || s.Observation != nil || s.Metrics != nil || s.Model != "" || s.Reasoning != "") {
			t.Fatalf("step %d is no agent's: %+v", i, s)
		}
		mine := map[string]bool{}
		for _, c := range s.Calls {
			if c.ID == "" || c.Name == "" || c.Arguments == nil || calls[c.ID] {
				t.Fatalf("call %+v", c)
			}
			mine[c.ID], calls[c.ID] = true, true
		}
		if s.Observation != nil {
			for _, r := range s.Observation.Results {
				if !mine[r.Call] {
					t.Fatalf("the result of %q is not with its call", r.Call)
				}
				for _, ref := range r.Subagents {
					if !subs[ref.ID] {
						t.Fatalf("%q is not in the trajectory that refers to it", ref.ID)
					}
				}
			}
		}
		if m := s.Metrics; m != nil && m.Cached != nil && *m.Cached > *m.Prompt {
			t.Fatalf("more cached than read: %d > %d", *m.Cached, *m.Prompt)
		}
	}
}

func TestEveryRecordingBecomesATrajectory(t *testing.T) {
	t.Parallel()
	for path, records := range exporttest.Recorded(t, "../../adapter") {
		for _, version := range []string{"1.7", "1.8"} {
			text, err := write(t, records, atif.Options{Version: version})
			if errors.Is(err, atif.ErrNothing) && text == "" {
				continue
			}
			if err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			f := read(t, text)
			calls := map[string]bool{}
			for _, r := range records {
				if c, is := r.Payload.(trace.ToolCall); is && c.Continues == "" {
					calls[r.Turn+" "+c.ToolCallID] = true
				}
			}
			if n := count(f); n != len(calls) {
				t.Errorf("%s: %d calls of %d", path, n, len(calls))
			}
		}
	}
}

func count(f file) (n int) {
	for _, s := range f.Steps {
		n += len(s.Calls)
	}
	for _, s := range f.Subagents {
		n += count(s)
	}
	return n
}

func TestGolden(t *testing.T) {
	t.Parallel()
	for path, records := range golden(t) {
		text, err := write(t, records, atif.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := json.Indent(&b, []byte(text), "", " "); err != nil {
			t.Fatal(err)
		}
		replaytest.Golden(t, "testdata/"+path+".json", b.Bytes())
	}
}

// golden is a session of each adapter.
func golden(t *testing.T) iter.Seq2[string, []trace.Record] {
	return exporttest.Each(t, "../testdata")
}

func TestWhateverABuilderWritesBecomesATrajectory(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		records := exporttest.Random(rt)
		text, err := write(t, records, atif.Options{Filter: redact.Filter{NoDenied: rapid.Bool().Draw(rt, "no denied"), NoSubagents: rapid.Bool().Draw(rt, "no subagents")}})
		if errors.Is(err, atif.ErrNothing) {
			return
		}
		if err != nil {
			rt.Fatal(err)
		}
		read(rt, text)
	})
}

func TestNothingOfAPersonIsLeft(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		records := exporttest.Random(rt)
		text, err := write(t, records, atif.Options{Filter: redact.Filter{Drop: redact.Classes()}})
		if err != nil && !errors.Is(err, atif.ErrNothing) {
			rt.Fatal(err)
		}
		exporttest.Silent(rt, records, text)
	})
}

func done() trace.Stop { return trace.Stop{Reason: "end_turn", Outcome: trace.OutcomeCompleted} }

// An edit removes what came after the message; what that has cost stays in the sums.
func TestRemovedTurnsAreLeftOut(t *testing.T) {
	t.Parallel()
	s := exporttest.NewSession()
	say := func(text string) func(*trace.Builder) {
		return func(b *trace.Builder) {
			b.Message("m", text)
			b.Emit(trace.Usage{Scope: trace.UsageStep, InputTokens: 10, OutputTokens: 1})
		}
	}
	s.Turn(t.Context(), "first", done(), say("one"))
	s.Turn(t.Context(), "second", done(), say("two"))
	s.Add("", trace.Event{Actor: trace.Gateway, Payload: trace.Rewind{To: "u2"}})
	s.Turn(t.Context(), "instead", done(), say("three"))
	text, err := write(t, s.Records, atif.Options{})
	if err != nil {
		t.Fatal(err)
	}
	f := read(t, text)
	var said []string
	for _, st := range f.Steps {
		said = append(said, st.text())
	}
	if got := strings.Join(said, "|"); got != "first|one|instead|three" {
		t.Errorf("%s", got)
	}
	if f.Final.Prompt != 30 || f.Extra["removed_turns"] != 1.0 {
		t.Errorf("%+v %v", f.Final, f.Extra)
	}
}

// A call that went on in a later turn is there once, with its last result.
func TestACallThatGoesOnIsOne(t *testing.T) {
	t.Parallel()
	s := exporttest.NewSession()
	task := trace.ToolCall{ToolCallID: "task", RawName: "Task", Input: json.RawMessage(`{"subagent_type":"scout"}`)}
	turn := s.Turn(t.Context(), "go", done(), func(b *trace.Builder) {
		b.Emit(task)
		b.Under("task").Message("m", "I look around")
		b.Emit(trace.ToolResult{ToolCallID: "task", Status: trace.ToolCompleted, Output: json.RawMessage(`"launched"`)})
	})
	task.Continues = turn
	s.Turn(t.Context(), "and", done(), func(b *trace.Builder) {
		b.Emit(task)
		b.Under("task").Message("m", "I have found it")
		b.Emit(trace.ToolResult{ToolCallID: "task", Status: trace.ToolCompleted, Output: json.RawMessage(`"found"`)})
	})
	text, err := write(t, s.Records, atif.Options{})
	if err != nil {
		t.Fatal(err)
	}
	f := read(t, text)
	if count(f) != 1 || len(f.Subagents) != 2 || f.Subagents[0].Agent.Name != "scout" || !strings.Contains(text, `"content":"found"`) || strings.Contains(text, "launched") {
		t.Errorf("%s", text)
	}
}

func TestWhoAsked(t *testing.T) {
	t.Parallel()
	s := exporttest.NewSession()
	s.Add("", trace.Event{Actor: trace.Agent, Payload: trace.AgentInfo{
		Name: "fixer", Adapter: "claude", Product: "claude-code", Version: "2.1", Model: "opus", Provider: "anthropic",
		Tools: []trace.ToolDefinition{{Name: "Bash"}},
	}.Payload()})
	s.Turn(t.Context(), "delete it", trace.Stop{Reason: "api_error", Outcome: trace.OutcomeFailed, Class: trace.ClassOverloaded, Error: "overloaded"}, func(b *trace.Builder) {
		b.Emit(trace.ToolCall{ToolCallID: "c", RawName: "Bash", ToolKind: trace.ToolExecute, Input: json.RawMessage(`"rm x"`)})
		id, _, _ := b.PermissionRequest(trace.PermissionRequest{RequestID: "r", ToolCallID: "c", Title: "Run rm x", Options: []trace.PermissionOption{{ID: "no", Name: "No", OptionKind: trace.RejectOnce}}}, trace.ToolCall{})
		b.PermissionResponse(trace.PermissionResponse{RequestID: id, Outcome: trace.Selected, ChosenOption: "no", OptionKind: trace.RejectOnce, By: "ann"})
		b.Denied("c", "not this")
		b.Emit(trace.Notice("retry", "I try again"))
		b.Message("m", "I may not.")
	})
	text, err := write(t, s.Records, atif.Options{})
	if err != nil {
		t.Fatal(err)
	}
	f := read(t, text)
	if f.Agent.Name != "fixer" || f.Agent.Version != "2.1" || f.Agent.Model != "opus" || len(f.Agent.Tools) != 1 || f.Agent.Extra["product"] != "claude-code" {
		t.Errorf("%+v", f.Agent)
	}
	for _, want := range []string{`"arguments":{"value":"rm x"}`, `"status":"denied"`, `"option_kind":"reject_once"`, `"class":"overloaded"`, `"source":"system","message":"I try again"`} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is missing: %s", want, text)
		}
	}
	if without, _ := write(t, s.Records, atif.Options{Filter: redact.Filter{NoDenied: true}}); count(read(t, without)) != 0 {
		t.Error("a denied call")
	}
	if _, err := write(t, s.Records, atif.Options{Version: "2"}); err == nil {
		t.Error("version 2")
	}
}

// A picture goes into a file beside the trajectory if the caller keeps files.
func TestPictures(t *testing.T) {
	t.Parallel()
	data := "data:image/png;base64," + base64.StdEncoding.EncodeToString([]byte("png"))
	s := exporttest.NewSession()
	s.Turn(t.Context(), "x", done(), func(b *trace.Builder) { b.Message("m", "nice") })
	p := s.Records[0].Payload.(trace.Prompt)
	p.Message.Parts = []trace.InputPart{{Type: trace.InputText, Text: "look"}, {Type: trace.InputFile, MediaType: "image/png", URL: data, Filename: "a.png"}}
	s.Records[0].Payload = p
	text, err := write(t, s.Records, atif.Options{})
	if err != nil || strings.Contains(text, "data:") || !strings.Contains(text, `"filename":"a.png"`) {
		t.Errorf("%v %s", err, text)
	}
	var kept []byte
	text, err = write(t, s.Records, atif.Options{Media: func(_ string, data []byte) (string, error) {
		kept = data
		return "images/1.png", nil
	}})
	read(t, text)
	if err != nil || string(kept) != "png" || !strings.Contains(text, `{"type":"image","source":{"media_type":"image/png","path":"images/1.png"}}`) {
		t.Errorf("%v %s", err, text)
	}
}

func TestNothingHappened(t *testing.T) {
	t.Parallel()
	if text, err := write(t, nil, atif.Options{}); !errors.Is(err, atif.ErrNothing) || text != "" {
		t.Errorf("%v %s", err, text)
	}
}

// A session of 10,000 records takes a second at most.
func TestALongSession(t *testing.T) {
	t.Parallel()
	s := exporttest.NewSession()
	for range 1000 {
		s.Turn(t.Context(), "next", done(), func(b *trace.Builder) {
			b.Message("m", "some words")
			b.Emit(trace.ToolCall{ToolCallID: "c", RawName: "Read", Input: json.RawMessage(`{}`)})
			b.Emit(trace.ToolResult{ToolCallID: "c", Status: trace.ToolCompleted, Output: json.RawMessage(`"x"`)})
		})
	}
	begun := time.Now()
	text, err := write(t, s.Records, atif.Options{})
	if took := time.Since(begun); err != nil || took > 5*time.Second { // a second, on a machine that does nothing else
		t.Errorf("%d records in %v: %v", len(s.Records), took, err)
	}
	if f := read(t, text); len(f.Steps) != 2000 || len(s.Records) < 10_000 {
		t.Errorf("%d steps of %d records", len(f.Steps), len(s.Records))
	}
}

// A score is on the last step of its turn, the newest of each grader.
func TestScores(t *testing.T) {
	t.Parallel()
	s := exporttest.NewSession()
	score := func(name, verdict, reason string) {
		s.Add("", trace.Event{Actor: trace.User, Payload: trace.Score{Turn: "turn-1", Name: name, Verdict: verdict, Reason: reason, By: "ann"}.Payload()})
	}
	for range 2 {
		s.Turn(t.Context(), "go on", trace.Stop{Outcome: trace.OutcomeCompleted}, func(b *trace.Builder) { b.Message("m", "done") })
	}
	score("tests", trace.ScoreFail, "none passed")
	score("diff", trace.ScorePass, "")
	score("tests", trace.ScorePass, "all of them passed")
	text, err := write(t, s.Records, atif.Options{})
	if err != nil {
		t.Fatal(err)
	}
	f := read(t, text)
	scores, _ := f.Steps[1].Extra["scores"].([]any)
	if len(f.Steps) != 4 || len(scores) != 2 || strings.Count(text, `"verdict"`) != 2 {
		t.Fatalf("%s", text)
	}
	diff, tests := scores[0].(map[string]any), scores[1].(map[string]any)
	if diff["name"] != "diff" || tests["name"] != "tests" || tests["verdict"] != "pass" || tests["reason"] != "all of them passed" || tests["by"] != "ann" || tests["at"] == nil {
		t.Errorf("%v", scores)
	}
	if text, err = write(t, s.Records, atif.Options{Filter: redact.Filter{Drop: redact.Classes()}}); err != nil || !strings.Contains(text, `"verdict":"pass"`) || strings.Contains(text, "passed") || strings.Contains(text, "ann") {
		t.Errorf("%v %s", err, text)
	}
}
