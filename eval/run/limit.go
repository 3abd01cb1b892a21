package run

import (
	"fmt"

	"github.com/tributary-dev/tributary/eval"
	"github.com/tributary-dev/tributary/trace"
)

// meter counts what a session uses while it runs.
type meter struct {
	limits eval.Limits

	steps  int
	asked  bool   // a person was asked since the last step began
	retry  string // what the agent said of a call of its model that it repeats; empty after an answer
	tokens [3]int64
	costs  [3]float64
}

// The figures of a meter. Agents report some of them, and each is at most what was used.
const (
	ofSteps = iota
	ofTurns
	ofSession
)

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
	tokens, cost := max(m.tokens[ofSteps], m.tokens[ofTurns], m.tokens[ofSession]), max(m.costs[ofSteps], m.costs[ofTurns], m.costs[ofSession])
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
	switch u.Scope {
	case trace.UsageStep:
		m.tokens[ofSteps] += tokens
		m.costs[ofSteps] += cost
	case trace.UsageTurn:
		m.tokens[ofTurns] += tokens
		m.costs[ofTurns] += cost
	case trace.UsageSession: // of all turns so far
		m.tokens[ofSession] = max(m.tokens[ofSession], tokens)
		m.costs[ofSession] = max(m.costs[ofSession], cost)
	}
}
