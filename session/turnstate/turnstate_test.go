package turnstate_test

import (
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/session/turnstate"
)

// all lists the states, in the order of their numbers.
func all() []turnstate.State {
	var states []turnstate.State
	for s := turnstate.Admitted; s.String() != "unknown"; s++ {
		states = append(states, s)
	}
	return states
}

func TestTheTableOfTransitions(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"admitted":    "queued running withdrawing",
		"queued":      "running withdrawing held",
		"running":     "paused stopping withdrawing detached",
		"paused":      "running stopping detached",
		"stopping":    "ended",
		"ended":       "released",
		"released":    "",
		"withdrawing": "withdrawn",
		"withdrawn":   "",
		"detached":    "",
		"held":        "",
	}
	if len(all()) != len(want) {
		t.Fatalf("%d states, and the table has %d", len(all()), len(want))
	}
	for _, from := range all() {
		var allowed []string
		for _, to := range all() {
			s := from
			switch ok := s.To(to); {
			case ok && s != to:
				t.Errorf("%s to %s: allowed, and the state is %s", from, to, s)
			case !ok && s != from:
				t.Errorf("%s to %s: refused, and the state is %s", from, to, s)
			case ok:
				allowed = append(allowed, to.String())
			}
		}
		if got := strings.Join(allowed, " "); got != want[from.String()] {
			t.Errorf("from %s: %q, want %q", from, got, want[from.String()])
		}
	}
}

func TestATurnEndsOnce(t *testing.T) {
	t.Parallel()
	for _, from := range all() {
		s := from
		stopped, again := s.Stop(), s.Stop()
		if stopped == from.Stopped() || again {
			t.Errorf("from %s: stopped %v, and again %v", from, stopped, again)
		}
		if stopped && s.Began() != from.Began() {
			t.Errorf("from %s to %s: a stop changed whether the turn had the agent", from, s)
		}
		if stopped && (!s.Close() || !s.Closed() || s.Close()) {
			t.Errorf("from %s: the stopped turn does not close once", from)
		}
	}
}

func TestAQuestionAboutAStateAgreesWithTheOthers(t *testing.T) {
	t.Parallel()
	for _, s := range all() {
		if s.Closed() && !s.Stopped() {
			t.Errorf("%s: closed, and not stopped", s)
		}
		if s.Waiting() && (s.Began() || s.Stopped()) {
			t.Errorf("%s: waits for the agent, and had it or is stopped", s)
		}
		if running := s == turnstate.Running || s == turnstate.Paused; running != (s.Began() && !s.Stopped()) {
			t.Errorf("%s: running %v, began %v, stopped %v", s, running, s.Began(), s.Stopped())
		}
	}
}
