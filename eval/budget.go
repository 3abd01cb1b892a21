package eval

import (
	"context"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/tributary-dev/tributary/export/reader"
	"github.com/tributary-dev/tributary/trace"
)

// budget judges what the whole session has used, also in turns that an edit has removed. Each key
// is a bound: as much is allowed, and no more.
type budget struct {
	// Tokens are those that the models have read and written, as the agent reports them.
	Tokens  *int     `yaml:"tokens"`
	CostUSD *float64 `yaml:"cost_usd"`
	// Seconds are those of all turns, and WaitingSeconds those among them in which the agent waited
	// for a person.
	Seconds        *float64 `yaml:"seconds"`
	WaitingSeconds *float64 `yaml:"waiting_seconds"`
	// Steps are calls of the model by the agent itself, without its sub-agents.
	Steps *int `yaml:"steps"`
	// Calls are calls of tools, and ToolErrors those among them that failed.
	Calls      *int `yaml:"calls"`
	ToolErrors *int `yaml:"tool_errors"`
}

func (b *budget) fault() *fault {
	if none(b) {
		return &fault{"", "says nothing: write tokens, cost_usd, seconds, waiting_seconds, steps, calls or tool_errors"}
	}
	return nil
}

// amount is what was used. Up to Maybe more may have been used, and any more if it is not whole.
type amount struct {
	n, maybe float64
	partly   bool
	evidence []string
}

func (b *budget) grade(_ context.Context, s *Session, _ Means) judgement {
	var each []judgement
	bound := func(what string, limit float64, used func(*reader.Turn) amount) {
		var sum amount
		for _, t := range s.Turns {
			a := used(t)
			sum.n, sum.maybe, sum.partly = sum.n+a.n, sum.maybe+a.maybe, sum.partly || a.partly
			sum.evidence = append(sum.evidence, a.evidence...)
		}
		if sum.evidence == nil {
			sum.evidence = s.ends()
		}
		const rounding = 1e-9
		text := strconv.FormatFloat(math.Round(sum.n*1e6)/1e6, 'f', -1, 64)
		switch over := sum.n > limit+rounding; {
		case over || !sum.partly && sum.n+sum.maybe <= limit+rounding:
			each = append(each, passIf(!over, sum.evidence, "%s %s, and %v are allowed", text, what, limit))
		case sum.n == 0:
			each = append(each, unclear(sum.evidence, "the trace does not tell of %s", what))
		default:
			each = append(each, unclear(sum.evidence, "%s %s and perhaps more, because the trace does not tell of all, and %v are allowed", text, what, limit))
		}
	}
	whole := func(what string, limit *int, used func(*reader.Turn) amount) {
		if limit != nil {
			bound(what, float64(*limit), used)
		}
	}
	part := func(what string, limit *float64, used func(*reader.Turn) amount) {
		if limit != nil {
			bound(what, *limit, used)
		}
	}
	whole("tokens", b.Tokens, tokens)
	part("US dollars", b.CostUSD, cost)
	part("seconds", b.Seconds, func(t *reader.Turn) amount {
		return amount{n: t.End.Sub(t.Start).Seconds(), partly: imported(t) || t.Start.IsZero(), evidence: []string{t.StopRecord}}
	})
	part("seconds of waiting for a person", b.WaitingSeconds, waiting)
	whole("calls of the model", b.Steps, steps)
	whole("calls of tools", b.Calls, func(t *reader.Turn) amount { return amount{n: float64(len(t.Calls)), evidence: ids(t.Calls)} })
	whole("failed calls of tools", b.ToolErrors, func(t *reader.Turn) (a amount) {
		for _, c := range t.Calls {
			if c.Result != nil && c.Result.Status == trace.ToolFailed {
				a.n++
				a.evidence = append(a.evidence, c.ResultRecord)
			}
		}
		a.partly = imported(t) && len(t.Calls) > 0
		return a
	})
	return all(each)
}

// tokens are those of a turn. They are whole if the agent told them of the whole turn, or of each
// call of a model.
func tokens(t *reader.Turn) amount {
	whole := false
	a := spent(t, func(u *reader.Usage) (n float64, told bool) {
		n = float64(u.InputTokens) + float64(u.OutputTokens)
		whole = whole || n > 0 && u.From != string(trace.UsageStep)
		return n, n > 0
	})
	a.partly = a.partly && !whole
	return a
}

// cost is that of a turn. If it is known only as a whole, the reader has placed it.
func cost(t *reader.Turn) amount {
	return spent(t, func(u *reader.Usage) (float64, bool) {
		if u.CostUSD == nil {
			return 0, false
		}
		return *u.CostUSD, true
	})
}

// spent adds what each call of a model has used. The sum is not whole if the trace does not tell of
// one of them.
func spent(t *reader.Turn, of func(*reader.Usage) (n float64, told bool)) (a amount) {
	for _, actor := range t.Actors {
		told := len(actor.Steps) == 0 && actor.Subagent()
		for i, st := range actor.Steps {
			if i > 0 && !asks(t, actor.Steps[i-1].Seq, st.Seq) { // else both may be one call
				a.partly, told = a.partly || !told, false
			}
			if st.Usage == nil {
				continue
			}
			if n, known := of(st.Usage); known {
				a.n, told = a.n+n, true
				a.evidence = append(a.evidence, st.Usage.Records...)
			}
		}
		a.partly = a.partly || !told
	}
	return a
}

// steps are those of the agent. A step ends when a person is asked, and what follows may be of the
// same call of the model.
func steps(t *reader.Turn) (a amount) {
	var before uint64
	for _, st := range t.Main().Steps {
		switch {
		case st.Derived:
			a.partly = true
			continue
		case before > 0 && asks(t, before, st.Seq):
			a.maybe++
		default:
			a.n++
		}
		before = st.Seq
		a.evidence = append(a.evidence, st.ID)
	}
	return a
}

// asks reports whether a person was asked between two records.
func asks(t *reader.Turn, from, to uint64) bool {
	for _, q := range t.Requests {
		if q.DecidedBy == "" && q.Seq > from && q.Seq < to {
			return true
		}
	}
	for _, q := range t.Questions {
		if q.Seq > from && q.Seq < to {
			return true
		}
	}
	return false
}

// waiting is the time in which a person had something to answer. What was asked at the same time
// counts once.
func waiting(t *reader.Turn) (a amount) {
	type span struct{ from, to time.Time }
	var spans []span
	for _, q := range t.Requests {
		if q.DecidedBy == "" {
			spans = append(spans, span{q.Start, q.End})
			a.evidence = append(a.evidence, q.Record)
		}
	}
	for _, q := range t.Questions {
		spans = append(spans, span{q.Start, q.End})
		a.evidence = append(a.evidence, q.Record)
	}
	slices.SortFunc(spans, func(a, b span) int { return a.from.Compare(b.from) })
	var until time.Time
	for _, s := range spans {
		if s.from.Before(until) {
			s.from = until
		}
		if s.to.After(s.from) {
			a.n += s.to.Sub(s.from).Seconds()
			until = s.to
		}
	}
	a.partly = imported(t)
	return a
}
