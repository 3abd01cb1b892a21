package eventlog

import "slices"

// This file wakes the readers of a session.

// watch is the wish of one reader to be woken.
type watch struct {
	woken   chan<- struct{}
	durable bool // by durable records only
}

func wake(woken chan<- struct{}) {
	select {
	case woken <- struct{}{}:
	default: // it is to wake already
	}
}

// Watch has a reader of one session woken: by an append, by the deletion of the session, by [Log.Wake], and by the end of the
// log. The session need not exist. The capacity of woken is one, and what wakes puts a value there unless there is one. So
// a reader that reads and then waits misses nothing.
//
// A reader of durable records is not woken by appends of ephemeral records only. A session streams dozens of those a
// second. The caller calls stop once.
func (l *Log) Watch(session string, durable bool, woken chan<- struct{}) (stop func()) {
	w := &watch{woken, durable}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.watches[session] = append(l.watches[session], w)
	if l.closed {
		wake(w.woken)
	}
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		rest := slices.DeleteFunc(l.watches[session], func(o *watch) bool { return o == w })
		if l.watches[session] = rest; len(rest) == 0 {
			delete(l.watches, session)
		}
	}
}

// Wake wakes the readers of a session who are not readers of durable records only: something that they wait for besides
// records has happened.
func (l *Log) Wake(session string) { l.wake(session, false) }

// wake wakes the readers of a session; those of durable records only if there are any.
func (l *Log) wake(session string, durable bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, w := range l.watches[session] {
		if durable || !w.durable {
			wake(w.woken)
		}
	}
}
