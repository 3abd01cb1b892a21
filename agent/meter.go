package agent

import "errors"

// Meter takes what an adapter counts, for /metrics. The zero Meter counts nothing,
// so that an adapter need not check.
type Meter func(Count)

// Count names something that is counted. There are few, for each is a metric.
type Count string

// The failures that adapters count.
const (
	// OpenFailure is a connection to the agent that could not be opened: refused, not
	// reached in time, turned away in the handshake. One that was open and broke is
	// none, and neither is a try that ctx ended.
	OpenFailure Count = "open_failure"
	// UnknownEvent is a message of a type that the adapter does not know at all.
	// Types that it knows and passes over are none.
	UnknownEvent Count = "unknown_event"
	// UnknownTool is a call of a tool that no table knows. The session counts it.
	UnknownTool Count = "unknown_tool"
	// EgressRefused is a connection of an agent's process to a host that it may not reach. The session
	// counts it.
	EgressRefused Count = "egress_refused"
)

// ErrUnknownEvent is in the error of a Decoder that was given a message of a type it
// does not know. A Decoder is pure and counts nothing: its Runtime hands each error
// to [Meter.Decoded].
var ErrUnknownEvent = errors.New("it is of a type that is not known here")

// Count counts one.
func (m Meter) Count(c Count) {
	if m != nil {
		m(c)
	}
}

// Decoded counts what the error of a Decoder tells; nil and other errors are fine.
func (m Meter) Decoded(err error) {
	if errors.Is(err, ErrUnknownEvent) {
		m.Count(UnknownEvent)
	}
}
