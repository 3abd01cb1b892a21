package session

import (
	"context"
	"fmt"
	"iter"

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
	l, release, err := h.session(ctx, session)
	if err != nil {
		return Page{}, err
	}
	defer release()
	if err := l.loadThread(ctx); err != nil {
		return Page{}, err
	}
	l.mu.Lock()
	turns := l.thread.Spans()
	l.mu.Unlock()
	end := len(turns)
	if before != "" {
		end = -1
		for i, t := range turns {
			if t.Turn == before {
				end = i
			}
		}
		if end < 0 {
			return Page{}, fmt.Errorf("%w: history has no turn %q to go back from", ErrUnknownMessage, before)
		}
	}
	page := turns[max(0, end-limit):end]
	if len(page) == 0 {
		return Page{Records: func(func(trace.Record, error) bool) {}}, nil
	}
	now, err := l.some(ctx, page, func(turns []thread.Span) []thread.Span { return turns[len(turns)/2:] })
	if err != nil {
		return Page{}, err
	}
	p := Page{Records: whileAsked(ctx, now.records), Bytes: now.bytes}
	if len(now.turns) < end {
		p.Before = now.turns[0].Turn
	}
	return p, nil
}

// read is some turns with their records, and what those weigh.
type read struct {
	turns   []thread.Span
	records []trace.Record
	bytes   int
}

// Pages yields the pages of the whole history, the oldest first. Turns that begin meanwhile
// are not in it.
func (h *Hub) Pages(ctx context.Context, session string, limit int) (iter.Seq2[Page, error], error) {
	l, release, err := h.session(ctx, session)
	if err != nil {
		return nil, err
	}
	defer release()
	if err := l.loadThread(ctx); err != nil {
		return nil, err
	}
	l.mu.Lock()
	turns := l.thread.Spans()
	l.mu.Unlock()
	return func(yield func(Page, error) bool) {
		for len(turns) > 0 {
			now, err := l.some(ctx, turns[:min(limit, len(turns))], func(turns []thread.Span) []thread.Span { return turns[:len(turns)/2] })
			if err != nil {
				yield(Page{}, err)
				return
			}
			turns = turns[len(now.turns):]
			if !yield(Page{Records: whileAsked(ctx, now.records), Bytes: now.bytes}, nil) {
				return
			}
		}
	}, nil
}

// some reads the records of these turns. How large a turn is shows only as it is read: when
// they prove too much for a page, some reads the half of them.
func (l *activeSession) some(ctx context.Context, turns []thread.Span, half func([]thread.Span) []thread.Span) (read, error) {
	for {
		now := read{turns: turns}
		for r, err := range l.pageOf(ctx, turns) {
			if err != nil {
				return read{}, err
			}
			now.records = append(now.records, r)
			now.bytes += trace.ApproxSize(r.Payload)
			if now.bytes > PageBytes && len(turns) > 1 {
				break
			}
		}
		if now.bytes <= PageBytes || len(turns) == 1 {
			return now, nil
		}
		turns = half(turns)
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
		left := map[string]thread.Span{}
		for _, t := range turns {
			left[t.Turn] = t
		}
		texts, err := l.newestTexts(ctx, turns[0].After)
		if err != nil {
			yield(trace.Record{}, err)
			return
		}
		for r, err := range l.hub.Log.Durable(ctx, l.id, turns[0].After, 0) {
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
			if texts.of(&r); r.Payload == nil {
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

func takenBack(t thread.Span) trace.Record {
	return trace.Record{Event: trace.Event{Payload: trace.Rewind{To: t.To}}}
}

// TurnOf is the turn of a message of the history.
func (h *Hub) TurnOf(ctx context.Context, session, message string) (string, error) {
	l, release, err := h.session(ctx, session)
	if err != nil {
		return "", err
	}
	defer release()
	if err := l.loadThread(ctx); err != nil {
		return "", err
	}
	message = l.resolveMessageID(message)
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := l.thread.Find(message); i >= 0 {
		return l.thread.Messages[i].Turn, nil
	}
	return "", ErrUnknownMessage
}

// Records yields everything that is on record of a session after a number: for
// exports. With follow it goes on as records come, until the session is deleted.
func (h *Hub) Records(ctx context.Context, session string, after uint64, deltas, follow bool) (iter.Seq2[trace.Record, error], error) {
	_, release, err := h.session(ctx, session)
	if err != nil {
		return nil, err
	}
	release()
	if follow {
		return h.followRecords(ctx, session, after, deltas), nil
	}
	return h.records(ctx, session, after, deltas), nil
}

// records yields what is on record now of a session.
func (h *Hub) records(ctx context.Context, session string, after uint64, deltas bool) iter.Seq2[trace.Record, error] {
	if deltas {
		return h.Log.After(ctx, session, after)
	}
	return h.Log.Durable(ctx, session, after, 0)
}

func (h *Hub) followRecords(ctx context.Context, session string, after uint64, deltas bool) iter.Seq2[trace.Record, error] {
	source := h.Log.FollowDurable
	if deltas {
		source = h.Log.Follow
	}
	return func(yield func(trace.Record, error) bool) {
		l, release, err := h.session(ctx, session)
		if err != nil {
			yield(trace.Record{}, err)
			return
		}
		defer release()
		following, cancel := l.during(ctx)
		defer cancel()
		source(following, session, after)(yield)
	}
}
