package agent_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/tributary-dev/tributary/agent"
)

// A Decoder says by its error what a Runtime counts; without a Meter there are no
// counts and no panic.
func TestI11_UnknownEventsAreCountedByTheirError(t *testing.T) {
	t.Parallel()
	var got []agent.Count
	m := agent.Meter(func(c agent.Count) { got = append(got, c) })
	for _, err := range []error{
		nil,
		errors.New("a frame is no JSON"),
		fmt.Errorf("skip a frame: %w", agent.ErrUnknownEvent),
	} {
		m.Decoded(err)
		agent.Meter(nil).Decoded(err)
	}
	m.Count(agent.OpenFailure)
	agent.Meter(nil).Count(agent.OpenFailure)
	if want := []agent.Count{agent.UnknownEvent, agent.OpenFailure}; !slices.Equal(got, want) {
		t.Errorf("counted %v, want %v", got, want)
	}
}
