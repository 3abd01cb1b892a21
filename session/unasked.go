package session

import (
	"math"
	"time"

	"github.com/tributary-dev/tributary/trace"
)

// This file bounds what an agent puts on record beside the turns of people.

const (
	// maxNote is the size in bytes of one piece of news that an agent tells beside its turns, such
	// as a list of commands. The session leaves out a larger one.
	maxNote = 1 << 20
	// mostUnasked is how many pieces of news, of noteUnit bytes at most, an agent may tell at once,
	// and moreUnasked how many more each second. A turn that the agent begins by itself counts
	// weightOfTurn of them.
	mostUnasked  = 1000
	moreUnasked  = 2
	noteUnit     = 16 << 10
	weightOfTurn = 4
)

// unasked counts what the agent of a session has told unasked.
type unasked struct {
	spent  float64 // of mostUnasked
	at     time.Time
	silent bool // something was left out, and the agent has not been quiet since
}

// mayTell reports whether an agent may put so much on record, and counts it. The log says once when
// the agent exceeds the bounds.
func (l *activeSession) mayTell(units float64, what string) bool {
	l.mu.Lock()
	u, now := &l.unasked, l.hub.Now()
	u.spent = math.Max(0, u.spent-moreUnasked*now.Sub(u.at).Seconds())
	u.at = now
	fits := u.spent+units <= mostUnasked
	first := !fits && (!u.silent || u.spent == 0)
	if u.silent = u.silent && u.spent > 0 || !fits; fits {
		u.spent += units
	}
	l.mu.Unlock()
	if first {
		l.hub.Logger.Warn("the agent tells more than a session keeps beside its turns, so the rest is left out", "session", l.id, "left_out", what)
	}
	return fits
}

// mayNote is mayTell for a piece of news.
func (l *activeSession) mayNote(p trace.Payload) bool {
	size := trace.ApproxSize(p)
	if size > maxNote {
		return l.mayTell(math.Inf(1), "a piece of news larger than 1 MB")
	}
	return l.mayTell(1+float64(size/noteUnit), "news")
}
