package otlp_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/tributary-dev/tributary/export/exporttest"
	"github.com/tributary-dev/tributary/export/otlp"
	"github.com/tributary-dev/tributary/export/redact"
	"github.com/tributary-dev/tributary/trace"
)

// spansOf are the spans of a session by their ids.
func spansOf(t *testing.T, records []trace.Record, o otlp.Options) map[string]*tracepb.Span {
	t.Helper()
	all := map[string]*tracepb.Span{}
	for requests, err := range otlp.Turns(exporttest.Durable(records), o) {
		if err != nil {
			t.Fatal(err)
		}
		check(t, requests)
		for _, r := range requests {
			for _, s := range r.Spans {
				all[string(s.GetSpanId())] = s
			}
		}
	}
	return all
}

// scored adds a score of the turn.
func scored(records []trace.Record, id string, s trace.Score) []trace.Record {
	last := records[len(records)-1]
	s.Turn = "turn-1"
	return append(slices.Clone(records), trace.Record{
		Session: last.Session, Seq: last.Seq + 1,
		Event: trace.Event{ID: id, Time: last.Time.Add(time.Minute), Actor: trace.User, Payload: s.Payload()},
	})
}

// A score is a span of its own in the trace of its turn: the spans that were sent before it stay as
// they were.
func TestAScoreIsASpan(t *testing.T) {
	t.Parallel()
	const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	records := busy(t, func(p *trace.Prompt) { p.Traceparent = parent })
	before := spansOf(t, records, otlp.Options{})
	value := 0.9
	records = scored(records, "note.1", trace.Score{Case: "c", Name: "tests", Verdict: trace.ScorePass, Score: &value, Reason: "9 of 10 passed", Evidence: []string{"r1", "r2"}, By: "ann"})
	after := spansOf(t, records, otlp.Options{})
	var added []*tracepb.Span
	for id, s := range after {
		if old, known := before[id]; !known {
			added = append(added, s)
		} else if !proto.Equal(old, s) {
			t.Errorf("the span %s has changed: %v %v", s.Name, old, s)
		}
	}
	if len(added) != 1 || len(after) != len(before)+1 {
		t.Fatalf("%d spans, and before %d", len(after), len(before))
	}
	s := added[0]
	root := after[string(s.GetParentSpanId())]
	if s.Name != "evaluation tests" || s.GetStartTimeUnixNano() != s.GetEndTimeUnixNano() || s.GetStartTimeUnixNano() < root.GetEndTimeUnixNano() || root.Name != "invoke_agent fixer" || !bytes.Equal(root.GetTraceId(), s.GetTraceId()) || len(s.GetEvents()) != 1 || s.GetEvents()[0].GetName() != "gen_ai.evaluation.result" {
		t.Errorf("%+v", s)
	}
	for key, want := range map[string]any{
		"gen_ai.evaluation.name": "tests", "gen_ai.evaluation.score.label": "pass", "gen_ai.evaluation.score.value": 0.9, "gen_ai.evaluation.explanation": "9 of 10 passed",
		"tributary.evaluation.case": "c", "tributary.evaluation.by": "ann",
	} {
		if attr(s, key) != want || strings.HasPrefix(key, "gen_ai.") && attrIn(s.GetEvents()[0].GetAttributes(), key) != want {
			t.Errorf("%s is %v", key, attr(s, key))
		}
	}

	// One that replaces it is another span. The receiver has both, if it got both.
	replaced := spansOf(t, scored(records, "note.2", trace.Score{Case: "c", Name: "tests", Verdict: trace.ScoreFail}), otlp.Options{})
	if _, there := replaced[string(s.GetSpanId())]; there || len(replaced) != len(after) {
		t.Errorf("the score that was replaced is there: %t; %d spans", there, len(replaced))
	}

	none := spansOf(t, scored(records, "note.3", trace.Score{Name: "no file of /home/ann is gone", Verdict: trace.ScoreFail, Evidence: []string{"said so", "r3"}}), otlp.Options{Filter: redact.Filter{Drop: redact.Classes()}})
	evaluations := 0
	for _, s := range none {
		if strings.HasPrefix(s.Name, "evaluation") {
			evaluations++
			var text bytes.Buffer
			out, err := otlp.Request{Spans: []*tracepb.Span{s}}.JSON()
			text.Write(out)
			if err != nil || strings.Contains(text.String(), "9 of 10") || strings.Contains(text.String(), "ann") || strings.Contains(text.String(), "said so") || attr(s, "gen_ai.evaluation.name") == nil || attr(s, "gen_ai.evaluation.score.label") == nil {
				t.Errorf("%v %s", err, text.String())
			}
		}
	}
	if evaluations != 2 {
		t.Errorf("%d evaluations without contents", evaluations)
	}
}
