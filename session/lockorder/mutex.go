// Package lockorder has the mutexes of sessions and of the parts of a Hub, whose order tests check.
package lockorder

import "sync"

// Mutex is a mutex with a place in the order of locks, which the table in ARCHITECTURE.md
// shows: a token, then the mutex of a session, then one of the Hub's own. A goroutine has at
// most one of each, and none while it writes to the log or calls an agent.
type Mutex struct {
	mutex sync.Mutex
	// Session says that it is the mutex of a session.
	Session bool
}

// Kind is a place in the order of locks.
type Kind int

// The places.
const (
	Token Kind = iota + 1
	OfSession
	OfHub
)

// Watch is called before a lock is taken, and after it is given back. Tests set it.
//
//nolint:gochecknoglobals // nil except in tests
var Watch func(k Kind, taken bool)

// Note tells Watch of a lock.
func Note(k Kind, taken bool) {
	if Watch != nil {
		Watch(k, taken)
	}
}

func (m *Mutex) kind() Kind {
	if m.Session {
		return OfSession
	}
	return OfHub
}

// Lock takes the mutex.
func (m *Mutex) Lock() {
	Note(m.kind(), true)
	m.mutex.Lock()
}

// Unlock gives the mutex back.
func (m *Mutex) Unlock() {
	m.mutex.Unlock()
	Note(m.kind(), false)
}
