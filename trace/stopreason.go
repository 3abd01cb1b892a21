package trace

import "slices"

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

// Infrastructure reports whether something other than the agent's own work made the turn fail: the
// gateway, the way to the agent, or the way from the agent to its model. A turn that the gateway
// ended because the agent was silent or said too much is the agent's work.
func (s Stop) Infrastructure() bool {
	if s.Outcome != OutcomeFailed {
		return false
	}
	switch s.normalized().Class { // a record of an older version has no class
	case ClassAuth, ClassRateLimit, ClassOverloaded, ClassNetwork:
		return true
	case ClassRequest, ClassContext, ClassLimit:
		return false
	case ClassGateway:
		return s.Reason != ReasonIdle && s.Reason != ReasonTooMuch
	}
	return false
}

// gatewaysReason reports whether the reason of a failed turn is one of the gateway's own.
func gatewaysReason(reason string) bool {
	return slices.Contains([]string{ReasonUnavailable, ReasonLost, ReasonDied, ReasonIdle, ReasonTooMuch, ReasonLog, ReasonRestart}, reason)
}
