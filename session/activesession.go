package session

import (
	"context"
	"slices"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/internal/inflight"
	"github.com/tributary-dev/tributary/policy/permission"
	"github.com/tributary-dev/tributary/session/lockorder"
	"github.com/tributary-dev/tributary/session/thread"
	"github.com/tributary-dev/tributary/session/turnstate"
	"github.com/tributary-dev/tributary/trace"
)

// This file has the state of a session in memory.

// activeSession is a session in memory.
type activeSession struct {
	hub *Hub
	id  string

	// historyLock serializes writes to the history: a message or a rewind holds the token
	// until it is on record, so that log order equals arrival order. A channel, not a
	// mutex, so that a caller can stop waiting. A caller takes it before all mutexes.
	historyLock chan struct{}

	script permission.Script // how far the session is in its policy's script

	mu        lockorder.Mutex // guards what follows
	info      Info
	standing  standing
	deleted   bool
	evicted   bool   // a later change of the document is lost
	changes   uint64 // of info
	kept      uint64 // the changes that the document on record has
	thread    thread.Thread
	threaded  bool   // the thread has what is on record
	newestSeq uint64 // see newest
	seqKnown  bool
	folded    uint64                // see position
	writes    inflight.Count        // of the log
	turns     map[string]*turn      // all that are not closed
	running   *turn                 // has the agent; nil once released
	queue     []*turn               // have not begun, in order
	followers []*follower           // clients of a chat stream
	last      *turn                 // the newest that ended in this process
	stops     []keyedStop           // the newest that came with a key
	unwritten map[string]trace.Stop // of turns that have ended, and whose stop the log has not taken

	offers agent.Offers // what the agent has listed in this session
	about  aboutAgent

	opening openingNotes

	unasked unasked // what the agent has told beside the turns of people

	slot          agentSlot
	agentStale    int    // how often history was rewound since the agent worked; see applyRewind
	rewindWarning string // why the agent cannot forget removed messages; for the next turn
	closing       *time.Timer

	readers inflight.Count // of the log of a turn

	life context.Context //nolint:containedctx // ends when the session is deleted or evicted
	end  context.CancelFunc

	// Guarded by hub.mu, which is taken last.
	pins     int
	used     time.Time
	evicting *time.Timer
}

func (h *Hub) newSession(info Info) *activeSession {
	l := &activeSession{hub: h, id: info.ID, info: info, turns: map[string]*turn{}, unwritten: map[string]trace.Stop{}, historyLock: make(chan struct{}, 1), mu: lockorder.Mutex{Session: true}}
	l.life, l.end = context.WithCancel(context.Background())
	return l
}

// lockHistory gives the caller the only right to write the history, until release is called.
func (l *activeSession) lockHistory(ctx context.Context) (release func(), err error) {
	return acquireToken(ctx, l.historyLock, nil)
}

// acquireToken takes a token, until release is called. If the hub ends first, that is an error.
func acquireToken(ctx context.Context, token chan struct{}, end <-chan struct{}) (release func(), err error) {
	lockorder.Note(lockorder.Token, true)
	select {
	case token <- struct{}{}:
		return func() { <-token; lockorder.Note(lockorder.Token, false) }, nil
	case <-end:
		err = ErrClosing
	case <-ctx.Done():
		err = ctx.Err()
	}
	lockorder.Note(lockorder.Token, false)
	return nil, err
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

// published is the state of a session whose current turn has this state and is not closed.
func published(s turnstate.State) State {
	if s == turnstate.Paused {
		return Paused
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
		l.hub.quota.count(t.by, prompts{count: -1})
	}
	if !t.state.Began() { // else its agent may have the message until it is free
		t.freeMessage()
	}
	if closed && l.info.isOpen(t.id) {
		l.info.Open, l.changes = l.info.openBut(t.id), l.changes+1
	}
	l.queue = slices.DeleteFunc(l.queue, func(q *turn) bool { return q == t })
	if t.state.Began() {
		l.last = t
		if ref := t.ref(); l.info.Last == nil || *l.info.Last != ref {
			l.info.Last, l.changes = &ref, l.changes+1
		}
	}
	l.noteWaiting()
}

// busy reports whether a prompt would have to wait for another turn. A turn whose end is
// decided does not count.
func (l *activeSession) busy() bool {
	return l.running != nil && !l.running.state.Stopped() || len(l.queue) > 0
}
