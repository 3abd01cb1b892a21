package main

import (
	"math"
	"strings"
	"testing"
	"time"
)

func TestPercentile(t *testing.T) {
	t.Parallel()
	var hundred []time.Duration
	for i := range 100 {
		hundred = append(hundred, time.Duration(100-i)) // 100 … 1, in no order that helps
	}
	for _, c := range []struct {
		all  []time.Duration
		p    float64
		want time.Duration
	}{
		{nil, 99, 0},
		{[]time.Duration{7}, 50, 7},
		{[]time.Duration{7}, 99, 7},
		{[]time.Duration{3, 1, 2}, 50, 2},
		{[]time.Duration{1, 2}, 50, 1},
		{hundred, 50, 50},
		{hundred, 99, 99},
		{hundred, 100, 100},
		{hundred, 0, 1},
		{append(hundred, 1000), 99, 100},
		{append(hundred, 1000), 99.5, 1000},
	} {
		if got := percentile(c.all, c.p); got != c.want {
			t.Errorf("the %v. percentile of %d durations is %d, want %d", c.p, len(c.all), got, c.want)
		}
	}
	if hundred[0] != 100 {
		t.Error("percentile has sorted what it was given")
	}
}

func TestMedian(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		all  []float64
		want float64
	}{{[]float64{3}, 3}, {[]float64{3, 1, 2}, 2}, {[]float64{4, 1, 3, 2}, 2.5}} {
		if got := median(c.all); got != c.want {
			t.Errorf("the median of %v is %v, want %v", c.all, got, c.want)
		}
	}
	if got := median(nil); !math.IsNaN(got) {
		t.Errorf("the median of nothing is %v", got)
	}
}

// A ratio is made within each round, so that a round in which the machine was
// busy doesn't count double.
func TestRatiosAreOfOneRound(t *testing.T) {
	t.Parallel()
	f := figures{}
	for round, load := range []float64{1, 10, 1} {
		f.add("cpu", gateway, 2*load)
		f.add("cpu", raw, load*[]float64{1, 1, 2}[round])
	}
	if got, ok := f.ratio("cpu", raw); !ok || got != 2 {
		t.Errorf("the ratio is %v, %v; want 2", got, ok)
	}
	if got, ok := f.difference("cpu", gateway, raw); !ok || got != 1 {
		t.Errorf("the difference is %v, %v; want 1", got, ok)
	}
	if got, ok := f.median("cpu", gateway); !ok || got != 2 {
		t.Errorf("the median is %v, %v; want 2", got, ok)
	}
	for _, other := range []string{peer, unsynced} {
		if got, ok := f.ratio("cpu", other); ok {
			t.Errorf("the ratio to %s, which was not measured, is %v", other, got)
		}
	}
	f.add("cpu", raw, 1)
	if got, ok := f.ratio("cpu", raw); ok {
		t.Errorf("the ratio of three rounds to four is %v", got)
	}
}

func TestVerdicts(t *testing.T) {
	t.Parallel()
	f := figures{}
	f.add(latency99(100), gateway, 1.5)
	f.add(latency99(100), raw, 0.5)
	f.add(cpuFollower, gateway, 13)
	f.add(cpuFollower, raw, 10)
	f.add(historyLater, gateway, 15)
	want := []string{
		"| added latency p99 over raw Go, 100 streams × 50 words/s, others busy | < 5 ms | ≤ 1 ms | 1.00 ms | reached |",
		"| processor time of a frame for each of 1,000 followers, of raw Go's | 100 streams | ≤ 1.2 | 1.30 × | **missed** |",
		"| page of 100 turns in the full store, later | – | ≤ 15 ms | 15.0 ms | reached |",
	}
	lines := strings.Split(strings.TrimSpace(verdicts(f)), "\n")
	if len(lines) != 2+len(want) {
		t.Fatalf("the table has rows for what was not measured:\n%s", verdicts(f))
	}
	for i, row := range want {
		if lines[2+i] != row {
			t.Errorf("row %d is\n%s\nwant\n%s", i, lines[2+i], row)
		}
	}
	if got := details(f); !strings.Contains(got, "| page of 100 turns, later (ms) | 15.0 | – | – | – | – |\n") || strings.Count(got, "\n") != 2+3 {
		t.Errorf("the details are\n%s", got)
	}
}

// Every measure has its place in the table, and a name of its own.
func TestMeasures(t *testing.T) {
	t.Parallel()
	f, seen := figures{}, map[string]bool{}
	for _, what := range measures() {
		if seen[what] {
			t.Errorf("%s is there twice", what)
		}
		seen[what] = true
		for _, s := range names() {
			f.add(what, s, 1)
		}
	}
	if got := strings.Count(verdicts(f), "\n"); got != 2+len(goals()) {
		t.Errorf("the table of goals has %d lines for %d goals: one is about something that is not measured", got, len(goals()))
	}
}

func TestShort(t *testing.T) {
	t.Parallel()
	for v, want := range map[float64]string{0: "0.00", 0.166: "0.17", 1.249: "1.25", 12.34: "12.3", 123.4: "123", 83475.2: "83475", -4.567: "-4.57"} {
		if got := short(v); got != want {
			t.Errorf("%v is written %s, want %s", v, got, want)
		}
	}
}
