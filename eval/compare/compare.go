package compare

import (
	"cmp"
	"maps"
	"slices"

	"github.com/tributary-dev/tributary/eval"
)

// Finding says what a comparison shows.
type Finding string

// The findings. A difference that the interval cannot tell from none is Unshown.
const (
	Better  Finding = "better"
	Worse   Finding = "worse"
	Unshown Finding = "no difference shown"
)

// Rate is a rate of passed runs, of the N that were judged.
type Rate struct {
	Rate     float64  `json:"rate"`
	Pass     int      `json:"pass"`
	N        int      `json:"n"`
	Interval Interval `json:"interval"`
	// Errors are the runs with an error. They are no part of N.
	Errors int `json:"errors"`
}

// Row compares a case with an agent.
type Row struct {
	Case  string `json:"case"`
	Agent string `json:"agent"`
	Old   Rate   `json:"baseline"`
	New   Rate   `json:"new"`
	Change
	// Tokens, CostUSD and Seconds are the new median by the old one; nil if one is not known.
	Tokens  *float64 `json:"tokens_ratio,omitempty"`
	CostUSD *float64 `json:"cost_ratio,omitempty"`
	Seconds *float64 `json:"seconds_ratio,omitempty"`
}

// Change is a difference of rates: new minus baseline.
type Change struct {
	Difference float64  `json:"difference"`
	Interval   Interval `json:"difference_interval"`
	Finding    Finding  `json:"finding"`
	// Dropped says that the drop is more than is allowed, so that the comparison fails.
	Dropped bool `json:"dropped"`
}

// Total is the mean of the differences of an agent's cases, each with the same weight.
type Total struct {
	Agent string `json:"agent"`
	Cases int    `json:"cases"`
	Change
}

// Place is a case and an agent that cannot be compared.
type Place struct {
	Case  string `json:"case"`
	Agent string `json:"agent"`
	// Old and New are the judged runs, and the errors what kept others from being judged.
	Old       int `json:"baseline_judged"`
	New       int `json:"new_judged"`
	OldErrors int `json:"baseline_errors"`
	NewErrors int `json:"new_errors"`
}

// Versions are those of an agent that are not the same in both.
type Versions struct {
	Agent string          `json:"agent"`
	Old   []eval.Versions `json:"baseline"`
	New   []eval.Versions `json:"new"`
}

// Comparison compares two runs.
type Comparison struct {
	// MaxDrop is the drop of a rate that is allowed, from 0 to 1.
	MaxDrop float64 `json:"max_drop"`
	Agents  []Total `json:"agents"`
	Cases   []Row   `json:"cases"`
	// OnlyOld and OnlyNew have judged runs in one of the two, and Neither in none.
	OnlyOld  []Place    `json:"only_baseline"`
	OnlyNew  []Place    `json:"only_new"`
	Neither  []Place    `json:"not_judged"`
	Versions []Versions `json:"versions"`
	// Dropped says that a rate has dropped too much: see [Compare].
	Dropped bool `json:"dropped"`
}

// Compare compares a run with an older one. A rate has dropped too much in two cases. The mean over
// all cases of an agent has dropped by more than maxDrop. Or the rate of one case has, and its
// interval holds only drops: a case is run a few times, and chance alone moves its rate far.
func Compare(old, now []Summary, maxDrop float64) *Comparison {
	c := &Comparison{MaxDrop: maxDrop, Agents: []Total{}, Cases: []Row{}, OnlyOld: []Place{}, OnlyNew: []Place{}, Neither: []Place{}, Versions: []Versions{}}
	type pair struct{ old, now Summary }
	pairs := map[Place]pair{}
	for _, s := range old {
		pairs[Place{Case: s.Case, Agent: s.Agent}] = pair{old: s}
	}
	for _, s := range now {
		key := Place{Case: s.Case, Agent: s.Agent}
		pairs[key] = pair{pairs[key].old, s}
	}
	agents, changes := map[string]*Versions{}, map[string][]estimate{}
	for _, key := range slices.SortedFunc(maps.Keys(pairs), func(a, b Place) int {
		return cmp.Or(cmp.Compare(a.Case, b.Case), cmp.Compare(a.Agent, b.Agent))
	}) {
		p := pairs[key]
		place := Place{key.Case, key.Agent, p.old.judged(), p.now.judged(), p.old.Error, p.now.Error}
		switch {
		case place.Old == 0 && place.New == 0:
			c.Neither = append(c.Neither, place)
		case place.New == 0:
			c.OnlyOld = append(c.OnlyOld, place)
		case place.Old == 0:
			c.OnlyNew = append(c.OnlyNew, place)
		default:
			r := row(p.old, p.now, maxDrop)
			c.Cases, c.Dropped = append(c.Cases, r), c.Dropped || r.Dropped
			changes[r.Agent] = append(changes[r.Agent], estimate{r.Difference, r.Interval})
			v := cmp.Or(agents[r.Agent], &Versions{Agent: r.Agent})
			v.Old, v.New = append(v.Old, p.old.Versions...), append(v.New, p.now.Versions...)
			agents[r.Agent] = v
		}
	}
	for _, agent := range slices.Sorted(maps.Keys(agents)) {
		t := Total{agent, len(changes[agent]), average(changes[agent]).change()}
		t.Dropped = over(t.Difference, maxDrop)
		c.Dropped = c.Dropped || t.Dropped
		c.Agents = append(c.Agents, t)
		v := agents[agent]
		if v.Old, v.New = distinct(v.Old), distinct(v.New); !slices.Equal(v.Old, v.New) {
			c.Versions = append(c.Versions, *v)
		}
	}
	return c
}

// over reports whether a difference is a drop of more than is allowed.
func over(difference, maxDrop float64) bool {
	const rounding = 1e-9
	return -difference > maxDrop+rounding
}

func row(old, now Summary, maxDrop float64) Row {
	r := Row{Case: now.Case, Agent: now.Agent, Old: rate(old), New: rate(now)}
	d, in := Difference(old.Pass, old.judged(), now.Pass, now.judged())
	r.Change = estimate{d, in}.change()
	r.Dropped = over(d, maxDrop) && r.Finding == Worse
	r.Tokens, r.CostUSD, r.Seconds = ratio(old.Tokens, now.Tokens), ratio(old.CostUSD, now.CostUSD), ratio(old.Seconds, now.Seconds)
	return r
}

func rate(s Summary) Rate {
	return Rate{float64(s.Pass) / float64(s.judged()), s.Pass, s.judged(), Wilson(s.Pass, s.judged()), s.Error}
}

func (e estimate) change() Change {
	c := Change{Difference: e.d, Interval: e.in, Finding: Unshown}
	switch {
	case e.in.Low > 0:
		c.Finding = Better
	case e.in.High < 0:
		c.Finding = Worse
	}
	return c
}

func ratio(old, now *float64) *float64 {
	if old == nil || now == nil || *old <= 0 {
		return nil
	}
	r := *now / *old
	return &r
}
