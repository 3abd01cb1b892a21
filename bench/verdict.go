package main

import (
	"fmt"
	"strings"
)

// goal is a row of the table of goals.
type goal struct {
	what   string
	floor  string
	aim    string
	atMost float64
	figure func(figures) (float64, bool)
	unit   string
}

const sixth = 1.0 / 6

// goals are what the gateway is to reach. Each figure is a ratio or a difference
// within one run.
func goals() []goal {
	return []goal{
		{
			what: "added latency p50 over raw Go, 100 streams × 50 words/s, others busy", floor: "–", aim: "≤ 0.1 ms", atMost: 0.1, unit: " ms",
			figure: func(f figures) (float64, bool) { return f.difference(latency50(100), gateway, raw) },
		},
		{
			what: "added latency p99 over raw Go, 100 streams × 50 words/s, others busy", floor: "< 5 ms", aim: "≤ 1 ms", atMost: 1, unit: " ms",
			figure: func(f figures) (float64, bool) { return f.difference(latency99(100), gateway, raw) },
		},
		{
			what: "the same, 1,000 streams × 5 words/s", floor: "–", aim: "≤ 2 ms", atMost: 2, unit: " ms",
			figure: func(f figures) (float64, bool) { return f.difference(latency99(1000), gateway, raw) },
		},
		{
			what: "latency p99, 100 streams × 50 words/s, every commit synced, of that with --fsync off", floor: "–", aim: "≤ 1.2", atMost: 1.2, unit: " ×",
			figure: func(f figures) (float64, bool) { return f.ratio(latency99(100), unsynced) },
		},
		{
			what: "added latency p99 over raw Go with PostgreSQL, 100 streams × 50 words/s", floor: "< 5 ms", aim: "–", atMost: 5, unit: " ms",
			figure: func(f figures) (float64, bool) { return f.difference(latency99(100), onPostgres, raw) },
		},
		{
			what: "processor time of a frame, of raw Go's, 100 streams × 50 words/s", floor: "–", aim: "≤ 2", atMost: 2, unit: " ×",
			figure: func(f figures) (float64, bool) { return f.ratio(cpuPaced, raw) },
		},
		{
			what: "processor time of a frame, of Node's, 100 streams × 50 words/s", floor: "–", aim: "≤ 0.7", atMost: 0.7, unit: " ×",
			figure: func(f figures) (float64, bool) { return f.ratio(cpuPaced, peer) },
		},
		{
			what: "processor time of a frame, of raw Go's, 100 streams at full speed", floor: "–", aim: "≤ 1.5", atMost: 1.5, unit: " ×",
			figure: func(f figures) (float64, bool) { return f.ratio(cpuFull(100), raw) },
		},
		{
			what: "processor time of a frame, of Node's, 100 streams at full speed", floor: "–", aim: "≤ 1/6 (0.17)", atMost: sixth, unit: " ×",
			figure: func(f figures) (float64, bool) { return f.ratio(cpuFull(100), peer) },
		},
		{
			what: "processor time of a frame for each of 1,000 followers, of raw Go's", floor: "100 streams", aim: "≤ 1.2", atMost: 1.2, unit: " ×",
			figure: func(f figures) (float64, bool) { return f.ratio(cpuFollower, raw) },
		},
		{
			what: "first byte p99 beside 100 streams, new session", floor: "< 200 ms", aim: "–", atMost: 200, unit: " ms",
			figure: func(f figures) (float64, bool) { return f.median(first99(100), gateway) },
		},
		{
			what: "first byte p50 beside 100 streams, new session, of raw Go's", floor: "–", aim: "≤ 2", atMost: 2, unit: " ×",
			figure: func(f figures) (float64, bool) { return f.ratio(first50(100), raw) },
		},
		{
			what: "first byte p99 beside 100 streams, new session, of raw Go's", floor: "–", aim: "≤ 3", atMost: 3, unit: " ×",
			figure: func(f figures) (float64, bool) { return f.ratio(first99(100), raw) },
		},
		{
			what: "latency p99 beside 100 stuck clients, of that without them", floor: "–", aim: "≤ 1.1", atMost: 1.1, unit: " ×",
			figure: func(f figures) (float64, bool) { return f.growth(stuckLatency, calmLatency) },
		},
		{
			what: "memory of a silent stream that follows a turn, of raw Go's", floor: "1 MB", aim: "≤ 1.25", atMost: 1.25, unit: " ×",
			figure: func(f figures) (float64, bool) { return f.ratio(idleStream, raw) },
		},
		{
			what: "page of 100 turns in the full store, the first of its session", floor: "–", aim: "≤ 15 ms", atMost: 15, unit: " ms",
			figure: func(f figures) (float64, bool) { return f.median(historyFirst, gateway) },
		},
		{
			what: "page of 100 turns in the full store, later", floor: "–", aim: "≤ 15 ms", atMost: 15, unit: " ms",
			figure: func(f figures) (float64, bool) { return f.median(historyLater, gateway) },
		},
		{
			what: "bytes in the log for a turn of 10,000 words", floor: "–", aim: "≤ 0.2 MB", atMost: 0.2, unit: " MB",
			figure: func(f figures) (float64, bool) { return f.median(logBytes, gateway) },
		},
		{
			what: "page of the full session list", floor: "–", aim: "≤ 10 ms", atMost: 10, unit: " ms",
			figure: func(f figures) (float64, bool) { return f.median(listPage, gateway) },
		},
		{
			what: "the same with PostgreSQL", floor: "–", aim: "≤ 10 ms", atMost: 10, unit: " ms",
			figure: func(f figures) (float64, bool) { return f.median(listPage, onPostgres) },
		},
		{
			what: "first byte p50 beside readers of the session list, of that without them", floor: "–", aim: "≤ 1.2", atMost: 1.2, unit: " ×",
			figure: func(f figures) (float64, bool) { return f.growth(listBeside, listCalm) },
		},
		{
			what: "first byte p50 beside 100 open session lists, of that without them", floor: "–", aim: "≤ 1.2", atMost: 1.2, unit: " ×",
			figure: func(f figures) (float64, bool) { return f.growth(listOpen, listCalm) },
		},
		{
			what: "heap with the full session list, beyond that with 100 sessions", floor: "–", aim: "≤ 2 MB", atMost: 2, unit: " MB",
			figure: func(f figures) (float64, bool) { return f.median(listHeap, gateway) },
		},
		{
			what: "added latency p99 of a frame over the other server's WebSocket, 100 streams of one session", floor: "< 5 ms, 100 streams", aim: "≤ 1 ms", atMost: 1, unit: " ms",
			figure: func(f figures) (float64, bool) { return f.excess(relayLatency99, directLatency99) },
		},
		{
			what: "growth of the heap in 1,000 requests in a row to an agent on another server", floor: "none", aim: "≤ 4 MB", atMost: 4, unit: " MB",
			figure: func(f figures) (float64, bool) { return f.median(relayHeap, gateway) },
		},
		{
			what: "first byte p99 at the highest steady rate to an agent on another server", floor: "< 200 ms", aim: "–", atMost: 200, unit: " ms",
			figure: func(f figures) (float64, bool) { return f.median(relayFirst, gateway) },
		},
	}
}

// verdicts is the table of goals.
func verdicts(f figures) string {
	var t strings.Builder
	t.WriteString("| | floor | aim | measured | |\n|---|---|---|---|---|\n")
	for _, g := range goals() {
		value, ok := g.figure(f)
		if !ok {
			continue
		}
		verdict := "reached"
		if value > g.atMost {
			verdict = "**missed**"
		}
		fmt.Fprintf(&t, "| %s | %s | %s | %s%s | %s |\n", g.what, g.floor, g.aim, short(value), g.unit, verdict)
	}
	return t.String()
}

// details is the table of all figures.
func details(f figures) string {
	servers := names()
	var t strings.Builder
	t.WriteString("| | " + strings.Join(servers, " | ") + " |\n|---|" + strings.Repeat("---:|", len(servers)) + "\n")
	for _, what := range measures() {
		if len(f[what]) == 0 {
			continue
		}
		t.WriteString("| " + what + " |")
		for _, s := range servers {
			cell := "–"
			if value, ok := f.median(what, s); ok {
				cell = short(value)
			}
			t.WriteString(" " + cell + " |")
		}
		t.WriteByte('\n')
	}
	return t.String()
}

// short writes a figure with three digits, or all before the point.
func short(v float64) string {
	switch size := max(v, -v); {
	case size >= 100:
		return fmt.Sprintf("%.0f", v)
	case size >= 10:
		return fmt.Sprintf("%.1f", v)
	default:
		return fmt.Sprintf("%.2f", v)
	}
}
