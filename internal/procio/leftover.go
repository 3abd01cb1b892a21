package procio

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
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
	files, globErr := filepath.Glob(filepath.Join(stateDir, noteDir, "*.json"))
	errs := []error{globErr}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		var n noted
		if json.Unmarshal(data, &n) == nil && n.Pid > 1 && n.Boot == bootID() && n.alive() {
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

// alive reports whether the group still has members. A leader that started at another time
// is another process with the same id. A group without a leader keeps its id, so no other
// process can have the id.
func (n noted) alive() bool {
	if leader, ok := readStat(n.Pid); ok && leader.start != n.Start {
		return false
	}
	for _, s := range group(n.Pid) {
		if s.start >= n.Start && s.state != 'Z' {
			return true
		}
	}
	return false
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
