package atif_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/export/atif"
	"github.com/tributary-dev/tributary/export/exporttest"
	"github.com/tributary-dev/tributary/trace"
)

func imported(t *testing.T, text string) (records []trace.Record) {
	t.Helper()
	err := atif.Read(t.Context(), strings.NewReader(text), func(r trace.Record) error {
		records = append(records, r)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return records
}

// gist is what both trajectories have.
func gist(f file) (all []string) {
	for _, s := range f.Steps {
		line := fmt.Sprint(s.Source, "|", s.Message, "|", s.Reasoning)
		for _, c := range s.Calls {
			line += fmt.Sprint("|", c.Name, c.Arguments, c.Extra["status"], c.Extra["kind"])
		}
		if s.Observation != nil {
			for _, r := range s.Observation.Results {
				if r.Content != nil {
					line += "|" + *r.Content
				}
			}
		}
		all = append(all, line)
	}
	for _, s := range f.Subagents {
		for _, st := range s.Steps {
			all = append(all, "sub|"+st.text())
		}
	}
	return all
}

// A trajectory that becomes a session and a trajectory again says the same.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	for path, records := range exporttest.Recorded(t, "../../adapter") {
		text, err := write(t, records, atif.Options{})
		if errors.Is(err, atif.ErrNothing) || strings.Contains(text, "\\ufffd") {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		again, err := write(t, imported(t, text), atif.Options{})
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		before, after := read(t, text), read(t, again)
		if want, got := strings.Join(gist(before), "\n"), strings.Join(gist(after), "\n"); want != got {
			t.Errorf("%s:\n%s\nbecame\n%s", path, want, got)
		}
		if before.Final.Prompt != after.Final.Prompt || !strings.HasPrefix(after.Agent.Name, "imported:") || after.SessionID != before.SessionID {
			t.Errorf("%s: %+v became %+v of %s", path, before.Final, after.Final, after.Agent.Name)
		}
	}
}

// Scores come back with their turns, and come after them. One that another program has written in a form
// of its own is left out.
func TestScoresRoundTrip(t *testing.T) {
	t.Parallel()
	s, value := exporttest.NewSession(), 0.5
	want := []trace.Score{{Case: "c", Name: "tests", Verdict: trace.ScoreFail, Score: &value, Reason: "2 of 4", By: "ann"}, {Name: "style", Verdict: trace.ScoreUnknown}}
	for i := range want {
		want[i].Turn = s.Turn(t.Context(), "go", trace.Stop{Reason: "end_turn", Outcome: trace.OutcomeCompleted}, func(b *trace.Builder) { b.Message("m", "done") })
	}
	for _, score := range want {
		s.Add("", trace.Event{Actor: trace.User, Payload: score.Payload()})
	}
	text, err := write(t, s.Records, atif.Options{})
	if err != nil {
		t.Fatal(err)
	}
	text = strings.Replace(text, `"scores":[`, `"scores":[{"name":"x","verdict":"very good"},`, 1)
	var got []trace.Score
	stops := 0
	for _, r := range imported(t, text) {
		if d, is := r.Payload.(trace.Data); is && d.Name == "score" {
			score, ok := d.Score()
			if got = append(got, score); !ok || stops != 2 || r.Turn != "" {
				t.Errorf("%+v after %d turns", r, stops)
			}
		}
		if _, is := r.Payload.(trace.Stop); is {
			stops++
		}
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v became %+v", want, got)
	}
}

// A stranger's trajectory may lack what Tributary always writes.
func TestAStrangersTrajectory(t *testing.T) {
	t.Parallel()
	records := imported(t, `{"schema_version":"ATIF-v1.2","session_id":"s","agent":{"name":"x","version":"1"},"steps":[
		{"step_id":1,"source":"system","message":"you are x"},
		{"step_id":2,"source":"user","message":[{"type":"text","text":"look"},{"type":"image","source":{"media_type":"image/png","path":"a.png"}}]},
		{"step_id":3,"source":"agent","message":"","tool_calls":[{"tool_call_id":"c","function_name":"bash","arguments":{"a":1}}],"observation":{"results":[{"source_call_id":"c","content":"ok"},{"content":"of nobody"}]}}]}`)
	var kinds []string
	for _, r := range records {
		kinds = append(kinds, string(r.Payload.Kind()))
	}
	got := strings.Join(kinds, " ")
	if !strings.HasPrefix(got, "data reply") || strings.Count(got, "stop") != 2 || !strings.Contains(got, "tool_call tool_result") {
		t.Error(got)
	}
	for text, want := range map[string]string{
		"x": "this is no trajectory", `{"schema_version":"ATIF-v2.0"}`: "ATIF-v2.0", `{"schema_version":"ATIF-v1.7","steps":[]}`: "it has no steps",
		"[]": "the whole is a list, and an object belongs there", "{": "it is no JSON at byte 1", `{"schema_version":"ATIF-v1.7","steps":[{"tool_calls":"x"}]}`: "its steps.tool_calls is a text, and a list belongs there",
		`{"schema_version":"ATIF-v1.7","steps":[{"source":5}]}`: "its steps.source is a number, and a text belongs there", `{"schema_version":"ATIF-v1.7","steps":[{"metrics":{"prompt_tokens":10.5}}]}`: "a count of tokens is 10.5: write a whole number",
		`{"schema_version":"ATIF-v1.7","steps":[{"metrics":{"prompt_tokens":"9"}}]}`: `a count of tokens is "9": write a whole number`,
	} {
		err := atif.Read(t.Context(), strings.NewReader(text), func(trace.Record) error { return nil })
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "Go ") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
