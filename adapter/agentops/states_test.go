package agentops

import "testing"

// path is a way through a table.
type path[S, E comparable] struct {
	name   string
	from   S
	events []E
	to     S
}

func walk[S, E comparable](t *testing.T, table table[S, E], paths ...path[S, E]) {
	t.Helper()
	for _, p := range paths {
		t.Run(p.name, func(t *testing.T) {
			s := p.from
			for _, e := range p.events {
				s = table.after(s, e)
			}
			if s != p.to {
				t.Errorf("%v ends in state %v, want %v", p.events, s, p.to)
			}
		})
	}
}

func TestStatesOfAPrompt(t *testing.T) {
	t.Parallel()
	walk(t, phases,
		path[phase, turnEvent]{"it is answered at once", sent, []turnEvent{shown, begins, ends}, ended},
		path[phase, turnEvent]{"it waits and is answered", sent, []turnEvent{waits, shown, begins, finishes, ends}, ended},
		path[phase, turnEvent]{"it is answered before it was shown", sent, []turnEvent{begins}, running},
		path[phase, turnEvent]{"its runner is lost and it waits again", sent, []turnEvent{shown, waits}, queued},
		path[phase, turnEvent]{"it is shown twice", sent, []turnEvent{shown, begins, shown}, running},
		path[phase, turnEvent]{"it is taken back", sent, []turnEvent{waits, withdraws}, withdrawn},
		path[phase, turnEvent]{"it runs and cannot be taken back", sent, []turnEvent{shown, begins, withdraws}, running},
		path[phase, turnEvent]{"it runs and does not wait", sent, []turnEvent{begins, waits}, running},
		path[phase, turnEvent]{"its end waits for a result", sent, []turnEvent{begins, finishes, begins, waits}, finishing},
	)
	for _, last := range []phase{ended, withdrawn} {
		for h := waits; h <= withdraws; h++ {
			if next := phases.after(last, h); next != last {
				t.Errorf("event %d leads from the last state %d to %d", h, last, next)
			}
		}
	}
}

func TestStatesOfTheConnection(t *testing.T) {
	t.Parallel()
	walk(t, links,
		path[link, linkEvent]{"it is lost and made anew", unread, []linkEvent{opened, broke, opened}, reading},
		path[link, linkEvent]{"it is lost for good", unread, []linkEvent{opened, broke, gaveUp}, unread},
		path[link, linkEvent]{"a prompt was quicker to open it", unread, []linkEvent{opened, broke, opened, gaveUp}, reading},
		path[link, linkEvent]{"a turn closes its own", unread, []linkEvent{opened, hungUp}, unread},
	)
	for from := unread; from <= shut; from++ {
		if next := links.after(from, closes); next != shut {
			t.Errorf("a session that is closed in state %d is in state %d", from, next)
		}
		for e := opened; e <= closes; e++ {
			if next := links.after(shut, e); next != shut {
				t.Errorf("event %d opens a closed session", e)
			}
		}
	}
}

func TestStatesOfTheRunner(t *testing.T) {
	t.Parallel()
	walk(t, runners,
		path[runnerState, runnerEvent]{"another comes and takes the work up", present, []runnerEvent{left, came, dealt, says}, present},
		path[runnerState, runnerEvent]{"what it has kept is no sign of work", present, []runnerEvent{left, came, says}, arriving},
		path[runnerState, runnerEvent]{"what comes after a while is", present, []runnerEvent{left, came, settles}, present},
		path[runnerState, runnerEvent]{"it was given work and says nothing", present, []runnerEvent{left, came, dealt}, resuming},
		path[runnerState, runnerEvent]{"its coming was said before the going of the former", present, []runnerEvent{left, dealt}, resuming},
		path[runnerState, runnerEvent]{"it acts", present, []runnerEvent{left, came, acts}, present},
		path[runnerState, runnerEvent]{"it comes and goes", present, []runnerEvent{left, came, dealt, left}, missing},
		path[runnerState, runnerEvent]{"one that is at work is given the next", present, []runnerEvent{dealt, says, came}, present},
	)
	for from := present; from <= resuming; from++ {
		if next := runners.after(from, left); next != missing {
			t.Errorf("a runner that goes in state %d leaves state %d", from, next)
		}
	}
}

func TestStatesOfARun(t *testing.T) {
	t.Parallel()
	walk(t, courses,
		path[course, courseEvent]{"it is idle while it asks and goes on", atWork, []courseEvent{goesIdle, isBusy}, atWork},
		path[course, courseEvent]{"text comes late while it is idle", atWork, []courseEvent{goesIdle, stirs}, idling},
		path[course, courseEvent]{"another model takes over", atWork, []courseEvent{goesIdle, speaks}, atWork},
		path[course, courseEvent]{"it goes on and nothing has come since", atWork, []courseEvent{goesIdle, resumes}, resumed},
		path[course, courseEvent]{"it goes on and something has come", atWork, []courseEvent{goesIdle, resumes, stirs}, atWork},
		path[course, courseEvent]{"it was not idle", atWork, []courseEvent{resumes}, atWork},
	)
	for e := goesIdle; e <= aborts; e++ {
		if next := courses.after(stopping, e); next != stopping {
			t.Errorf("event %d makes a run that was stopped go on", e)
		}
	}
}

func TestStatesOfTheEndOfARun(t *testing.T) {
	t.Parallel()
	walk(t, endings,
		path[ending, endingEvent]{"an end is told twice", certain, []endingEvent{repeats}, endRepeated},
		path[ending, endingEvent]{"and then something comes", certain, []endingEvent{repeats, stirred}, certain},
		path[ending, endingEvent]{"the prompt is given once more", certain, []endingEvent{givenAgain, stirred}, givenTwice},
		path[ending, endingEvent]{"and an end is told that is none", certain, []endingEvent{givenAgain, repeats}, endRepeated},
		path[ending, endingEvent]{"after a gap nothing comes", certain, []endingEvent{saidAtRest}, maybeOver},
		path[ending, endingEvent]{"after a gap something comes", certain, []endingEvent{saidAtRest, stirred}, alive},
		path[ending, endingEvent]{"after a gap the prompt is given once more", certain, []endingEvent{saidAtRest, givenAgain}, givenTwice},
		path[ending, endingEvent]{"the time for a last word is over", certain, []endingEvent{saidAtRest, stirred, cleared}, certain},
		path[ending, endingEvent]{"it ended unseen", certain, []endingEvent{lostEnd, stirred, cleared}, overUnseen},
	)
}
