package compare

import "math"

// This file has the statistics. All intervals are at 95 %.

// z is the quantile of the normal distribution for 95 %.
const z = 1.959963984540054

// Interval is where a figure may lie, with 95 % confidence.
type Interval struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Wilson is the score interval of a rate, of n runs of which some passed. n is 1 or more.
func Wilson(passed, n int) Interval {
	p, m := float64(passed)/float64(n), float64(n)
	middle := (p + z*z/(2*m)) / (1 + z*z/m)
	half := z / (1 + z*z/m) * math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	return Interval{max(0, middle-half), min(1, middle+half)}
}

// Difference is the rate of new minus that of old, and its interval by Newcombe's hybrid score
// method (his method 10).
func Difference(oldPassed, oldN, newPassed, newN int) (d float64, in Interval) {
	was, is := float64(oldPassed)/float64(oldN), float64(newPassed)/float64(newN)
	a, b := Wilson(oldPassed, oldN), Wilson(newPassed, newN)
	d = is - was
	return d, Interval{
		Low:  max(-1, d-math.Hypot(is-b.Low, a.High-was)),
		High: min(1, d+math.Hypot(b.High-is, was-a.Low)),
	}
}

// estimate is a difference and its interval.
type estimate struct {
	d  float64
	in Interval
}

// average is the mean of independent differences, each with the same weight. Its interval is made of
// theirs by the method of variance estimates recovery (MOVER).
func average(all []estimate) estimate {
	var sum, low, high float64
	for _, e := range all {
		sum += e.d
		low = math.Hypot(low, e.d-e.in.Low)
		high = math.Hypot(high, e.in.High-e.d)
	}
	n := float64(len(all))
	d := sum / n
	return estimate{d, Interval{max(-1, d-low/n), min(1, d+high/n)}}
}
