//go:build unix

package procio

import "syscall"

// Suspended are processes that stand still. The zero value is none.
type Suspended struct {
	all map[int]suspended // by their ids
}

type suspended struct {
	start uint64
	by    noted  // the process that was started here, and that has started this one
	note  string // the file by which the next start ends it, if this gateway is killed; "": it needs none
}

// Add stops the processes that are noted in a state directory, and all that they have started. It does so on Linux only. One that is
// stopped can be killed.
func (s *Suspended) Add(stateDir string) {
	if s.all == nil {
		s.all = map[int]suspended{}
	}
	for range 5 { // one may have started another meanwhile
		some := false
		notes, _ := notes(stateDir) // a process may end meanwhile, and its note with it
		for p, by := range startedBy(notes) {
			if _, is := s.all[p.pid]; is || p.state == 'T' || syscall.Kill(p.pid, syscall.SIGSTOP) != nil {
				continue
			}
			some = true
			one := suspended{start: p.start, by: by}
			if p.group == p.pid && p.pid != by.Pid {
				one.note = leaveNote(stateDir, p.pid, by.Command)
			}
			s.all[p.pid] = one
		}
		if !some {
			return
		}
	}
}

// Resume has those go on whose agent still runs, and kills what agents have left that were closed meanwhile.
func (s *Suspended) Resume() {
	for pid, one := range s.all {
		signal := syscall.SIGCONT
		if agent, is := readStat(one.by.Pid); !is || agent.start != one.by.Start || agent.state == 'Z' {
			signal = syscall.SIGKILL
		}
		if p, is := readStat(pid); is && p.start == one.start {
			_ = syscall.Kill(pid, signal) // it may have ended
		}
		eraseNote(one.note)
	}
	s.all = nil
}

// startedBy is the noted processes that run, those of their groups, and those that these have started; each with the noted one.
func startedBy(notes map[string]noted) map[procStat]noted {
	all, found := everyProcess(), map[int]noted{}
	for _, n := range notes {
		if n.alive() {
			found[n.Pid] = n
		}
	}
	for before := -1; len(found) > before; {
		before = len(found)
		for _, p := range all {
			if _, is := found[p.pid]; is {
				continue
			}
			for _, of := range []int{p.parent, p.group} {
				if by, is := found[of]; is {
					found[p.pid] = by
				}
			}
		}
	}
	running := map[procStat]noted{}
	for _, p := range all {
		if by, is := found[p.pid]; is && p.state != 'Z' {
			running[p] = by
		}
	}
	return running
}
