package eval_test

import (
	"math"
	"testing"

	"github.com/tributary-dev/tributary/eval"
)

// Each subset of k runs is looked at.
func TestPassHatKCountsAllChoices(t *testing.T) {
	t.Parallel()
	for n := 1; n <= 7; n++ {
		for passed := 0; passed <= n; passed++ {
			for k := 1; k <= n; k++ {
				good, all := 0, 0
				for chosen := range 1 << n {
					size, ok := 0, true
					for i := range n {
						if chosen>>i&1 == 1 {
							size++
							ok = ok && i < passed
						}
					}
					if size == k {
						all++
						if ok {
							good++
						}
					}
				}
				if got, want := eval.PassHatK(passed, n, k), float64(good)/float64(all); math.Abs(got-want) > 1e-12 {
					t.Errorf("%d of %d passed, k = %d: %v, not %v", passed, n, k, got, want)
				}
			}
		}
	}
}

func TestARowHasTheRateThatItsCaseAsksFor(t *testing.T) {
	t.Parallel()
	cells := func(rule *eval.Pass, verdicts ...eval.Verdict) (all []eval.Cell) {
		for i, v := range verdicts {
			c := cell("one", i+1, v)
			c.Pass = rule
			all = append(all, c)
		}
		return all
	}
	const pass, fail, broken, skip = eval.Passed, eval.Failed, eval.Errored, eval.Skipped
	for _, c := range []struct {
		name          string
		cells         []eval.Cell
		text          string
		under, judged bool
	}{
		{"all", cells(nil, pass, pass), "2/2", false, true},
		{"without a rule one failure is one too many", cells(nil, pass, fail), "1/2", true, true},
		{"a rate", cells(&eval.Pass{MinRate: 0.5}, pass, fail), "1/2", false, true},
		{"a third", cells(&eval.Pass{MinRate: 2.0 / 3}, pass, fail, pass), "2/3", false, true},
		{"under a rate", cells(&eval.Pass{MinRate: 0.6}, pass, fail), "1/2", true, true},
		{"an error is in no rate", cells(nil, pass, broken), "1/1", false, false},
		{"errors only", cells(nil, broken, broken), "-", false, false},
		{"what was skipped is in no rate", cells(nil, skip, pass), "1/1", false, false},
		{"pass^2 of two of three", cells(&eval.Pass{K: 2}, pass, pass, fail), "2/3 pass^2 0.33", true, true},
		{"pass^2 at a rate", cells(&eval.Pass{K: 2, MinRate: 0.3}, pass, pass, fail), "2/3 pass^2 0.33", false, true},
		{"pass^2 of all", cells(&eval.Pass{K: 2}, pass, pass, pass), "3/3 pass^2 1.00", false, true},
		{"too few runs for pass^3", cells(&eval.Pass{K: 3}, pass, pass, broken), "2/2", false, false},
	} {
		rows := eval.Tally(c.cells)
		if len(rows) != 1 {
			t.Fatalf("%s: %d rows", c.name, len(rows))
		}
		if r := rows[0]; r.RateText() != c.text || r.Under() != c.under || r.Judged() != c.judged {
			t.Errorf("%s: %s, under %t, judged %t", c.name, r.RateText(), r.Under(), r.Judged())
		}
	}
}

func TestARowHasTheMeansOfTheRunsThatTell(t *testing.T) {
	t.Parallel()
	one, two, three, other := cell("b", 1, eval.Passed), cell("b", 2, eval.Failed), cell("b", 3, eval.Errored), cell("a", 1, eval.Passed)
	price := 0.5
	one.Seconds, one.Usage = 1, &eval.Tokens{Input: 10, Output: 2}
	two.Seconds, two.Usage, two.CostUSD, two.Reason = 2, &eval.Tokens{Input: 20}, &price, "output: wrong"
	three.Seconds, three.Reason = 100, "no way"
	rows := eval.Tally([]eval.Cell{three, two, one, other})
	if len(rows) != 2 || rows[0].Case != "a" || rows[0].Tokens != nil || rows[0].CostUSD != nil {
		t.Fatalf("%+v", rows)
	}
	if r := rows[1]; *r.Seconds != 1.5 || *r.Tokens != 16 || *r.CostUSD != 0.5 || r.Reason != "output: wrong" {
		t.Errorf("%+v: %v %v %v", r, *r.Seconds, *r.Tokens, *r.CostUSD)
	}
}
