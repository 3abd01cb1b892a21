package eventlog

import "sync"

// This file wakes the readers of a session.

// Watch is the wish to be woken by appends to one session. It costs a few bytes
// until it is closed; all watches of a session share one channel.
type Watch struct {
	log     *Log
	session string
	state   *sessionState
	once    sync.Once
}

// sessionState is a session that somebody watches. The log's lock guards it.
type sessionState struct {
	watchers int
	appended chan struct{} // nil when nobody asked for it since the last append
	durable  chan struct{} // the same, since the last append of a durable record
}

// Watch begins to watch a session, which need not exist. The caller closes it.
func (l *Log) Watch(session string) *Watch {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.sessions[session]
	if s == nil {
		s = &sessionState{}
		l.sessions[session] = s
	}
	s.watchers++
	return &Watch{log: l, session: session, state: s}
}

// Appended returns a channel that is closed at the next append to the session, at
// its deletion, and when the log closes. Take it before reading, read, then wait
// on it, and take a new one before the next read.
func (w *Watch) Appended() <-chan struct{} {
	w.log.mu.Lock()
	defer w.log.mu.Unlock()
	return w.log.channel(&w.state.appended)
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
		if w.state.watchers--; w.state.watchers == 0 {
			delete(w.log.sessions, w.session)
		}
	})
}

// channel is the one that is to be closed next. In a closed log that has happened. The
// caller holds l.mu.
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

// wake wakes the readers of a session; those of durable records only if there are any.
func (l *Log) wake(session string, durable bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s := l.sessions[session]; s != nil {
		s.wake(durable)
	}
}

func (s *sessionState) wake(durable bool) {
	woken := []*chan struct{}{&s.appended}
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
