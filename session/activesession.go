package session

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/tributary-dev/tributary/permission"
	"github.com/tributary-dev/tributary/session/thread"
	"github.com/tributary-dev/tributary/session/turnstate"
	"github.com/tributary-dev/tributary/trace"
	"github.com/tributary-dev/tributary/workspace"
)

// This file has the state of a session in memory, and writes its records and its document.

// activeSession is a session in memory.
type activeSession struct {
	hub *Hub
	id  string

	// historyLock serializes writes to the history: a message or a rewind holds the token
	// until it is on record, so that log order equals arrival order. A channel, not a
	// mutex, so that a caller can stop waiting. A caller takes it before all other locks.
	historyLock chan struct{}

	// saveLock orders writes of the registry document: a token as well, taken after
	// historyLock and before all others.
	saveLock chan struct{}

	script permission.Script // how far the session is in its policy's script

	agentMu sync.Mutex // orders opening and closing of the agent; taken before mu

	mu        sync.Mutex // guards what follows
	info      Info
	deleted   bool
	evicted   bool   // a later change of the document is lost
	changes   uint64 // of info
	kept      uint64 // the changes that the document on record has
	thread    thread.Thread
	threaded  bool   // the thread has what is on record
	newestSeq uint64 // see newest
	seqKnown  bool
	names     thread.Names
	namesRead bool             // names has what is on record
	turns     map[string]*turn // all that are not closed
	running   *turn            // has the agent; nil once released
	queue     []*turn          // have not begun, in order
	last      *turn            // the newest that ended in this process

	agent         *opened // nil while closed; agentMu guards it too
	agentStale    int     // how often history was rewound since the agent worked; see applyRewind
	rewindWarning string  // why the agent cannot forget removed messages; for the next turn
	files         workspace.Dir
	leaveFiles    func() // nil while there is no agent
	closing       *time.Timer

	readers int           // of the log of a turn
	unread  chan struct{} // closed when there are none, if a caller waits for that

	life context.Context //nolint:containedctx // ends when the session is deleted or evicted
	end  context.CancelFunc

	// Guarded by hub.mu, which is taken last.
	pins     int
	used     time.Time
	evicting *time.Timer
}

func (h *Hub) newSession(info Info) *activeSession {
	l := &activeSession{hub: h, id: info.ID, info: info, turns: map[string]*turn{}, historyLock: make(chan struct{}, 1), saveLock: make(chan struct{}, 1)}
	l.life, l.end = context.WithCancel(context.Background())
	return l
}

// lockHistory gives the caller the only right to write the history, until release is called.
func (l *activeSession) lockHistory(ctx context.Context) (release func(), err error) {
	select {
	case l.historyLock <- struct{}{}:
		return func() { <-l.historyLock }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// save writes the registry document as it now stands.
func (l *activeSession) save(ctx context.Context) error {
	l.mu.Lock()
	l.changes++
	l.mu.Unlock()
	if _, err := l.write(ctx, "", nil); err != nil {
		return fmt.Errorf("keep session %q: %w", l.id, err)
	}
	return nil
}

// write puts events on record. A document that has changed goes with the durable ones, in
// the same commit, so that a session or a turn is known as soon as it has records.
func (l *activeSession) write(ctx context.Context, turn string, events []trace.Event) (last uint64, err error) {
	durable := slices.ContainsFunc(events, func(e trace.Event) bool { return !trace.Ephemeral(e.Payload) })
	if len(events) > 0 && (!durable || !l.unsaved()) {
		return l.hub.Log.Append(ctx, l.id, turn, events)
	}
	l.saveLock <- struct{}{}
	defer func() { <-l.saveLock }()
	l.mu.Lock()
	changes, gone := l.changes, l.deleted || l.evicted
	saved := l.kept == changes // meanwhile
	if gone || saved {
		l.mu.Unlock()
		if len(events) == 0 {
			return 0, nil
		}
		return l.hub.Log.Append(ctx, l.id, turn, events)
	}
	l.info.UpdatedAt = l.hub.Now()
	entry, err := l.info.entry(l.hub.nextStamp(l.info.UpdatedAt))
	l.mu.Unlock()
	if err != nil {
		return 0, err
	}
	if last, err = l.hub.Log.AppendWith(ctx, entry, turn, events); err == nil {
		l.mu.Lock()
		l.kept = changes
		l.mu.Unlock()
	}
	return last, err
}

// saveLater saves after something that cannot be undone; a failure is logged,
// since the next save writes the same again.
//
//nolint:contextcheck // it has to happen also if whoever was the cause has left
func (l *activeSession) saveLater() {
	// Close waits for what runs, so this gets through even as the hub's life ends.
	if err := l.save(context.WithoutCancel(l.hub.ctx)); err != nil {
		l.hub.Logger.Error("session document not written", "session", l.id, "error", err)
	}
}

// append puts events of a turn on record.
func (t *turn) append(ctx context.Context, events []trace.Event) error {
	events, err := t.session.nameSteps(ctx, t.id, events)
	if err != nil {
		return err
	}
	for _, e := range events {
		t.countTool(e.Payload)
		if _, is := e.Payload.(trace.Pause); is {
			t.requestsChanged(nil) // a client that sees the pause must find the turn paused
		}
	}
	if over := t.turnLimits.spend(events, t.session.hub.Options); over != "" {
		t.endNow(failed(trace.ReasonTooMuch, over))
	}
	last, err := t.session.append(ctx, t.id, events)
	if err != nil {
		return err
	}
	t.session.mu.Lock()
	defer t.session.mu.Unlock()
	for i, e := range events {
		t.session.thread.Take(t.id, last-uint64(len(events)-1-i), e.Payload) //nolint:gosec // a place in a list
		if _, is := e.Payload.(trace.Stop); is {
			t.state.Close()
		}
	}
	return nil
}

// append puts events on record and returns the number of the last one.
func (l *activeSession) append(ctx context.Context, turn string, events []trace.Event) (last uint64, err error) {
	err = l.hub.health.write(l.hub.Now, func() (err error) {
		last, err = l.write(ctx, turn, events)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("write to the log of session %q: %w", l.id, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.newestSeq, l.seqKnown = max(l.newestSeq, last), true
	return last, nil
}

// newest is the number of the newest record that this process knows. Records that are
// appended from now on have greater numbers.
func (l *activeSession) newest(ctx context.Context) (uint64, error) {
	l.mu.Lock()
	seq, known := l.newestSeq, l.seqKnown
	l.mu.Unlock()
	if known {
		return seq, nil
	}
	last, err := l.hub.Log.Last(ctx, l.id)
	if err != nil {
		return 0, l.notRead(err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.newestSeq, l.seqKnown = max(l.newestSeq, last), true
	return l.newestSeq, nil
}

// note records what happens outside any turn.
func (l *activeSession) note(p trace.Payload) {
	if d, ok := p.(trace.Data); ok && d.Name == "title" {
		l.retitle(d.Value)
	}
	e := trace.Event{ID: "note." + newID(l.hub.Now()), Time: l.hub.Now(), Actor: trace.Agent, Payload: p}
	if _, err := l.append(l.hub.ctx, "", []trace.Event{e}); err != nil {
		l.hub.Logger.Error("note not recorded", "session", l.id, "kind", p.Kind(), "error", err)
	}
}

func (l *activeSession) retitle(value json.RawMessage) {
	var text string
	if json.Unmarshal(value, &text) != nil || text == "" {
		return
	}
	l.mu.Lock()
	l.info.Title = title(text)
	l.mu.Unlock()
	l.saveLater()
}

// state tells what the session does now. The session is idle only when the last record of
// its turns is written, so that the history is then complete.
func (l *activeSession) state() (State, string) {
	if t := l.running; t != nil && !t.state.Closed() { // else only its agent is not free yet
		return published(t.state), t.id
	}
	if len(l.queue) > 0 {
		return Running, l.queue[0].id
	}
	for _, t := range l.turns {
		if !t.state.Closed() {
			return published(t.state), t.id
		}
	}
	return Idle, ""
}

// published is the state of a session whose current turn has this state.
func published(s turnstate.State) State {
	switch {
	case s == turnstate.Paused:
		return Paused
	case s.Closed():
		return Idle
	}
	return Running
}

// enter makes a turn known: its first record takes the document along.
func (l *activeSession) enter(t *turn) {
	l.turns[t.id] = t
	l.thread.Begin(t.id)
	l.info.Open = append(l.info.Open, t.ref())
	l.changes++
}

// leave forgets an ended turn, except that it was the last. One whose stop could
// not be written stays on the list of those that are to be closed.
func (l *activeSession) leave(t *turn, closed bool) {
	delete(l.turns, t.id)
	if t.counted {
		l.hub.quota.leave(t.by)
	}
	if closed {
		l.info.Open = slices.DeleteFunc(l.info.Open, func(r TurnRef) bool { return r.ID == t.id })
	}
	l.queue = slices.DeleteFunc(l.queue, func(q *turn) bool { return q == t })
	if t.state.Began() {
		ref := t.ref()
		l.info.Last, l.last = &ref, t
	}
}

// busy reports whether a prompt would have to wait for another turn. A turn whose end is
// decided does not count.
func (l *activeSession) busy() bool {
	return l.running != nil && !l.running.state.Stopped() || len(l.queue) > 0
}
