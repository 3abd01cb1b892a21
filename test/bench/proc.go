package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of times in /proc, on every Linux.
const tick = 10 * time.Millisecond

// processorTime is how long a process has been on a processor.
func processorTime(pid int) (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, fmt.Errorf("read the processor time of a server (needs Linux): %w", err)
	}
	d, err := parseStat(string(text))
	if err != nil {
		return 0, fmt.Errorf("read the processor time of a server: %w", err)
	}
	return d, nil
}

// parseStat adds up user and system time, the 14th and 15th field. The second
// is a name in parentheses, which may hold anything.
func parseStat(text string) (time.Duration, error) {
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	const user, system = 14 - 3, 15 - 3
	if len(fields) <= system {
		return 0, fmt.Errorf("/proc says %q", text)
	}
	u, err := strconv.ParseInt(fields[user], 10, 64)
	s, err2 := strconv.ParseInt(fields[system], 10, 64)
	if err = errors.Join(err, err2); err != nil {
		return 0, err
	}
	return time.Duration(u+s) * tick, nil
}

// memoryOf is the memory of its own that a process has in RAM, in bytes: not the
// pages of its program file, which come as it first runs them.
func memoryOf(pid int) (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, fmt.Errorf("read the memory of a server (needs Linux): %w", err)
	}
	return parseStatus(string(text))
}

func parseStatus(text string) (int64, error) {
	for line := range strings.Lines(text) {
		value, ok := strings.CutPrefix(line, "RssAnon:")
		if !ok {
			continue
		}
		kb, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		if err != nil {
			return 0, fmt.Errorf("read the memory of a server: %w", err)
		}
		return kb << 10, nil
	}
	return 0, errors.New("read the memory of a server: /proc does not say how much it has of its own (RssAnon)")
}
