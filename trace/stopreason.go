package trace

// This file names the reasons of a stop that the gateway gives.

// Reasons of a stop that an adapter or the gateway gives a turn whose agent said no
// word of its end.
const (
	ReasonUnavailable = "agent_unavailable" // it could not be started, or reached
	ReasonLost        = "agent_lost"        // it went away in the middle
	ReasonDied        = "agent_died"        // so did its process
	ReasonIdle        = "idle"              // it was silent for too long
	ReasonTooMuch     = "too_much"          // it said more than a turn may
	ReasonLog         = "log"               // what it said could not be recorded
	ReasonRestart     = "restart"           // the gateway was gone
)

// Infrastructure reports whether the turn failed without a word of the agent's: an error on
// the way or a limit ended it, not the agent's own failure.
func (s Stop) Infrastructure() bool {
	if s.Outcome != OutcomeFailed {
		return false
	}
	switch s.Reason {
	case ReasonUnavailable, ReasonLost, ReasonDied, ReasonIdle, ReasonTooMuch, ReasonLog, ReasonRestart:
		return true
	}
	return false
}
