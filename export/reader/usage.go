package reader

import (
	"cmp"
	"math"
	"slices"

	"github.com/tributary-dev/tributary/trace"
)

// This file places the usage of a turn on its steps, each token and each cent once.

// totals are the newest totals of the session, as the agent counts them.
type totals struct {
	known bool
	last  trace.Usage
}

// used is a usage on record that is of no step.
type used struct {
	scope  trace.UsageScope
	u      trace.Usage
	record string
}

// usage takes a record. Figures of a step go to the step that is open, or was last.
func (t *turn) usage(a *Actor, r trace.Record, u trace.Usage) {
	if u.ContextSize > 0 {
		t.ContextSize = u.ContextSize
	}
	if u.ContextUsed > 0 {
		t.ContextUsed = u.ContextUsed
	}
	if u.Scope != trace.UsageStep {
		t.usages = append(t.usages, used{u.Scope, u, r.ID})
		return
	}
	if a == nil {
		a = t.Main()
	}
	st := a.open
	if st == nil && len(a.Steps) > 0 {
		st = a.Steps[len(a.Steps)-1]
	}
	if st == nil {
		st = a.newStep(r)
	}
	a.counted = true
	if st.Usage == nil {
		st.Usage = &Usage{Usage: u, From: string(trace.UsageStep)}
	} else {
		st.Usage.Usage = st.Usage.Plus(u)
	}
	st.Usage.Records = append(st.Usage.Records, r.ID)
}

// place charges the turn's steps with what is known of the turn only as a whole.
func (s *session) place(t *turn) {
	var perModel []trace.Usage // the newest figures of the turn, for each model
	var session *trace.Usage
	for _, one := range t.usages {
		if one.scope == trace.UsageSession {
			if counted(one.u) || one.u.CostUSD != nil { // else it is a meter of the context
				session = &one.u
			}
			continue
		}
		perModel = replace(perModel, one.u)
	}
	var turn trace.Usage
	for i, u := range perModel {
		turn = turn.Plus(u)
		if i == len(perModel)-1 {
			turn.Model = u.Model
		}
	}
	sum, steps := t.charged()
	difference, known := s.totals.since(session, t.resumed)

	tokens, from := trace.Usage{}, ""
	switch {
	case counted(turn) && steps:
		tokens, from = minus(turn, sum), "remainder"
	case counted(turn):
		tokens, from = turn, string(trace.UsageTurn)
	case !steps && known:
		tokens, from = difference, "session-difference"
	}
	tokens.CostUSD = nil
	cost := turn.CostUSD
	if cost == nil && known {
		cost = difference.CostUSD
	}
	priced := cost != nil && (*cost > 0 || sum.CostUSD == nil)
	if counted(tokens) || priced {
		st := t.chargee(counted(tokens))
		if counted(tokens) {
			charge(st, tokens, from)
		}
		if priced {
			t.price(st, *cost, sum.CostUSD)
		}
		for _, one := range t.usages {
			if st.Usage != nil {
				st.Usage.Records = append(st.Usage.Records, one.record)
			}
		}
	}
	for _, a := range t.Actors {
		for _, st := range a.Steps {
			if st.Usage != nil {
				st.Model = cmp.Or(st.Usage.Model, st.Model)
			}
			st.Model = cmp.Or(st.Model, turn.Model, s.agent.Model, s.listed())
		}
	}
}

// listed is the current model of the agent's list, unless that is a word for whichever it is.
func (s *session) listed() string {
	if s.model == "default" || s.model == "auto" {
		return ""
	}
	return s.model
}

func replace(all []trace.Usage, u trace.Usage) []trace.Usage {
	for i := range all {
		if all[i].Model == u.Model {
			all[i] = u
			return all
		}
	}
	return append(all, u)
}

// charged is the sum of what the agent says of steps.
func (t *turn) charged() (sum trace.Usage, any bool) {
	for _, a := range t.Actors {
		for _, st := range a.Steps {
			if st.Usage != nil {
				sum, any = sum.Plus(st.Usage.Usage), any || counted(st.Usage.Usage)
			}
		}
	}
	return sum, any
}

// chargee is the step for what is known of the turn only. Tokens that the agent's own steps do not
// explain are those of a sub-agent of whose steps nothing is known, and go to its last one. All
// else goes to the agent's last.
func (t *turn) chargee(tokens bool) *Step {
	m := t.Main()
	own := false
	for _, st := range m.Steps {
		own = own || st.Usage != nil
	}
	for _, a := range t.Actors[1:] {
		n := len(a.Steps)
		if tokens && own && n > 0 && a.Steps[n-1].Usage == nil {
			return a.Steps[n-1]
		}
	}
	for _, st := range slices.Backward(m.Steps) {
		if len(st.Parts) > 0 {
			return st
		}
	}
	if n := len(m.Steps); n > 0 {
		return m.Steps[n-1]
	}
	return m.newStep(trace.Record{Seq: t.Seq, Event: trace.Event{ID: t.ID + ".usage", Time: t.End}})
}

func charge(st *Step, u trace.Usage, from string) {
	if st.Usage == nil {
		st.Usage = &Usage{Usage: u, From: from}
		return
	}
	st.Usage.Usage, st.Usage.From = st.Usage.Plus(u), from
}

// price puts the cost of the turn that no step has on one step. The other steps cost 0, so that
// no reader prices them by a table of its own.
func (t *turn) price(last *Step, cost float64, of *float64) {
	if of != nil {
		if cost -= *of; cost < 1e-9 {
			return // the steps explain it, but for rounding
		}
	}
	charge(last, trace.Usage{CostUSD: &cost}, fromOf(last))
	for _, a := range t.Actors {
		for _, st := range a.Steps {
			if st.Usage == nil {
				st.Usage = &Usage{}
			}
			if st.Usage.CostUSD == nil {
				st.Usage.CostUSD = new(float64)
			}
		}
	}
}

func fromOf(st *Step) string {
	if st.Usage == nil || st.Usage.From == "" {
		return string(trace.UsageTurn)
	}
	return st.Usage.From
}

// since is what was used since the totals before. Nothing is known from the first totals of a
// conversation that began elsewhere, nor from totals that have become smaller.
func (t *totals) since(now *trace.Usage, resumed bool) (difference trace.Usage, known bool) {
	if now == nil {
		return difference, false
	}
	before, first := t.last, !t.known
	t.last, t.known = *now, true
	if first {
		return *now, !resumed
	}
	if now.InputTokens < before.InputTokens || now.OutputTokens < before.OutputTokens || costOf(*now) < costOf(before) {
		return difference, false
	}
	difference = minus(*now, before)
	if now.CostUSD != nil {
		const digits = 1e9 // totals have no more
		cost := math.Round((costOf(*now)-costOf(before))*digits) / digits
		difference.CostUSD = &cost
	}
	difference.Model = now.Model
	return difference, true
}

func costOf(u trace.Usage) float64 {
	if u.CostUSD == nil {
		return 0
	}
	return *u.CostUSD
}

// minus has the tokens of u that v lacks.
func minus(u, v trace.Usage) trace.Usage {
	return trace.Usage{
		InputTokens: max(0, u.InputTokens-v.InputTokens), OutputTokens: max(0, u.OutputTokens-v.OutputTokens),
		CacheReadTokens: max(0, u.CacheReadTokens-v.CacheReadTokens), CacheWriteTokens: max(0, u.CacheWriteTokens-v.CacheWriteTokens),
		ReasoningTokens: max(0, u.ReasoningTokens-v.ReasoningTokens),
	}
}

func counted(u trace.Usage) bool {
	return u.InputTokens|u.OutputTokens|u.CacheReadTokens|u.CacheWriteTokens|u.ReasoningTokens != 0
}
