package eval

import (
	"fmt"

	"github.com/tributary-dev/tributary/trace"
)

// Scores are the findings as scores of the session's last turn that no edit has removed. A grader
// that was skipped has none. The second grader of a name is NAME~2.
func (r Result) Scores(s *Session) (scores []trace.Score) {
	last := s.last()
	if last == nil {
		return nil
	}
	times := map[string]int{}
	for _, f := range r.Graders {
		name := f.Grader
		if times[name]++; times[name] > 1 {
			name = fmt.Sprintf("%s~%d", name, times[name])
		}
		if f.Verdict == Skipped {
			continue
		}
		score := trace.Score{Turn: last.ID, Case: r.Case, Name: name, Verdict: string(f.Verdict), Score: f.Score, Reason: f.Reason, Evidence: f.Evidence}
		scores = append(scores, score.Within())
	}
	return scores
}
