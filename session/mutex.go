package session

import "sync"

// mutex is a mutex with a place in the order of locks, which the table in ARCHITECTURE.md
// shows: a token, then the mutex of a session, then one of the Hub's own. A goroutine has at
// most one of each, and none while it writes to the log or calls an agent.
type mutex struct {
	sync.Mutex
	first bool // the mutex of a session
}

// lockKind is a place in the order of locks.
type lockKind int

const (
	token lockKind = iota + 1
	ofSession
	ofHub
)

// watchLock is called before a lock is taken, and after it is given back. Tests set it.
//
//nolint:gochecknoglobals // nil except in tests
var watchLock func(k lockKind, taken bool)

func watch(k lockKind, taken bool) {
	if watchLock != nil {
		watchLock(k, taken)
	}
}

func (m *mutex) kind() lockKind {
	if m.first {
		return ofSession
	}
	return ofHub
}

// Lock takes the mutex.
func (m *mutex) Lock() {
	watch(m.kind(), true)
	m.Mutex.Lock()
}

// Unlock gives the mutex back.
func (m *mutex) Unlock() {
	m.Mutex.Unlock()
	watch(m.kind(), false)
}
