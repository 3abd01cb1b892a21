package procio

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// noteDir is the directory below StateDir that holds the notes.
const noteDir = "processes"

// noted is a process group that runs.
type noted struct {
	Pid     int    `json:"pid"`
	Boot    string `json:"boot"`
	Start   uint64 `json:"start"`
	Command string `json:"command"`
}

// leaveNote notes a process and returns the note's file. If the note cannot be written, the
// result is "", and the process runs all the same.
func leaveNote(stateDir string, pid int, command string) string {
	stat, ok := readStat(pid)
	if stateDir == "" || !ok {
		return ""
	}
	data, err := json.Marshal(noted{Pid: pid, Boot: bootID(), Start: stat.start, Command: command})
	if err != nil {
		return ""
	}
	dir := filepath.Join(stateDir, noteDir)
	if os.MkdirAll(dir, 0o700) != nil {
		return ""
	}
	file := filepath.Join(dir, fmt.Sprintf("%d.json", pid))
	if os.WriteFile(file, data, 0o600) != nil {
		return ""
	}
	return file
}

func eraseNote(file string) {
	if file != "" {
		_ = os.Remove(file)
	}
}

// EndLeftovers ends the process groups that are noted in a state directory, and returns
// their number. A gateway calls EndLeftovers at its start, when it holds the directory
// alone: then all notes come from a killed gateway.
func EndLeftovers(stateDir string) (ended int, err error) {
	noted, err := notes(stateDir)
	errs := []error{err}
	for file, n := range noted {
		if n.alive() {
			if err := n.end(); err != nil {
				errs = append(errs, err)
				continue
			}
			ended++
		}
		if err := os.Remove(file); !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return ended, errors.Join(errs...)
}

// notes are the notes in a state directory, by their files. A note that is damaged, or older than the start of the machine, names no
// process. The error is of those that cannot be read.
func notes(stateDir string) (map[string]noted, error) {
	files, err := filepath.Glob(filepath.Join(stateDir, noteDir, "*.json"))
	all, errs := map[string]noted{}, []error{err}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		var n noted
		if json.Unmarshal(data, &n) != nil || n.Boot != bootID() {
			n = noted{}
		}
		all[file] = n
	}
	return all, errors.Join(errs...)
}

// alive reports whether the group still has members. A leader that started at another time
// is another process with the same id. A group without a leader keeps its id, so no other
// process can have the id.
func (n noted) alive() bool {
	if n.Pid <= 1 {
		return false
	}
	if leader, ok := readStat(n.Pid); ok && leader.start != n.Start {
		return false
	}
	return slices.ContainsFunc(everyProcess(), func(s procStat) bool { return s.group == n.Pid && s.start >= n.Start && s.state != 'Z' })
}

func (n noted) end() error {
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		if err := signalGroup(n.Pid, s); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("end process group %d (%s), which was left behind: %w", n.Pid, n.Command, err)
		}
		for range 40 {
			if !n.alive() {
				return nil
			}
			time.Sleep(50 * time.Millisecond)
		}
	}
	return fmt.Errorf("process group %d (%s), which was left behind, does not end", n.Pid, n.Command)
}
