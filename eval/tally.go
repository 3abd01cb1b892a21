package eval

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
)

// Row is what all runs of a case with an agent say together: a line of the table.
type Row struct {
	Case, Agent string
	// Cells are the runs, of each repeat the newest.
	Cells []Cell
	// Pass and Fail are the judged runs. Errors and skipped runs are in no rate.
	Pass, Fail, Error, Skipped int
	// Rule is what the case asks of the rate.
	Rule Pass
	// Seconds, Tokens and CostUSD are means: of the judged runs, and of those that tell it. They are
	// nil if none does.
	Seconds, Tokens, CostUSD *float64
	// Reason is that of the first run that did not pass.
	Reason string
}

// Tally makes a row of each case and agent, sorted. Of each repeat the newest cell counts.
func Tally(cells []Cell) (rows []Row) {
	cells = Newest(cells)
	slices.SortStableFunc(cells, func(a, b Cell) int {
		return cmp.Or(cmp.Compare(a.Case, b.Case), cmp.Compare(a.Agent, b.Agent), cmp.Compare(a.Repeat, b.Repeat))
	})
	for i, c := range cells {
		if i == 0 || cells[i-1].Case != c.Case || cells[i-1].Agent != c.Agent {
			rows = append(rows, Row{Case: c.Case, Agent: c.Agent})
		}
		r := &rows[len(rows)-1]
		r.Cells = append(r.Cells, c)
		switch c.Verdict {
		case Passed:
			r.Pass++
		case Failed, Unclear:
			r.Fail++
		case Errored:
			r.Error++
		case Skipped:
			r.Skipped++
		}
		if r.Rule = (Pass{MinRate: 1}); c.Pass != nil {
			r.Rule = *c.Pass
		}
		if c.Verdict != Passed {
			r.Reason = cmp.Or(r.Reason, c.Reason)
		}
	}
	for i := range rows {
		r := &rows[i]
		r.Seconds = mean(r.Figures(func(c Cell) *float64 { return &c.Seconds }))
		r.Tokens, r.CostUSD = mean(r.Figures(Cell.Tokens)), mean(r.Figures(func(c Cell) *float64 { return c.CostUSD }))
	}
	return rows
}

// Figures are what the judged runs tell of one thing.
func (r Row) Figures(of func(Cell) *float64) (all []float64) {
	for _, c := range r.Cells {
		if v := of(c); v != nil && c.Verdict != Errored && c.Verdict != Skipped {
			all = append(all, *v)
		}
	}
	return all
}

func mean(all []float64) *float64 {
	if len(all) == 0 {
		return nil
	}
	sum := 0.0
	for _, v := range all {
		sum += v
	}
	sum /= float64(len(all))
	return &sum
}

// Rate is the rate that the case's rule is about, from 0 to 1: that of the judged runs that
// passed or, with pass_k, [PassHatK]. Without enough judged runs there is none.
func (r Row) Rate() (rate float64, known bool) {
	k := max(r.Rule.K, 1)
	if r.Pass+r.Fail < k {
		return 0, false
	}
	return PassHatK(r.Pass, r.Pass+r.Fail, k), true
}

// Under reports whether the rate is known, and is under what the case asks for.
func (r Row) Under() bool {
	const rounding = 1e-9
	least := r.Rule.MinRate
	if least == 0 {
		least = 1
	}
	rate, known := r.Rate()
	return known && rate < least-rounding
}

// Judged reports whether nothing keeps the row from its verdict: no error, nothing skipped, and
// enough runs.
func (r Row) Judged() bool {
	_, known := r.Rate()
	return known && r.Error == 0 && r.Skipped == 0
}

// RateText is the rate as people read it, such as 2/3, and pass^2 0.33 behind it.
func (r Row) RateText() string {
	if r.Pass+r.Fail == 0 {
		return "-"
	}
	text := fmt.Sprintf("%d/%d", r.Pass, r.Pass+r.Fail)
	if rate, known := r.Rate(); known && r.Rule.K > 1 {
		text += fmt.Sprintf(" pass^%d %s", r.Rule.K, strconv.FormatFloat(rate, 'f', 2, 64))
	}
	return text
}

// PassHatK estimates pass^k, the chance that k runs all pass, of n runs of which some passed. It is
// the part of all choices of k of the n runs in which all pass. k is from 1 to n.
func PassHatK(passed, n, k int) float64 {
	chance := 1.0
	for i := range k {
		chance *= max(float64(passed-i), 0) / float64(n-i)
	}
	return chance
}
