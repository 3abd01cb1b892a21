package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// judged has the clients' own readers judge cut streams, some of them with kills of the gateway.
func (b *bench) judged(ctx context.Context, n sizes, c *results) error {
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, "node", "cuts.mjs", "--binary", b.binary, "--cuts", strconv.Itoa(n.judged), "--kills", strconv.Itoa(n.judgedKills))
	cmd.Dir = filepath.Join(b.root, "test", "conformance")
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // the command ends its own gateway
	cmd.WaitDelay = answerWithin
	cmd.Stdout, cmd.Stderr = &out, os.Stderr
	err := cmd.Run()
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		return fmt.Errorf("run the clients' readers (is Node.js there, and make conformance done?): %w", err)
	}
	text := strings.TrimSpace(out.String())
	for line := range strings.Lines(text) {
		progress("%s", strings.TrimSpace(line))
	}
	var equal, different int
	last := text[strings.LastIndexByte(text, '\n')+1:]
	if _, err := fmt.Sscanf(last, "%d passed, %d failed", &equal, &different); err != nil {
		return fmt.Errorf("the clients' readers end with %q: %w", last, err)
	}
	c.tried(equal + different)
	for range different {
		c.failed("the readers found a difference")
	}
	return nil
}

// races has eight answers of several people race for one request, through every route. A test of the
// session package does the work: it compares the answer on record with all responses.
func (b *bench) races(ctx context.Context, times int, c *results) error {
	cmd := exec.CommandContext(ctx, "go", "test", "-count=1", "-timeout=10m", "-run=^TestRacesOfEight$", "./session", "-rounds", strconv.Itoa(times))
	cmd.Dir = b.root
	out, err := cmd.CombinedOutput()
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		return fmt.Errorf("run the race of answers (is Go there?): %w", err)
	}
	c.tried(times)
	if err != nil {
		c.failed("the race of answers: " + strings.TrimSpace(string(out)))
	}
	return nil
}

// faults runs the tests of single faults some times each: full disk, flipped
// bytes, agents that misbehave. Each is a row.
func (b *bench) faults(ctx context.Context, times int) ([]row, error) {
	progress("single faults …")
	cmd := exec.CommandContext(ctx, "go", "test", "-json", "-count", strconv.Itoa(times), "-timeout", "10m", "./test/e2e")
	cmd.Dir = b.root
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("run the tests of faults: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("run the tests of faults (is Go there?): %w", err)
	}
	rows := map[string]row{}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		var e struct {
			Action, Test, Output string
			Elapsed              float64
		}
		if json.Unmarshal(lines.Bytes(), &e) != nil || e.Test == "" || strings.Contains(e.Test, "/") {
			continue
		}
		r := rows[e.Test]
		r.what = e.Test
		switch e.Action {
		case "pass", "fail":
			r.tried++
			r.took += time.Duration(e.Elapsed * float64(time.Second))
			if e.Action == "fail" {
				r.failed++
			}
		case "output":
			if strings.Contains(e.Output, "_test.go:") {
				progress("%s %s", e.Test, strings.TrimSpace(e.Output))
			}
		}
		if r.tried > 0 {
			rows[e.Test] = r
		}
	}
	_ = cmd.Wait() // the rows hold the same result as the status
	if len(rows) == 0 {
		return nil, errors.New("the tests of faults did not run")
	}
	all := make([]row, 0, len(rows))
	for _, r := range rows {
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b row) int { return strings.Compare(a.what, b.what) })
	return all, nil
}
