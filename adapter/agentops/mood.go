package agentops

import (
	"time"
)

// mood is what is known of the server and how it stands.
type mood struct {
	// mute says that it has no address for prompts.
	mute bool
	// asleep is since when the session is being waited for; zero if it is not.
	asleep time.Time
}

// posts reports whether prompts go by REST.
func (m *mood) posts() bool { return !m.mute }

// wakes reports whether the session is being waited for, as long as that is usual.
func (m *mood) wakes(asleep bool, now time.Time, patience time.Duration) bool {
	switch {
	case !asleep:
		m.asleep = time.Time{}
		return false
	case m.asleep.IsZero():
		m.asleep = now
	}
	return now.Sub(m.asleep) < patience
}
