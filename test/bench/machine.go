package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
)

// machine says what the figures were measured on, and how busy it was besides.
func machine(peerDir string) string {
	parts := []string{fmt.Sprintf("%d × %s", runtime.NumCPU(), processorName()), runtime.GOOS, runtime.Version()}
	if peerDir != "" {
		if out, err := exec.Command("node", "--version").Output(); err == nil { //nolint:noctx // it ends at once
			parts = append(parts, "Node "+strings.TrimSpace(string(out)))
		}
	}
	if text, err := os.ReadFile("/proc/loadavg"); err == nil {
		if load := strings.Fields(string(text)); len(load) > 2 {
			parts = append(parts, "load at the end "+strings.Join(load[:3], " "))
		}
	}
	return strings.Join(parts, ", ")
}

func processorName() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return runtime.GOARCH
	}
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}
