package agentops

import "time"

// The states of a session are tables: the phase of a turn, the work on it, the certainty of its end,
// the main connection, the session agent's runner. Each table says which state follows a state at an
// event. An event that a table does not name for a state changes nothing.
//
//	turn        sent ──waits──▶ queued ──shown──▶ given ──begins──▶ running ──finishes──▶ finishing ──ends──▶ ended
//	                                └───withdraws───▶ withdrawn; promotes ──▶ promoted ──shown──▶ given
//	work        atWork ──goesIdle──▶ idling ──resumes──▶ resumed ──stirs──▶ atWork; aborts ──▶ stopping
//	connection  unread ──opened──▶ reading ──broke──▶ reopening ──opened──▶ reading; gaveUp, hungUp ──▶ unread; closes ──▶ shut
//	runner      present ──left──▶ missing ──came──▶ arriving ──dealt──▶ resuming ──says──▶ present
type table[S, E comparable] map[S]map[E]S

// after returns the state that follows a state at an event.
func (t table[S, E]) after(s S, e E) S {
	if next, changes := t[s][e]; changes {
		return next
	}
	return s
}

// phase is the state of a turn. 0 is a turn that is not known, or over.
type phase int

const (
	sent      phase = iota + 1 // nothing is known of its prompt
	queued                     // it waits for another prompt, or for the session to wake
	promoted                   // it is to run now, and comes back with another id
	given                      // the agent has it
	running                    // the agent has said something
	finishing                  // the agent has ended but for a last word
	ended
	withdrawn // it will not run
)

// turnEvent is an event of a turn.
type turnEvent int

const (
	waits     turnEvent = iota + 1 // the server says that the prompt waits
	promotes                       // nothing waits any more, and the server has not shown the prompt
	named                          // the new id of the prompt is known
	shown                          // the server shows the prompt, which the agent has now
	begins                         // the agent begins its answer
	finishes                       // the agent has ended and a result is still to come
	ends                           // the turn is over
	withdraws                      // the prompt was taken back
)

var phases = table[phase, turnEvent]{ //nolint:gochecknoglobals // never written
	sent:      {waits: queued, shown: given, begins: running, ends: ended, withdraws: withdrawn},
	queued:    {promotes: promoted, shown: given, begins: running, ends: ended, withdraws: withdrawn},
	promoted:  {waits: queued, named: queued, shown: given, begins: running, ends: ended, withdraws: withdrawn},
	given:     {waits: queued, begins: running, ends: ended, withdraws: withdrawn},
	running:   {finishes: finishing, ends: ended},
	finishing: {ends: ended},
}

func (t *turn) on(h turnEvent) { t.phase = phases.after(t.phase, h) }

// course is how far the work on a turn is from its end. A turn that the agent was given may be
// stopped before it begins.
type course int

const (
	atWork   course = iota // as far as is known
	idling                 // the agent has said that it is idle
	resumed                // it goes on after that, and nothing has come since
	stopping               // it was told to stop, and what still comes is late
)

// courseEvent is an event of the work.
type courseEvent int

const (
	goesIdle courseEvent = iota + 1 // the agent says that it is idle
	isBusy                          // the agent says that it is at work
	speaks                          // a message begins
	stirs                           // something came of any turn
	resumes                         // it is clear that the work goes on
	aborts                          // everything is told to stop
)

var courses = table[course, courseEvent]{ //nolint:gochecknoglobals // as above
	atWork:  {goesIdle: idling, aborts: stopping},
	idling:  {isBusy: atWork, speaks: atWork, resumes: resumed, aborts: stopping},
	resumed: {goesIdle: idling, isBusy: atWork, stirs: atWork, aborts: stopping},
}

// ending is how sure the end of a turn is, of which signs come twice or not at all.
type ending int

const (
	certain     ending = iota // an end that is told is the turn's
	givenTwice                // the agent was given the prompt once more: an end may be told that is none
	endRepeated               // such an end was told, and nothing has come since
	maybeOver                 // after a gap the agent is said to be at rest, and nothing has come since
	alive                     // as before, and something has come
	overUnseen                // the turn ended while the connection was lost, and how is not known
)

// endingEvent is an event that makes the end of a turn more or less sure.
type endingEvent int

const (
	givenAgain endingEvent = iota + 1 // the session agent gives the runner once more what it was at
	repeats                           // an end is told that repeats an earlier one
	saidAtRest                        // after a gap the agent is said to be at rest
	lostEnd                           // after a gap the turn is over
	stirred                           // something came of any turn
	cleared                           // the time for a last word is over
)

var endings = table[ending, endingEvent]{ //nolint:gochecknoglobals // as above
	certain:     {givenAgain: givenTwice, repeats: endRepeated, saidAtRest: maybeOver, lostEnd: overUnseen},
	givenTwice:  {repeats: endRepeated, saidAtRest: maybeOver, lostEnd: overUnseen},
	endRepeated: {givenAgain: givenTwice, stirred: certain, saidAtRest: maybeOver, lostEnd: overUnseen},
	maybeOver:   {givenAgain: givenTwice, stirred: alive, lostEnd: overUnseen, cleared: certain},
	alive:       {givenAgain: givenTwice, saidAtRest: maybeOver, lostEnd: overUnseen, cleared: certain},
	overUnseen:  {givenAgain: givenTwice, saidAtRest: maybeOver},
}

func (t *turn) courseOn(e courseEvent) { t.course = courses.after(t.course, e) }
func (t *turn) endingOn(e endingEvent) { t.ending = endings.after(t.ending, e) }

// moved notes that something came of what the agent does.
func (d *Decoder) moved() {
	d.stir()
	d.runner(says)
}

// stir notes that something has happened to a turn.
func (d *Decoder) stir() {
	d.moves++
	for t := range d.running() {
		t.courseOn(stirs)
		t.endingOn(stirred)
	}
}

// link is the state of the connection through which a session is read.
type link int

const (
	unread    link = iota // no connection is open, and the next prompt opens one
	reading               // a connection is open
	reopening             // the connection was lost and is made anew
	shut                  // the session is closed
)

// linkEvent is an event of that connection.
type linkEvent int

const (
	opened linkEvent = iota + 1
	broke            // it was lost while a turn needs it
	hungUp           // it was closed from here
	gaveUp           // it is not made anew
	closes           // the session is closed
)

var links = table[link, linkEvent]{ //nolint:gochecknoglobals // as above
	unread:    {opened: reading, closes: shut},
	reading:   {broke: reopening, hungUp: unread, closes: shut},
	reopening: {opened: reading, gaveUp: unread, closes: shut},
}

// runnerState is the state of the runner. A runner that came after a loss is not at work at once. An
// abort does harm then: the session agent mistakes the runner's confirmation for the sign that the
// runner is ready.
type runnerState int

const (
	present  runnerState = iota // there is one, at work or waiting for it, as far as is known
	missing                     // there is none
	arriving                    // there is one, and the session agent waits for its word that it is ready
	resuming                    // it was given the work of the lost one, and has said nothing of that yet
)

// runnerEvent is an event of the runner.
type runnerEvent int

const (
	came    runnerEvent = iota + 1 // a runner is connected
	left                           // a runner has gone
	dealt                          // the runner was given a prompt, so that there is one
	acts                           // the agent does something
	says                           // something of a turn came
	settles                        // something of a turn came a while after the runner did
)

// A runner that outlived its session agent first sends the frames that it has kept. So the first
// frames of an arriving runner say nothing about its work.
var runners = table[runnerState, runnerEvent]{ //nolint:gochecknoglobals // as above
	present:  {left: missing},
	missing:  {came: arriving, dealt: resuming, acts: present},
	arriving: {left: missing, dealt: resuming, acts: present, settles: present},
	resuming: {left: missing, acts: present, says: present},
}

func (d *Decoder) runner(e runnerEvent) { d.runnerState = runners.after(d.runnerState, e) }

// The times of a session.
const (
	moment      = 500 * time.Millisecond  // in which frames come that are on their way
	stopTime    = 1500 * time.Millisecond // that the server may take to stop, or to take a prompt back
	shortTime   = 2 * time.Second         // that telling the server something may take longer than its turn
	lastTime    = 3 * time.Second         // in which the last word of a turn comes
	runnerTime  = 10 * time.Second        // that an answer waits for a runner
	aliveEvery  = 15 * time.Second        // a turn that has to wait says that it is alive
	answerTime  = 30 * time.Second        // that the server may take to answer, and the most between two tries to connect
	longTime    = time.Minute             // a prompt waits for a pending stop, and a connection is kept that nobody needs
	wakeTime    = 10 * time.Minute        // that a session may take to wake
	firstPause  = time.Second             // before a lost connection is made anew; then twice as long each time
	mostRetries = 10
)
