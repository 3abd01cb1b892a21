//go:build unix

package procio

import "syscall"

// Suspended are processes that stand still. The zero value is none.
type Suspended struct {
	starts map[int]uint64 // by their ids
}

// Add stops the processes that are noted in a state directory, and all that they have started. It does so on Linux only. One that is
// stopped can be killed.
func (s *Suspended) Add(stateDir string) {
	if s.starts == nil {
		s.starts = map[int]uint64{}
	}
	for range 5 { // one may have started another meanwhile
		some := false
		for _, p := range startedBy(notes(stateDir)) {
			if p.state != 'T' && syscall.Kill(p.pid, syscall.SIGSTOP) == nil {
				s.starts[p.pid], some = p.start, true
			}
		}
		if !some {
			return
		}
	}
}

// Resume has those go on that still run, also if what has started them was killed.
func (s *Suspended) Resume() {
	for pid, start := range s.starts {
		if p, is := readStat(pid); is && p.start == start {
			_ = syscall.Kill(pid, syscall.SIGCONT) // it may have ended
		}
	}
	s.starts = nil
}

// startedBy is the noted processes that run, those of their groups, and those that these have started.
func startedBy(notes map[string]noted) (running []procStat) {
	all, found := everyProcess(), map[int]bool{}
	for _, n := range notes {
		if n.alive() {
			found[n.Pid] = true
		}
	}
	for more := len(found) > 0; more; {
		more = false
		for _, p := range all {
			if !found[p.pid] && (found[p.child] || found[p.group]) {
				found[p.pid], more = true, true
			}
		}
	}
	for _, p := range all {
		if found[p.pid] && p.state != 'Z' {
			running = append(running, p)
		}
	}
	return running
}
