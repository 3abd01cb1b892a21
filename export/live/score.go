package live

import (
	"context"
	"iter"

	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/export/otlp"
	"github.com/tributary-dev/tributary/export/reader"
	"github.com/tributary-dev/tributary/trace"
)

// This file sends the scores that come after their turns.

// scoresIn passes records on, and keeps the scores behind a record.
func scoresIn(records iter.Seq2[trace.Record, error], after uint64, found *[]*reader.Score) iter.Seq2[trace.Record, error] {
	return func(yield func(trace.Record, error) bool) {
		for r, err := range records {
			d, _ := r.Payload.(trace.Data)
			if s, is := d.Score(); is && r.Seq > after {
				*found = append(*found, &reader.Score{Score: s, Record: r.ID, Seq: r.Seq, Time: r.Time})
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

// scores sends the scores of a session in which no turn waits: those behind the last turn that was sent.
// After a restart some are sent again, as the same spans.
func (e *Exporter) scores(ctx context.Context, session string) error {
	last, ours, err := e.log.Position(ctx, e.Name, session, e.Agents)
	if err != nil || !ours {
		return err //nolint:wrapcheck // a sentence
	}
	at := e.sessions[session]
	last = max(last, at.scored)
	var found []*reader.Score
	for r, err := range scoresIn(e.log.Durable(ctx, session, last, 0), 0, &found) {
		if err != nil {
			if _, skip := damaged(err).(skipError); skip { //nolint:errorlint // it is not wrapped
				return nil
			}
			return err
		}
		last = r.Seq
	}
	if err := e.sendScores(ctx, session, found); err != nil {
		return err
	}
	if last > at.scored {
		at.scored = last
		e.remember(session, at)
	}
	return nil
}

// sendScores sends scores, each in the trace of its turn.
func (e *Exporter) sendScores(ctx context.Context, session string, scores []*reader.Score) error {
	if len(scores) == 0 {
		return nil
	}
	of := map[string][]*reader.Score{}
	for _, s := range scores {
		of[s.Turn] = append(of[s.Turn], s)
	}
	marks, err := e.log.Turns(ctx, session, 0, 0)
	if err != nil {
		return err //nolint:wrapcheck // a sentence
	}
	for _, mark := range marks {
		if of[mark.Turn] == nil || mark.Last == 0 {
			continue
		}
		requests, err := e.evaluations(ctx, session, mark, of[mark.Turn])
		if err != nil {
			if _, skip := err.(skipError); !skip { //nolint:errorlint // it is not wrapped
				return err
			}
			e.Logger.Warn("the scores of a turn are not exported", "session", session, "turn", mark.Turn, "error", err)
			continue
		}
		sum, err := e.deliver(ctx, session, requests)
		if err != nil {
			return err
		}
		e.succeeded(session, 0, sum)
	}
	return nil
}

// evaluations makes the spans of the scores of one turn.
func (e *Exporter) evaluations(ctx context.Context, session string, mark eventlog.TurnMark, scores []*reader.Score) (requests []otlp.Request, err error) {
	defer recovered(&err)
	for t, err := range reader.Turns(e.log.Durable(ctx, session, mark.First-1, mark.Last), nil) {
		if err != nil {
			return nil, damaged(err)
		}
		if t.ID == mark.Turn && otlp.CheckTime(t) == nil {
			t.Scores = scores
			if requests, err = otlp.Scores(t, e.Spans); err != nil {
				return nil, skipError{err}
			}
		}
	}
	return requests, nil
}
