// Package turnstate is the life of a turn: its states, the transitions between them, and
// what an API publishes of each state.
//
//	admitted ─▶ queued ─▶ running ⇄ paused ─▶ stopping ─▶ ended ─▶ released
//	     │         ├─▶ held
//	     └─────────┴─▶ withdrawing ─▶ withdrawn
//
// A turn that finds the agent free runs at once: its prompt and its first message go on record
// together. If the log refuses them, the turn is withdrawn. A running turn can stop without a
// pause. A running or paused turn can be detached.
package turnstate

import "slices"

// State is the state of a turn. The zero State is Admitted.
type State uint8

// The states of a turn.
const (
	Admitted    State = iota // the prompt is taken, and not on record
	Queued                   // the prompt is on record and waits for the agent
	Running                  // the turn has the agent
	Paused                   // the agent waits for a person
	Stopping                 // the end is decided, and not on record
	Ended                    // the end is on record, and the agent is not free
	Released                 // the agent is free for the next turn
	Withdrawing              // like Stopping, for a turn that never had the agent
	Withdrawn                // like Ended, for a turn that never had the agent
	Detached                 // the turn goes on at the agent's server without this gateway
	Held                     // the prompt is on record only: a person continues or removes it
)

// next lists the transitions that are allowed.
func (s State) next() []State {
	switch s {
	case Admitted:
		return []State{Queued, Running, Withdrawing}
	case Queued:
		return []State{Running, Held, Withdrawing}
	case Running:
		return []State{Paused, Stopping, Withdrawing, Detached}
	case Paused:
		return []State{Running, Stopping, Detached}
	case Stopping:
		return []State{Ended}
	case Ended:
		return []State{Released}
	case Withdrawing:
		return []State{Withdrawn}
	case Released, Withdrawn, Detached, Held:
	}
	return nil
}

// To changes the state, and reports false if the transition is not allowed. Then the state
// stays what it was.
func (s *State) To(next State) bool {
	if !slices.Contains(s.next(), next) {
		return false
	}
	*s = next
	return true
}

// Stop decides the end of a turn, and reports false if the end was decided before.
func (s *State) Stop() bool { return s.To(Stopping) || s.To(Withdrawing) }

// Close says that nothing more of the turn is written: its end is on record, or the log has
// failed.
func (s *State) Close() bool { return s.To(Ended) || s.To(Withdrawn) }

// Began reports whether the turn has, or had, the agent.
func (s State) Began() bool {
	switch s {
	case Running, Paused, Stopping, Ended, Released, Detached:
		return true
	case Admitted, Queued, Withdrawing, Withdrawn, Held:
	}
	return false
}

// Stopped reports whether the end of the turn is decided.
func (s State) Stopped() bool {
	switch s {
	case Stopping, Ended, Released, Withdrawing, Withdrawn, Detached, Held:
		return true
	case Admitted, Queued, Running, Paused:
	}
	return false
}

// Closed reports whether nothing more of the turn is written here.
func (s State) Closed() bool {
	switch s {
	case Ended, Released, Withdrawn, Detached, Held:
		return true
	case Admitted, Queued, Running, Paused, Stopping, Withdrawing:
	}
	return false
}

// Waiting reports whether the turn waits for the agent.
func (s State) Waiting() bool { return s == Admitted || s == Queued }

// String returns the name of a state.
func (s State) String() string {
	names := []string{"admitted", "queued", "running", "paused", "stopping", "ended", "released", "withdrawing", "withdrawn", "detached", "held"}
	if int(s) >= len(names) {
		return "unknown"
	}
	return names[s]
}
