package eventlog

import "sync"

// This file wakes the readers of a session.

// Watch is the wish to be woken by appends to one session. It costs a few bytes
// until it is closed; all watches of a session share one channel.
type Watch struct {
	log   *Log
	state *sessionState
	once  sync.Once
}

// Watch begins to watch a session, which need not exist. The caller closes it.
func (l *Log) Watch(session string) *Watch {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.state(session)
	s.watchers++
	return &Watch{log: l, state: s}
}

// Appended returns a channel that is closed at the next append to the session, at
// its deletion, and when the log closes. Take it before reading, read, then wait
// on it, and take a new one before the next read.
func (w *Watch) Appended() <-chan struct{} {
	w.log.mu.Lock()
	defer w.log.mu.Unlock()
	return w.log.channel(&w.state.wake)
}

// DurableAppended is Appended for a reader of durable records: appends of ephemeral records only do not
// close it. A session streams dozens of those a second, and such a reader would be
// woken for nothing.
func (w *Watch) DurableAppended() <-chan struct{} {
	w.log.mu.Lock()
	defer w.log.mu.Unlock()
	return w.log.channel(&w.state.durable)
}

// Close ends the watch. It is idempotent. A channel that was taken stays good
// for as long as somebody else watches.
func (w *Watch) Close() {
	w.once.Do(func() {
		w.log.mu.Lock()
		defer w.log.mu.Unlock()
		w.state.watchers--
		w.log.free(w.state)
	})
}

// state finds or makes the session's place. The caller holds l.mu, as for
// everything below, and frees what it made and didn't use.
func (l *Log) state(session string) *sessionState {
	s, ok := l.sessions[session]
	if !ok {
		s = &sessionState{session: session}
		l.sessions[session] = s
	}
	return s
}

// channel is the one that is to be closed next. In a closed log that has happened.
func (l *Log) channel(c *chan struct{}) <-chan struct{} {
	if l.closed {
		done := make(chan struct{})
		close(done)
		return done
	}
	if *c == nil {
		*c = make(chan struct{})
	}
	return *c
}

// wake wakes whoever watches; readers of durable records only if there are any.
func (l *Log) wake(session string, durable bool) {
	s, ok := l.sessions[session]
	if !ok {
		return
	}
	woken := []*chan struct{}{&s.wake}
	if durable {
		woken = append(woken, &s.durable)
	}
	for _, c := range woken {
		if *c != nil {
			close(*c)
			*c = nil
		}
	}
}

func (l *Log) free(s *sessionState) {
	if s.watchers == 0 && s.inTails == nil {
		delete(l.sessions, s.session)
	}
}
