package agentops

import (
	"context"
	"time"

	wire "github.com/tributary-dev/tributary/agentops"
)

// runnerWithin is how long an answer waits for a runner.
const runnerWithin = 10 * time.Second

// presence is whether the session agent has a runner, and how far one has come that came
// after another was lost. Until it is at work again an abort does harm: the session agent
// takes what the runner says of it for the word that it is ready.
type presence int

const (
	present  presence = iota // there is one, at work or waiting for it, as far as is known
	missing                  // there is none
	arriving                 // there is one, of which the session agent waits to hear that it is ready
	resuming                 // it was given what the one before it was at, and has said nothing of that yet
)

// connected notes that a runner came or went.
func (p *presence) connected(there bool) {
	switch {
	case !there:
		*p = missing
	case *p == missing:
		*p = arriving
	}
}

// dealt notes that the runner was given a prompt. So there is one, also if it was said after
// its coming that another has gone, whose place it took.
func (p *presence) dealt() {
	if *p != present {
		*p = resuming
	}
}

// begins notes that it does something.
func (p *presence) begins() { *p = present }

// says notes that something was said. Before a runner was given what was lost, it may be
// what one that has outlived its session agent has kept for it.
func (p *presence) says() {
	if *p == resuming {
		*p = present
	}
}

// greeted notes what a session agent says of it at first, in JSON.
func (p *presence) greeted(data []byte) {
	if *p = present; string(data) == "false" {
		*p = missing
	}
}

// noteRunner takes from a status what it says of the runner.
func (d *Decoder) noteRunner(f wire.StatusData) {
	if f.RunnerConnected != nil {
		d.presence.connected(*f.RunnerConnected)
	}
	if f.PromptDequeued {
		d.presence.dealt()
	}
}

// moved notes that something came of what the agent does.
func (d *Decoder) moved() {
	d.moves++
	d.presence.says()
}

// heardOfRunner takes a runner that has come for one that is at work, if something has come
// of that for a while: what it has kept for the session agent comes at once. The caller
// holds s.mu.
func (s *session) heardOfRunner(moves int) {
	switch {
	case s.dec.presence != arriving:
		s.arrived = time.Time{}
	case s.arrived.IsZero():
		s.arrived = time.Now()
	case s.dec.moves > moves && time.Since(s.arrived) >= resumesWithin:
		s.dec.presence = present
	}
}

// reaches reports whether there is a runner as far as is known. The caller holds s.mu.
func (s *session) reaches() bool {
	if s.lead == nil {
		return s.redials == 0
	}
	return s.dec.presence != missing
}

// hears reports whether somebody is there who hears of a stop: a session agent without a
// runner forgets it, and lets the next runner go on with the turn. Where nobody reads, and
// nobody is about to, a line is opened for it. The caller holds s.mu.
func (s *session) hears() bool {
	return s.reaches() && (s.lead == nil || s.dec.presence == present)
}

// awaitRunner waits a while until there is a runner that an answer can be handed to: one
// that comes while a session agent that was started anew has none yet is taken, and lost.
func (s *session) awaitRunner(ctx context.Context) {
	s.watch(ctx, runnerWithin, func() bool { return s.reaches() || s.shut })
}
