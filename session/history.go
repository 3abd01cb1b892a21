package session

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/tributary-dev/tributary/session/thread"
	"github.com/tributary-dev/tributary/trace"
)

// This file reads the history of a session in pages.

// PageBytes is how much a page holds of records, as [trace.ApproxSize] weighs them: what
// a client waits for, and what is held in memory while it reads. A page has one turn
// at least, whatever that weighs.
const PageBytes = 32 << 20

// Page is a piece of a session's history.
type Page struct {
	// Records yields the whole records of the page's turns, in order, and ends with
	// an error when ctx does.
	Records iter.Seq2[trace.Record, error]
	// Bytes is what they weigh.
	Bytes int
	// Before is what to ask for to get the page before this one, or "".
	Before string
}

// History returns the last turns of the session's thread before the named one ("":
// up to now), at most limit of them, and fewer where they are large. Removed
// messages are not in it.
func (h *Hub) History(ctx context.Context, session, before string, limit int) (Page, error) {
	return useThread(ctx, h, session, func(l *activeSession) (Page, error) {
		turns := l.spans()
		if before != "" {
			end := slices.IndexFunc(turns, func(t thread.Span) bool { return t.Turn == before })
			if end < 0 {
				return Page{}, fmt.Errorf("%w: history has no turn %q to go back from", ErrUnknownMessage, before)
			}
			turns = turns[:end]
		}
		p, n, err := l.page(ctx, turns[max(0, len(turns)-limit):], true)
		if n < len(turns) && err == nil {
			p.Before = turns[len(turns)-n].Turn
		}
		return p, err
	})
}

// Pages yields the pages of the whole history, the oldest first. Turns that begin meanwhile
// are not in it.
func (h *Hub) Pages(ctx context.Context, session string, limit int) (iter.Seq2[Page, error], error) {
	return useThread(ctx, h, session, func(l *activeSession) (iter.Seq2[Page, error], error) {
		turns := l.spans()
		return func(yield func(Page, error) bool) {
			for len(turns) > 0 {
				p, n, err := l.page(ctx, turns[:min(limit, len(turns))], false)
				turns = turns[n:]
				if !yield(p, err) || err != nil {
					return
				}
			}
		}, nil
	})
}

func (l *activeSession) spans() []thread.Span {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.thread.Spans()
}

// page reads the records of these turns, or of the newest or the oldest n of them. How large a turn
// is shows only as it is read: when they prove too much for a page, page reads the half of them.
func (l *activeSession) page(ctx context.Context, turns []thread.Span, newest bool) (p Page, n int, err error) {
	some := turns
	for {
		var records []trace.Record
		p.Bytes = 0
		for r, err := range l.pageOf(ctx, some) {
			if err != nil {
				return Page{}, 0, err
			}
			records = append(records, r)
			if p.Bytes += trace.ApproxSize(r.Payload); p.Bytes > PageBytes && len(some) > 1 {
				break
			}
		}
		switch half := len(some) / 2; {
		case p.Bytes <= PageBytes || len(some) == 1:
			p.Records = whileAsked(ctx, records)
			return p, len(some), nil
		case newest:
			some = some[half:]
		default:
			some = some[:half]
		}
	}
}

// whileAsked yields records until ctx ends: making messages of many takes a while,
// and is not done for a client that has gone.
func whileAsked(ctx context.Context, records []trace.Record) iter.Seq2[trace.Record, error] {
	return func(yield func(trace.Record, error) bool) {
		for _, r := range records {
			if err := ctx.Err(); err != nil {
				yield(trace.Record{}, err)
				return
			}
			if !yield(r, nil) {
				return
			}
		}
	}
}

// pageOf yields the whole records of some turns. If a rewind removed a part of a
// turn, a rewind to the start of that part follows the turn's records. Up to there
// the records show the ends of the remaining messages. Each message of a user is there once,
// with its newest text.
func (l *activeSession) pageOf(ctx context.Context, turns []thread.Span) iter.Seq2[trace.Record, error] {
	return func(yield func(trace.Record, error) bool) {
		if len(turns) == 0 {
			return
		}
		left := map[string]thread.Span{}
		for _, t := range turns {
			left[t.Turn] = t
		}
		renew, err := l.newestTexts(ctx, turns[0].After)
		if err != nil {
			yield(trace.Record{}, err)
			return
		}
		for r, err := range l.records(ctx, Filter{After: turns[0].After}) {
			if err != nil {
				yield(trace.Record{}, err)
				return
			}
			t, shown := left[r.Turn]
			if !shown {
				continue
			}
			if _, rewound := r.Payload.(trace.Rewind); rewound {
				continue // the thread has heeded it already
			}
			if renew(&r); r.Payload == nil {
				continue
			}
			if !yield(r, nil) {
				return
			}
			if _, over := r.Payload.(trace.Stop); !over {
				continue
			}
			delete(left, r.Turn)
			if t.To != "" && !yield(takenBack(t), nil) || len(left) == 0 {
				return
			}
		}
		for _, t := range turns { // those that are not over
			if _, open := left[t.Turn]; open && t.To != "" && !yield(takenBack(t), nil) {
				return
			}
		}
	}
}

// newestTexts reads the newest versions of the prompts after a number whose users changed the text
// while they waited. What it returns gives a prompt its newest text. A later version of a prompt loses
// its payload.
func (l *activeSession) newestTexts(ctx context.Context, after uint64) (func(*trace.Record), error) {
	l.mu.Lock()
	rewritten := l.thread.Rewritten()
	l.mu.Unlock()
	newest := map[uint64]trace.Payload{} // by the number of the first version
	for first, last := range rewritten {
		if first <= after {
			continue
		}
		r, err := l.recordAt(ctx, last)
		if err != nil {
			return nil, err
		}
		newest[first] = r.Payload
	}
	shown := map[[2]string]bool{} // the messages of turns
	return func(r *trace.Record) {
		prompt, is := r.Payload.(trace.Prompt)
		if !is {
			return
		}
		key := [2]string{r.Turn, prompt.Message.ID}
		if shown[key] {
			r.Payload = nil
			return
		}
		shown[key] = true
		if text, rewritten := newest[r.Seq]; rewritten {
			r.Payload = text
		}
	}, nil
}

func takenBack(t thread.Span) trace.Record {
	return trace.Record{Event: trace.Event{Payload: trace.Rewind{To: t.To}}}
}

// TurnOf is the turn of a message of the history.
func (h *Hub) TurnOf(ctx context.Context, session, message string) (string, error) {
	return useThread(ctx, h, session, func(l *activeSession) (string, error) {
		message = l.resolveMessageID(message)
		l.mu.Lock()
		defer l.mu.Unlock()
		if i := l.thread.Find(message); i >= 0 {
			return l.thread.Messages[i].Turn, nil
		}
		return "", ErrUnknownMessage
	})
}
