package run

import (
	"fmt"

	"github.com/tributary-dev/tributary/eval"
	"github.com/tributary-dev/tributary/trace"
)

// meter counts what a session uses while it runs.
type meter struct {
	limits eval.Limits

	steps int
	asked bool   // a person was asked since the last step began
	retry string // what the agent said of a call of its model that it repeats; empty after an answer
	// The figures by what they are of. Agents report some of them, and each is at most what was used.
	tokens map[trace.UsageScope]int64
	costs  map[trace.UsageScope]float64
}

// see counts a record, and says in a sentence which limit is passed, or "".
func (m *meter) see(r trace.Record) string {
	if step, is := r.Payload.(trace.Step); is && step.Phase == trace.PhaseStart && r.Actor == trace.Agent {
		// After a request, a step may be the rest of the same call of the model.
		if !m.asked || m.steps == 0 {
			m.steps++
		}
		m.asked = false
	}
	if request, is := r.Payload.(trace.PermissionRequest); is && request.DecidedBy == "" {
		m.asked = true
	}
	if _, is := r.Payload.(trace.Question); is {
		m.asked = true
	}
	u, used := r.Payload.(trace.Usage)
	if used {
		m.use(u)
	}
	_, data := r.Payload.(trace.Data)
	if e, is := r.Payload.(trace.Error); is && e.Code == "retry" {
		m.retry = e.Message
	} else if r.Actor != trace.Gateway && r.Actor != trace.User && !is && !data && !used {
		m.retry = ""
	}
	tokens := max(m.tokens[trace.UsageStep], m.tokens[trace.UsageTurn], m.tokens[trace.UsageSession])
	cost := max(m.costs[trace.UsageStep], m.costs[trace.UsageTurn], m.costs[trace.UsageSession])
	const rounding = 1e-9
	switch l := m.limits; {
	case l.Steps > 0 && m.steps > l.Steps:
		return fmt.Sprintf("the agent called its model more than %d times", l.Steps)
	case l.Tokens > 0 && tokens > int64(l.Tokens):
		return fmt.Sprintf("the agent used %d tokens, and %d are allowed", tokens, l.Tokens)
	case l.CostUSD > 0 && cost > l.CostUSD+rounding:
		return fmt.Sprintf("the run cost %.4g US dollars, and %v are allowed", cost, l.CostUSD)
	}
	return ""
}

func (m *meter) use(u trace.Usage) {
	tokens, cost := u.InputTokens+u.OutputTokens, 0.0
	if u.CostUSD != nil {
		cost = *u.CostUSD
	}
	if u.Scope == trace.UsageSession { // of all turns so far
		m.tokens[u.Scope], m.costs[u.Scope] = max(m.tokens[u.Scope], tokens), max(m.costs[u.Scope], cost)
		return
	}
	m.tokens[u.Scope] += tokens
	m.costs[u.Scope] += cost
}
