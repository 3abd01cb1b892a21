package thread

import (
	"maps"
	"slices"

	"github.com/tributary-dev/tributary/trace"
)

// This file has the scores of turns.

// noteScore notes where a score is on record. The newest one of an id counts.
func (t *Thread) noteScore(id string, seq uint64) {
	setInMap(&t.scores, id, max(t.scores[id], seq))
}

// Scores are the numbers of the records of all scores that no later one has replaced, in order.
func (t *Thread) Scores() []uint64 { return slices.Sorted(maps.Values(t.scores)) }

// WithScores is how many scores there are with those of the events.
func (t *Thread) WithScores(events []trace.Event) int {
	added := map[string]bool{}
	for _, e := range events {
		if d, is := e.Payload.(trace.Data); is && t.scores[d.ID] == 0 {
			added[d.ID] = true
		}
	}
	return len(t.scores) + len(added)
}

// LastAnswers are the last answers that are left of the turns, by the ids of the turns.
func (t *Thread) LastAnswers() map[string]string {
	last := map[string]string{}
	for _, m := range t.Messages {
		if !m.User {
			last[m.Turn] = m.ID
		}
	}
	return last
}
