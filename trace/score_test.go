package trace_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tributary-dev/tributary/trace"
)

func TestAScoreIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	value := 0.9
	want := trace.Score{Turn: "turn_1", Case: "two/commands", Name: "tests", Verdict: trace.ScorePass, Score: &value, Reason: "9 of 10", Evidence: []string{"r1"}, By: "ann"}
	d := want.Payload().(trace.Data)
	if got, is := d.Score(); !is || !cmp.Equal(want, got) || !d.Domain || d.ID != "turn_1/two%2Fcommands/tests" {
		t.Errorf("%+v %t %+v", got, is, d)
	}
	other := d
	other.Domain = false // an agent's, in a turn
	if _, is := other.Score(); is {
		t.Error("data of the conversation is a score")
	}
	for _, value := range []string{`1`, `{}`, `{"turn":"t","name":"n","verdict":"great"}`} {
		d.Value = json.RawMessage(value)
		if _, is := d.Score(); is {
			t.Errorf("%s is a score", value)
		}
	}
}

//evidence:for limit-score
func TestAScoreIsBounded(t *testing.T) {
	t.Parallel()
	long, much := strings.Repeat("ä", 1001), 1.1
	for want, spoil := range map[string]func(*trace.Score){
		"":         func(*trace.Score) {},
		"turn":     func(s *trace.Score) { s.Turn = "" },
		"name":     func(s *trace.Score) { s.Name = "two\nlines" },
		"case":     func(s *trace.Score) { s.Case = long },
		"verdict":  func(s *trace.Score) { s.Verdict = "skipped" },
		"score":    func(s *trace.Score) { s.Score = &much },
		"reason":   func(s *trace.Score) { s.Reason = long },
		"evidence": func(s *trace.Score) { s.Evidence = make([]string, 33) },
	} {
		s := trace.Score{Turn: "t", Name: "n", Verdict: trace.ScoreUnknown}
		spoil(&s)
		if err := s.Check(); (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), "`"+want+"`") {
			t.Errorf("%s: %v", want, err)
		}
	}
	s := trace.Score{Turn: "t", Name: "n", Verdict: trace.ScorePass, Reason: long, Evidence: strings.Fields(strings.Repeat("r ", 40))}.Within()
	if err := s.Check(); err != nil || !strings.HasSuffix(s.Reason, "ä…") || len(s.Evidence) != 32 {
		t.Errorf("%v %d", err, len(s.Reason))
	}
}
