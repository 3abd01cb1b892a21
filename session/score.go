package session

import (
	"context"
	"fmt"
	"time"

	"github.com/tributary-dev/tributary/trace"
)

// This file keeps what graders found in the turns of a session.

const (
	// maxScores bounds the scores that one call records, and maxScored those of a session.
	maxScores = 100
	maxScored = 2000
)

// Score is a score on record.
type Score struct {
	trace.Score

	// MessageID is the last answer of the turn; empty if the turn was removed.
	MessageID string    `json:"message_id,omitempty"`
	At        time.Time `json:"at"`
}

// Score puts scores on record, all of them or none. Their turns must have ended.
func (h *Hub) Score(ctx context.Context, session string, scores []trace.Score) error {
	if len(scores) == 0 || len(scores) > maxScores {
		return &ChoiceError{fmt.Sprintf("`scores` must be a list of 1 to %d scores", maxScores)}
	}
	return h.writingThread(ctx, session, func(l *activeSession) error { return l.score(ctx, scores) })
}

func (l *activeSession) score(ctx context.Context, scores []trace.Score) error {
	turns, err := l.hub.Log.Turns(ctx, l.id, 0, 0)
	if err != nil {
		return l.notRead(err)
	}
	ended := map[string]bool{}
	for _, t := range turns {
		ended[t.Turn] = t.Last != 0
	}
	var notes []trace.Event
	for i, s := range scores {
		if err := s.Check(); err != nil {
			return &ChoiceError{fmt.Sprintf("score %d: %s", i+1, err)}
		}
		if !ended[s.Turn] {
			return &ChoiceError{fmt.Sprintf("no turn %q of this session has ended: name a turn of its trace that has a stop", s.Turn)}
		}
		notes = append(notes, l.noteOf(trace.User, s.Payload())...)
	}
	l.mu.Lock()
	full := l.thread.WithScores(notes) > maxScored
	l.mu.Unlock()
	if full {
		return &ChoiceError{fmt.Sprintf("a session has at most %d scores: give fewer graders a name of their own", maxScored)}
	}
	if err := l.append(context.WithoutCancel(ctx), "", notes, nil); err != nil {
		return elsewhere(err)
	}
	return nil
}

// Scores are the scores of a session that no later ones have replaced, the oldest first.
func (h *Hub) Scores(ctx context.Context, session string) ([]Score, error) {
	return useThread(ctx, h, session, func(l *activeSession) ([]Score, error) {
		l.mu.Lock()
		at, answers := l.thread.Scores(), l.thread.LastAnswers()
		l.mu.Unlock()
		all := []Score{}
		for len(at) > 0 {
			n := 1 // those that follow each other are read together
			for n < len(at) && at[n] == at[n-1]+1 {
				n++
			}
			for r, err := range l.records(ctx, Filter{After: at[0] - 1, Upto: at[n-1]}) {
				if err != nil {
					return nil, err
				}
				d, _ := r.Payload.(trace.Data)
				if s, is := d.Score(); is {
					all = append(all, Score{s, answers[s.Turn], r.Time})
				}
			}
			at = at[n:]
		}
		return all, nil
	})
}
