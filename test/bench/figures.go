package main

import (
	"math"
	"slices"
	"time"
)

// figures are what was measured: of each thing and each server one figure for
// each round, in the order of the rounds.
type figures map[string]map[string][]float64

func (f figures) add(what, server string, figure float64) {
	if f[what] == nil {
		f[what] = map[string][]float64{}
	}
	f[what][server] = append(f[what][server], figure)
}

// median is that of the rounds.
func (f figures) median(what, server string) (float64, bool) {
	rounds := f[what][server]
	return median(rounds), len(rounds) > 0
}

// ratio is how many times the gateway's figure is that of another server: of each
// round, and of these the median.
func (f figures) ratio(what, of string) (float64, bool) {
	return f.pair(what, gateway, of, func(a, b float64) float64 { return a / b })
}

// difference is how much more one server needs than another, in the same way.
func (f figures) difference(what, server, than string) (float64, bool) {
	return f.pair(what, server, than, func(a, b float64) float64 { return a - b })
}

// growth is how many times one of the gateway's figures another is, in the same way.
func (f figures) growth(what, of string) (float64, bool) {
	both := figures{what: {gateway: f[what][gateway], of: f[of][gateway]}}
	return both.ratio(what, of)
}

// excess is how much more one of the gateway's figures is than another, in the same way.
func (f figures) excess(what, than string) (float64, bool) {
	both := figures{what: {gateway: f[what][gateway], than: f[than][gateway]}}
	return both.difference(what, gateway, than)
}

func (f figures) pair(what, one, other string, compare func(a, b float64) float64) (float64, bool) {
	a, b := f[what][one], f[what][other]
	if len(a) == 0 || len(a) != len(b) {
		return 0, false
	}
	rounds := make([]float64, len(a))
	for i := range a {
		rounds[i] = compare(a[i], b[i])
	}
	return median(rounds), true
}

func median(all []float64) float64 {
	if len(all) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(all))
	middle := len(sorted) / 2
	if len(sorted)%2 == 0 {
		return (sorted[middle-1] + sorted[middle]) / 2
	}
	return sorted[middle]
}

// percentile is the smallest of the durations that at least p percent of them
// don't exceed.
func percentile(all []time.Duration, p float64) time.Duration {
	if len(all) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(all))
	at := int(math.Ceil(p/100*float64(len(sorted)))) - 1
	return sorted[min(max(at, 0), len(sorted)-1)]
}

func milliseconds(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }
func microseconds(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }
