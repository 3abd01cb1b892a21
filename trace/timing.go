package trace

import "time"

// Timing says what the gateway did before the agent had the prompt, as the value of the data named
// timing. With the times of the prompt's and the reply's records it tells the way of a request.
// Times that are not known are zero: those of a request for a prompt that came no such way, or that
// waited while the gateway was restarted.
type Timing struct {
	// Received is when the request came, and Read when its body had been read.
	Received time.Time `json:"received,omitzero"`
	Read     time.Time `json:"read,omitzero"`
	// Ready is when the agent ran and got the prompt.
	Ready time.Time `json:"ready"`
}

// Payload is the data with that value.
func (t Timing) Payload() Payload { return world(dataTiming, t) }

// Timing returns what the data says of a turn, if it is the data named timing.
func (d Data) Timing() (t Timing, ok bool) { return ofWorld[Timing](d, dataTiming) }
