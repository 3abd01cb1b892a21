// Package exporttest has sessions for the tests of exporters: those that the recordings of every
// adapter make, and random ones.
package exporttest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tributary-dev/tributary/trace"
)

// Recorded are the sessions of all golden files of the adapters below a directory, by their path.
func Recorded(t testing.TB, adapters string) map[string][]trace.Record {
	t.Helper()
	all := map[string][]trace.Record{}
	err := filepath.WalkDir(adapters, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".jsonl") || !strings.Contains(path, "golden") {
			return err
		}
		if records := File(t, path); len(records) > 0 {
			all[path] = records
		}
		return nil
	})
	if err != nil || len(all) < 100 {
		t.Fatalf("%d sessions below %s: %v", len(all), adapters, err)
	}
	return all
}

// File reads a session.
func File(t testing.TB, path string) (records []trace.Record) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, len(data)+1)
	for lines.Scan() {
		var r trace.Record
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		records = append(records, r)
	}
	return records
}

// Durable yields the records that the log keeps.
func Durable(records []trace.Record) func() iter.Seq2[trace.Record, error] {
	return func() iter.Seq2[trace.Record, error] {
		return func(yield func(trace.Record, error) bool) {
			for _, r := range records {
				if !trace.Ephemeral(r.Payload) && !yield(r, nil) {
					return
				}
			}
		}
	}
}

// Session is a session that grows turn by turn, with a clock that goes on by a millisecond with each
// thing that happens.
type Session struct {
	Records []trace.Record
	now     time.Time
	turns   int
}

// NewSession has no records yet.
func NewSession() *Session {
	return &Session{now: time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)}
}

// clock goes on with each look at it. A Builder looks at it before it appends.
func (s *Session) clock() time.Time {
	s.now = s.now.Add(time.Millisecond)
	return s.now
}

// Add puts a record outside turns, or in the named turn, on record.
func (s *Session) Add(turn string, e trace.Event) {
	if e.Time.IsZero() {
		e.Time = s.clock()
	}
	if e.ID == "" {
		e.ID = fmt.Sprintf("e%d", len(s.Records))
	}
	s.Records = append(s.Records, trace.Record{Session: "session", Turn: turn, Seq: uint64(len(s.Records) + 1), Event: e})
}

// Turn writes a turn by a Builder, which do drives, and ends it.
func (s *Session) Turn(ctx context.Context, prompt string, stop trace.Stop, do func(*trace.Builder)) string {
	s.turns++
	turn := fmt.Sprintf("turn-%d", s.turns)
	b := trace.NewBuilder(ctx, trace.Config{
		Turn: turn, Now: s.clock,
		Append: func(_ context.Context, events []trace.Event) error {
			for _, e := range events {
				s.Add(turn, e)
			}
			return nil
		},
	})
	b.Emit(trace.Prompt{Message: trace.UserMessage{ID: fmt.Sprintf("u%d", s.turns), Parts: []trace.InputPart{{Type: trace.InputText, Text: prompt}}}, By: "ann"})
	b.Emit(trace.Reply{MessageID: fmt.Sprintf("a%d", s.turns), Cause: trace.CausePrompt})
	do(b)
	_ = b.Finish(stop) // the append never fails
	return turn
}

// Random is a session in which anything may happen that a Builder can write. All texts are
// sentences of more than three words, and all names are one word.
func Random(t *rapid.T) []trace.Record {
	s := NewSession()
	if rapid.Bool().Draw(t, "agent known") {
		info := trace.AgentInfo{Name: "fixer", Adapter: "demo", Version: "1.2", Model: "m-1", Tools: []trace.ToolDefinition{{Name: "Read", Description: sentence(t)}}}
		s.Add("", trace.Event{Actor: trace.Agent, Payload: info.Payload()})
	}
	for n := range rapid.IntRange(1, 4).Draw(t, "turns") {
		if n > 0 && rapid.IntRange(0, 3).Draw(t, "rewind") == 0 {
			to := rapid.SampledFrom([]string{"u", "a"}).Draw(t, "of") + fmt.Sprint(rapid.IntRange(1, n).Draw(t, "to"))
			s.Add("", trace.Event{Actor: trace.Gateway, Payload: trace.Rewind{To: to}})
		}
		outcome := trace.Outcome(rapid.SampledFrom([]string{"completed", "failed", "canceled"}).Draw(t, "outcome"))
		stop := trace.Stop{Reason: rapid.SampledFrom([]string{"end_turn", "error"}).Draw(t, "reason"), Outcome: outcome, Error: sentence(t)}
		s.Turn(t.Context(), sentence(t), stop, func(b *trace.Builder) {
			var asked []string
			for range rapid.IntRange(0, 25).Draw(t, "things") {
				asked = something(t, b, asked)
			}
		})
		if rapid.Bool().Draw(t, "graded") {
			score := trace.Score{Turn: fmt.Sprintf("turn-%d", n+1), Name: "tests", Verdict: trace.ScoreFail, Reason: sentence(t), Evidence: []string{sentence(t)}, By: "ann"}
			s.Add("", trace.Event{Actor: trace.User, Payload: score.Payload()})
		}
	}
	return s.Records
}

func sentence(t *rapid.T) string {
	words := rapid.SampledFrom([]string{"river", "stone", "bridge", "valley", "meadow", "harbour", "Ünïcode", "a\"b"})
	var all []string
	for range rapid.IntRange(4, 9).Draw(t, "words") {
		all = append(all, words.Draw(t, "word"))
	}
	return strings.Join(all, " ")
}

// something lets the agent, or a sub-agent, do one thing.
func something(t *rapid.T, b *trace.Builder, asked []string) []string {
	if call := rapid.SampledFrom([]string{"", "", "", "c1", "c2"}).Draw(t, "under"); call != "" {
		b = b.Under(call)
	}
	id := rapid.SampledFrom([]string{"c1", "c2", "c3"}).Draw(t, "call")
	key := rapid.SampledFrom([]string{"k1", "k2"}).Draw(t, "key")
	input, _ := json.Marshal(map[string]string{"file": sentence(t)})
	if rapid.IntRange(0, 9).Draw(t, "odd input") == 0 {
		input, _ = json.Marshal(sentence(t))
	}
	output, _ := json.Marshal(sentence(t))
	count := func(name string) int64 { return int64(rapid.IntRange(0, 500).Draw(t, name)) }
	switch rapid.SampledFrom([]string{"message", "thought", "call", "start", "result", "permission", "question", "answer", "usage", "step", "step end", "error", "plan", "change", "source", "data", "finish", "note"}).Draw(t, "thing") {
	case "message":
		b.Message(key, sentence(t))
		b.MessageEnd(key)
	case "thought":
		b.Thought(key, sentence(t), "")
	case "call":
		b.Emit(trace.ToolCall{ToolCallID: id, RawName: "Read", Name: "Read", ToolKind: trace.ToolRead, Title: sentence(t), Input: input, Locations: []trace.Location{{Path: sentence(t)}}})
	case "start":
		b.Emit(trace.ToolCallStart{ToolCallID: id, RawName: "Read"})
	case "result":
		status := trace.ToolStatus(rapid.SampledFrom([]string{"completed", "failed"}).Draw(t, "status"))
		b.Emit(trace.ToolResult{ToolCallID: id, Status: status, Output: output, Error: sentence(t)})
	case "permission":
		r := trace.PermissionRequest{RequestID: key, ToolCallID: id, Title: sentence(t), Options: []trace.PermissionOption{{ID: "yes", Name: sentence(t), OptionKind: trace.AllowOnce}, {ID: "no", Name: sentence(t), OptionKind: trace.RejectOnce}}}
		if id, _, decided := b.PermissionRequest(r, trace.ToolCall{}); !decided {
			asked = append(asked, id)
		}
	case "question":
		asked = append(asked, b.Question(trace.Question{QuestionID: key, Text: sentence(t), Choices: []trace.Choice{{Label: sentence(t)}}}))
	case "answer":
		if len(asked) > 0 {
			option := rapid.SampledFrom([]string{"yes", "no"}).Draw(t, "option")
			b.PermissionResponse(trace.PermissionResponse{RequestID: asked[0], Outcome: trace.Selected, ChosenOption: option, By: "ann", Reason: sentence(t)})
			b.Answer(trace.Answer{QuestionID: asked[0], Outcome: trace.Selected, Values: []string{sentence(t)}, By: "ann"})
			asked = asked[1:]
		}
	case "usage":
		u := trace.Usage{Scope: trace.UsageScope(rapid.SampledFrom([]string{"step", "turn", "session"}).Draw(t, "scope")), InputTokens: count("in"), OutputTokens: count("out"), CacheReadTokens: count("cached")}
		if rapid.Bool().Draw(t, "cost known") {
			cost := float64(count("cost")) / 1000
			u.CostUSD = &cost
		}
		b.Emit(u)
	case "step":
		b.StepStart(trace.Step{Name: "node"})
	case "step end":
		b.StepFinish("stop")
		b.StepEnd()
	case "error":
		b.Emit(trace.Error{Code: "code", Message: sentence(t)})
	case "note":
		b.Emit(trace.Notice("retry", sentence(t)))
	case "plan":
		b.Emit(trace.Plan{Entries: []trace.PlanEntry{{Content: sentence(t)}}})
	case "change":
		b.Emit(trace.FileChange{Path: sentence(t), Change: "created", Diff: sentence(t)})
	case "source":
		b.Emit(trace.Source{SourceID: "s", URL: sentence(t), Title: sentence(t)})
	case "data":
		b.Emit(trace.Data{Name: "thing", Value: output})
	}
	return asked
}

// Each yields the sessions in a directory, by the name of the file without its extension.
func Each(t testing.TB, dir string) iter.Seq2[string, []trace.Record] {
	t.Helper()
	return func(yield func(string, []trace.Record) bool) {
		files, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no sessions in %s: %v", dir, err)
		}
		for _, f := range files {
			if !yield(strings.TrimSuffix(filepath.Base(f), ".jsonl"), File(t, f)) {
				return
			}
		}
	}
}

// Silent fails if the export has a text of the session with more than three words, or who asked.
func Silent(t *rapid.T, records []trace.Record, export string) {
	var look func(v any)
	look = func(v any) {
		switch v := v.(type) {
		case string:
			quoted, _ := json.Marshal(v) // a string always can be
			if len(strings.Fields(v)) > 3 && (strings.Contains(export, v) || strings.Contains(export, string(quoted[1:len(quoted)-1]))) {
				t.Fatalf("%q is in the export: %s", v, export)
			}
		case map[string]any:
			for _, one := range v {
				look(one)
			}
		case []any:
			for _, one := range v {
				look(one)
			}
		}
	}
	for _, r := range records {
		line, err := r.AppendJSON(nil)
		var v any
		if err == nil {
			err = json.Unmarshal(line, &v)
		}
		if err != nil {
			t.Fatal(err)
		}
		look(v)
	}
	if strings.Contains(export, `"ann"`) {
		t.Fatalf("who asked is in the export: %s", export)
	}
}
