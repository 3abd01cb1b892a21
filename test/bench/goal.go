package main

import (
	"fmt"
	"strings"
)

// goal is what a figure of the gateway is to be.
type goal struct {
	atMost float64
	unit   string // what follows the number: " ms", " × raw Go"
	figure func(figures, string) (float64, bool)
}

// times is a goal for the ratio to another server.
func times(atMost float64, of string) goal {
	return goal{atMost, " × " + of, func(f figures, what string) (float64, bool) { return f.ratio(what, of) }}
}

// over is a goal for the milliseconds that a server needs more than the raw one.
func over(atMost float64, server string) goal {
	g := goal{atMost, " ms over " + raw, func(f figures, what string) (float64, bool) { return f.difference(what, server, raw) }}
	if server != gateway {
		g.unit += " with " + server
	}
	return g
}

// just is a goal for the figure itself.
func just(atMost float64, unit, server string) goal {
	g := goal{atMost, unit, func(f figures, what string) (float64, bool) { return f.median(what, server) }}
	if server != gateway {
		g.unit += " with " + server
	}
	return g
}

// timesThat is a goal for the ratio to another figure, which the unit names.
func timesThat(atMost float64, unit, other string) goal {
	return goal{atMost, unit, func(f figures, what string) (float64, bool) { return f.growth(what, other) }}
}

// overThat is a goal for the difference to another figure, which the unit names.
func overThat(atMost float64, unit, other string) goal {
	return goal{atMost, unit, func(f figures, what string) (float64, bool) { return f.excess(what, other) }}
}

// aim is how the table says the goal.
func (g goal) aim() string { return "≤ " + plain(g.atMost) + g.unit }

// result says what the figure is and whether that reaches the goal.
func (g goal) result(f figures, what string) (string, bool) {
	value, ok := g.figure(f, what)
	if !ok {
		return "", false
	}
	word := "reached"
	if value > g.atMost {
		word = "**missed**"
	}
	return short(value) + g.unit + ": " + word, true
}

// table is all that was measured: each thing with the figure of each server, what the
// gateway is to reach, and whether it does.
func table(f figures) string {
	servers := names()
	var t strings.Builder
	t.WriteString("| | " + strings.Join(servers, " | ") + " | aim | verdict |\n|---|" + strings.Repeat("---:|", len(servers)) + "---|---|\n")
	for _, m := range measures() {
		if len(f[m.what]) == 0 {
			continue
		}
		t.WriteString("| " + m.what + " |")
		for _, s := range servers {
			cell := "–"
			if value, ok := f.median(m.what, s); ok {
				cell = short(value)
			}
			t.WriteString(" " + cell + " |")
		}
		var aims, verdicts []string
		for _, g := range m.goals {
			if verdict, ok := g.result(f, m.what); ok {
				aims, verdicts = append(aims, g.aim()), append(verdicts, verdict)
			}
		}
		t.WriteString(" " + strings.Join(aims, "; ") + " | " + strings.Join(verdicts, "; ") + " |\n")
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

// plain writes a number without zeros at its end.
func plain(v float64) string {
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.2f", v), "0"), ".")
}
