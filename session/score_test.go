package session_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
)

// boasting is an agent that praises its own work, beside a turn and in it.
type boasting struct{}

func (boasting) Open(_ context.Context, host agent.Host, _ agent.Config) (agent.Session, error) {
	return boastingSession{host}, nil
}

type boastingSession struct{ host agent.Host }

func (s boastingSession) Prompt(_ context.Context, p agent.Prompt, b *trace.Builder) error {
	praise := trace.Score{Turn: "turn_x", Name: "tests", Verdict: trace.ScorePass}.Payload()
	s.host.Note(praise)
	b.Emit(praise)
	b.Message("a", "done")
	return nil
}

func (boastingSession) Close() error { return nil }

// An agent cannot put a score on its own work: neither in a turn nor beside one.
//
//evidence:for promise-voice
func TestAnAgentGivesNoScores(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, func(o *session.Options) {
			o.Agents["demo"] = session.Agent{Runtime: boasting{}, Adapter: "toy", Cwd: t.TempDir()}
		})
		defer b.close()
		turn, err := b.Prompt(t.Context(), "s", session.Prompt{Message: text("u1", "hello")})
		if err != nil {
			t.Fatal(err)
		}
		b.wait(turn)
		if got, err := b.Scores(t.Context(), "s"); err != nil || len(got) != 0 {
			t.Errorf("%v %+v", err, got)
		}
		names := map[string]int{}
		for r, err := range b.log.Durable(t.Context(), "s", 0, 0) {
			if err != nil {
				t.Fatal(err)
			}
			if d, is := r.Payload.(trace.Data); is {
				names[d.Name]++
			}
		}
		if names["score"] != 0 || names["custom-score"] != 2 {
			t.Errorf("%v", names)
		}
		honest := trace.Score{Turn: turn.ID, Name: "tests", Verdict: trace.ScorePass}
		if err := b.Score(t.Context(), "s", []trace.Score{honest}); err != nil {
			t.Fatal(err)
		}
		if got, err := b.Scores(t.Context(), "s"); err != nil || len(got) != 1 || got[0].Turn != turn.ID {
			t.Errorf("%v %+v", err, got)
		}
	})
}

// The scores of a session are bounded, and a score that replaces another one always has room.
//
//evidence:for limit-scores
func TestScoresAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		defer b.close()
		turn, err := b.Prompt(t.Context(), "s", session.Prompt{Message: text("u1", "hello")})
		if err != nil {
			t.Fatal(err)
		}
		b.wait(turn)
		named := func(from, n int) (scores []trace.Score) {
			for i := range n {
				scores = append(scores, trace.Score{Turn: turn.ID, Name: fmt.Sprint("grader ", from+i), Verdict: trace.ScorePass})
			}
			return scores
		}
		if err := b.Score(t.Context(), "s", named(0, 101)); err == nil || !strings.Contains(err.Error(), "1 to 100") {
			t.Errorf("101 at once: %v", err)
		}
		for from := 0; from < 2000; from += 100 {
			if err := b.Score(t.Context(), "s", named(from, 100)); err != nil {
				t.Fatal(err)
			}
		}
		if err := b.Score(t.Context(), "s", named(2000, 1)); err == nil || !strings.Contains(err.Error(), "at most 2000") {
			t.Errorf("one more: %v", err)
		}
		if err := b.Score(t.Context(), "s", named(1900, 100)); err != nil {
			t.Errorf("the same graders again: %v", err)
		}
		if got, err := b.Scores(t.Context(), "s"); err != nil || len(got) != 2000 || got[1999].Name != "grader 1999" {
			t.Errorf("%v %d", err, len(got))
		}
	})
}
