package procio

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"unsafe"
)

// procStat is what /proc tells of a process.
type procStat struct {
	state  byte
	pid    int
	parent int
	group  int
	start  uint64 // in ticks since the boot
}

func readStat(pid int) (procStat, bool) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return procStat{}, false
	}
	// The name, in parentheses, may hold anything; the fields come after it.
	fields := strings.Fields(string(data[strings.LastIndexByte(string(data), ')')+1:]))
	if len(fields) < 20 {
		return procStat{}, false
	}
	parent, err := strconv.Atoi(fields[1])
	pgrp, err1 := strconv.Atoi(fields[2])
	start, err2 := strconv.ParseUint(fields[19], 10, 64)
	return procStat{state: fields[0][0], pid: pid, parent: parent, group: pgrp, start: start}, err == nil && err1 == nil && err2 == nil
}

// everyProcess is the processes that this one sees.
func everyProcess() (all []procStat) {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			if s, ok := readStat(pid); ok {
				all = append(all, s)
			}
		}
	}
	return all
}

func bootID() string {
	data, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}

// awaitExit waits until a child has exited, and does not reap the child. Until the child is
// reaped, no other process gets its id, so a signal to its group is safe.
func awaitExit(pid int) bool {
	const (
		byPid   = 1          // P_PID
		options = 0x01000004 // WNOWAIT | WEXITED
	)
	var info [128]byte // siginfo_t
	for {
		_, _, errno := syscall.Syscall6(syscall.SYS_WAITID, byPid, uintptr(pid), uintptr(unsafe.Pointer(&info)), options, 0, 0) //nolint:gosec // the kernel writes its siginfo_t there, which is as large
		if errno != syscall.EINTR {
			return errno == 0
		}
	}
}
