package agentkit

import (
	"fmt"
	"runtime/debug"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/trace"
)

// PanicError is a panic of an adapter.
type PanicError struct {
	Value any
	Stack []byte
}

// Error implements error.
func (e *PanicError) Error() string {
	return fmt.Sprintf("the adapter could not read a message of the agent: %v", e.Value)
}

// mostValues bounds the JSON values of one message. A value of two bytes takes some hundred
// bytes of memory once it is decoded, so 64 MB of small values would take gigabytes.
const mostValues = 1 << 18

// ErrTooManyValues says that a message was not decoded, because it would take too much memory.
var ErrTooManyValues = fmt.Errorf("a message of the agent has more than %d JSON values", mostValues)

// TooManyValues reports whether a message has more JSON values than may be decoded. The
// message need not be valid.
func TooManyValues(data []byte) bool {
	if len(data) <= mostValues {
		return false
	}
	values, text := 0, false
	for i := 0; i < len(data) && values <= mostValues; i++ {
		switch c := data[i]; {
		case text && c == '\\':
			i++
		case c == '"':
			text = !text
		case !text && (c == ',' || c == '[' || c == '{'):
			values++
		}
	}
	return values > mostValues
}

// Decode hands a message to a Decoder. A panic of the Decoder is a [PanicError], so that one
// message of an agent cannot end the gateway. A message of too many values is refused with
// [ErrTooManyValues].
func Decode(d agent.Decoder, m agent.Message, t agent.Turns) (effects []agent.Effect, err error) {
	if TooManyValues(m.Data) {
		return nil, ErrTooManyValues
	}
	defer func() {
		if p := recover(); p != nil {
			err = &PanicError{p, debug.Stack()}
		}
	}()
	return d.Decode(m, t)
}

// broken ends the turn whose message made the Decoder panic. The caller holds s.mu.
func (s *Session) broken(p *PanicError) {
	s.cfg.Logger.Error("the decoder has panicked", "panic", p.Value, "stack", string(p.Stack))
	for _, b := range []*trace.Builder{s.current, s.waiting} {
		if b != nil {
			s.panicked = b
		}
	}
	s.failTurns(trace.Stop{Reason: trace.ReasonLost, Outcome: trace.OutcomeFailed, Error: p.Error()})
}

// failTurns ends the turn that runs and the one that waits. The caller holds s.mu.
func (s *Session) failTurns(stop trace.Stop) {
	for _, b := range []*trace.Builder{s.current, s.waiting} {
		if b != nil {
			s.fail(b, stop)
		}
	}
}

// hasPanicked reports whether the Decoder panicked in a turn. Then its state means nothing.
func (s *Session) hasPanicked(b *trace.Builder) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.panicked == b
}
