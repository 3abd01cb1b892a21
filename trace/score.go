package trace

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// This file says what a grader found in a turn.

// The verdicts of a score.
const (
	ScorePass    = "pass"
	ScoreFail    = "fail"
	ScoreUnknown = "unknown" // the grader could not tell
)

// The bounds of a score, in bytes and in entries.
const (
	maxScoreName     = 200 // also of a case, a turn and an id of a record
	maxScoreReason   = 2000
	maxScoreEvidence = 32
)

// Score is what a grader found in a turn that has ended, as the value of the data named score. A
// later score of the same turn, case and name replaces it for readers.
type Score struct {
	Turn string `json:"turn"`
	// Case names the task that the grader belongs to, and Name the grader.
	Case    string `json:"case,omitempty"`
	Name    string `json:"name"`
	Verdict string `json:"verdict"`
	// Score is from 0 to 1, nil if the grader gives no number.
	Score *float64 `json:"score,omitempty"`
	// Reason is a sentence, and Evidence are the ids of the records that show it.
	Reason   string   `json:"reason,omitempty"`
	Evidence []string `json:"evidence,omitempty"`
	// By is who sent the score.
	By string `json:"by,omitempty"`
}

// Check returns an error of one sentence for a score that is not as it must be.
func (s Score) Check() error {
	switch {
	case !scoreName(s.Turn):
		return errors.New("`turn` must be the id of a turn")
	case !scoreName(s.Name):
		return fmt.Errorf("`name` must be a line of 1 to %d bytes", maxScoreName)
	case s.Case != "" && !scoreName(s.Case):
		return fmt.Errorf("`case` must be a line of at most %d bytes", maxScoreName)
	case !slices.Contains([]string{ScorePass, ScoreFail, ScoreUnknown}, s.Verdict):
		return fmt.Errorf("`verdict` must be %s, %s or %s", ScorePass, ScoreFail, ScoreUnknown)
	case s.Score != nil && !(*s.Score >= 0 && *s.Score <= 1):
		return errors.New("`score` must be a number from 0 to 1")
	case len(s.Reason) > maxScoreReason:
		return fmt.Errorf("`reason` must have at most %d bytes", maxScoreReason)
	case len(s.Evidence) > maxScoreEvidence || slices.ContainsFunc(s.Evidence, func(id string) bool { return !scoreName(id) }):
		return fmt.Errorf("`evidence` must be at most %d ids of records", maxScoreEvidence)
	}
	return nil
}

func scoreName(s string) bool {
	return s != "" && len(s) <= maxScoreName && utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl)
}

// Within is the score with a reason and evidence that are not too long.
func (s Score) Within() Score {
	if len(s.Reason) > maxScoreReason {
		s.Reason = strings.ToValidUTF8(s.Reason[:maxScoreReason-len("…")], "") + "…"
	}
	s.Evidence = s.Evidence[:min(len(s.Evidence), maxScoreEvidence)]
	return s
}

// Payload is the data with that value. It belongs to no turn, because the turn is over.
func (s Score) Payload() Payload {
	d := world(dataScore, s)
	d.ID = strings.Join([]string{url.PathEscape(s.Turn), url.PathEscape(s.Case), url.PathEscape(s.Name)}, "/")
	return d
}

// Score returns what the data says of a turn, if it is the data named score.
func (d Data) Score() (s Score, ok bool) {
	s, ok = ofWorld[Score](d, dataScore)
	return s, ok && s.Check() == nil
}
