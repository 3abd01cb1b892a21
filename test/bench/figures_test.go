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

func TestTheTableNamesTheReachedGoals(t *testing.T) {
	t.Parallel()
	f := figures{}
	f.add(cpuPaced, gateway, 15)
	f.add(cpuPaced, raw, 10)
	f.add(cpuPaced, peer, 10)
	f.add(sharedLatency, gateway, 7)
	f.add(historyLater, gateway, 15)
	want := []string{
		"| " + cpuPaced + " | 15.0 | – | – | 10.0 | 10.0 | ≤ 2 × raw Go; ≤ 0.7 × Node | 1.50 × raw Go: reached; 1.50 × Node: **missed** |",
		"| " + sharedLatency + " | 7.00 | – | – | – | – |  |  |",
		"| " + historyLater + " | 15.0 | – | – | – | – | ≤ 15 ms | 15.0 ms: reached |",
	}
	lines := strings.Split(strings.TrimSpace(table(f)), "\n")
	if len(lines) != 2+len(want) {
		t.Fatalf("the table has rows for what was not measured:\n%s", table(f))
	}
	for i, row := range want {
		if lines[2+i] != row {
			t.Errorf("row %d is\n%s\nwant\n%s", i, lines[2+i], row)
		}
	}
}

// Every measure has a name of its own, and every goal is about something that is measured.
func TestMeasures(t *testing.T) {
	t.Parallel()
	f, seen := figures{}, map[string]bool{}
	for _, m := range measures() {
		if seen[m.what] {
			t.Errorf("%s comes twice", m.what)
		}
		seen[m.what] = true
		for _, s := range names() {
			f.add(m.what, s, 1)
		}
	}
	for _, m := range measures() {
		for _, g := range m.goals {
			if verdict, ok := g.result(f, m.what); !ok {
				t.Errorf("%s: the goal %s is about something else: %q", m.what, g.aim(), verdict)
			}
		}
	}
}

func TestARowOfTheEnduranceProgramIsRead(t *testing.T) {
	t.Parallel()
	got, ok := parseEndured("kill -9 under load, and start again                  12      1      7        2       3       4       5     126        3\n")
	if want := (endured{12, 1, 7, 2, 3, 4, 5, 126}); !ok || got != want {
		t.Errorf("got %+v, %v", got, ok)
	}
	for _, line := range []string{"what  tried   lost   late  doubled contrad.  failed  leaked  gap ms  seconds", "1 rows in 5s", ""} {
		if got, ok := parseEndured(line); ok {
			t.Errorf("%q is read as %+v", line, got)
		}
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
