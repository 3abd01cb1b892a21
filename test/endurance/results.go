package main

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// row is a line of the table.
type row struct {
	what string
	counts
	took time.Duration
}

// counts are the results of a trial.
type counts struct {
	tried        int
	lost         int           // a client saw it, or got an acknowledgement, and the record lacks it
	late         int           // a crash removed text of an open part that was older than lossLimit
	doubled      int           // the record has it more often than it happened
	contradicted int           // the record differs from what a client saw
	failed       int           // another fault: an open turn, a wrong answer
	leaked       int           // goroutines, files, processes, megabytes beyond the baseline
	gap          time.Duration // the age of the oldest text that a crash removed from an open part
}

func (r row) clean() bool {
	return r.tried > 0 && r.lost+r.late+r.doubled+r.contradicted+r.failed+r.leaked == 0
}

// results counts the results of a trial, and is safe for concurrent use.
type results struct {
	mu      sync.Mutex
	c       counts
	printed int
}

// mostPrinted bounds the sentences about faults: one cause shows many times.
const mostPrinted = 40

func (t *results) tried(n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.c.tried += n
}

func (t *results) triedSoFar() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.c.tried
}

func (t *results) lost(format string, args ...any) {
	t.count(func(c *counts) { c.lost++ }, "LOST", format, args)
}

func (t *results) doubled(format string, args ...any) {
	t.count(func(c *counts) { c.doubled++ }, "DOUBLED", format, args)
}

func (t *results) contradicted(format string, args ...any) {
	t.count(func(c *counts) { c.contradicted++ }, "CONTRADICTED", format, args)
}

// flawed counts a flaw.
func (t *results) flawed(f flaw, where string) {
	switch {
	case f.what == "":
	case f.contradicts:
		t.contradicted("%s: %s", where, f.what)
	case f.late:
		t.count(func(c *counts) { c.late++ }, "LATE", "%s: %s", []any{where, f.what})
	default:
		t.lost("%s: %s", where, f.what)
	}
}

func (t *results) failed(format string, args ...any) {
	t.count(func(c *counts) { c.failed++ }, "FAILED", format, args)
}

func (t *results) leaked(n int, format string, args ...any) {
	t.count(func(c *counts) { c.leaked += n }, "LEAKED", format, args)
}

func (t *results) gap(d time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.c.gap = max(t.c.gap, d)
}

func (t *results) count(add func(*counts), what, format string, args []any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	add(&t.c)
	if t.printed++; t.printed <= mostPrinted {
		progress("%s  %s", what, fmt.Sprintf(format, args...))
	}
}

func (t *results) row(what string, took time.Duration) row {
	t.mu.Lock()
	defer t.mu.Unlock()
	return row{what: what, counts: t.c, took: took}
}

// write writes the table.
func write(w io.Writer, rows []row, took time.Duration) {
	const line = "%-46s %8v %6v %6v %8v %8v %7v %7v %7v %8v\n"
	fmt.Fprintf(w, line, "what", "tried", "lost", "late", "doubled", "contrad.", "failed", "leaked", "gap ms", "seconds")
	for _, r := range rows {
		fmt.Fprintf(w, line, r.what, r.tried, r.lost, r.late, r.doubled, r.contradicted, r.failed, r.leaked, r.gap.Milliseconds(), int(r.took.Seconds()+0.5))
	}
	fmt.Fprintf(w, "%d rows in %s\n", len(rows), took.Round(time.Second))
}
