package claude

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"github.com/tributary-dev/tributary/trace"
)

// This file counts tokens. Claude Code counts in two places. Each message of the model has its usage,
// but the output of a message that is not streamed, such as a sub-agent's, is a count from its
// beginning. Each result has the sums for each model: those are the truth of a turn.

// spending is what a message of the model has used.
type spending struct {
	b       *trace.Builder
	main    bool
	model   string
	used    usage
	held    bool // used is not on record yet
	exact   bool // used has all output
	counted bool // used is on record
}

// counted is what was put on record since the newest result, for comparison with the next one.
type counted struct {
	models    map[string]usage
	subagents trace.Usage
	newest    map[string]string // the newest message that was counted, by the call of its sub-agent
}

func newCounted() counted {
	return counted{models: map[string]usage{}, newest: map[string]string{}}
}

// spendingOf begins the count of a message. A message that a result divides comes again in the
// next turn, and was counted.
func (d *Decoder) spendingOf(s *speaker, msg message) spending {
	again := msg.ID != "" && d.counted.newest[s.parent] == msg.ID
	d.counted.newest[s.parent] = msg.ID
	model := msg.Model
	if model == "" && s.main {
		model = d.model
	}
	return spending{b: s.b, main: s.main, model: model, counted: again}
}

// used takes what a message has used so far. The count is whole when the model has said why it
// stopped; until then the count waits for more.
func (d *Decoder) used(c *turn, m *reply, u usage, stopReason string) {
	if m.counted || u.context() == 0 {
		return
	}
	m.used = u
	if stopReason != "" {
		d.count(c, m)
		return
	}
	c.hold(m)
}

// hold keeps the usage of a message until more is known of it.
func (c *turn) hold(m *reply) {
	if !m.held {
		m.held = true
		c.held = append(c.held, m)
	}
}

// lastOf takes the usage of a sub-agent's last message from the result of its call. Claude Code does not
// show that message itself when the call waits for the sub-agent.
func (d *Decoder) lastOf(c *turn, call string, result raw) {
	var r struct {
		Agent string `json:"agentId"`
		Model string `json:"resolvedModel"`
		Usage usage  `json:"usage"`
	}
	if !bytes.Contains(result, []byte(`"agentId"`)) || json.Unmarshal(result, &r) != nil || r.Agent == "" || r.Usage.context() == 0 {
		return
	}
	s := d.speaker(c, call)
	m := s.last
	if m == nil || !m.used.sameInput(r.Usage) { // else the message was shown
		m = &reply{spending: spending{b: s.b, model: r.Model}}
	}
	if !m.counted {
		m.used, m.exact = r.Usage, true
		c.hold(m)
	}
}

// count puts on record what a message has used.
func (d *Decoder) count(c *turn, m *reply) {
	m.counted = true
	c.held = slices.DeleteFunc(c.held, func(held *reply) bool { return held == m })
	u := m.used.trace(trace.UsageStep, m.model)
	if m.main {
		u.ContextUsed = m.used.context()
	} else {
		d.counted.subagents = d.counted.subagents.Plus(u)
	}
	d.counted.models[m.model] = d.counted.models[m.model].plus(m.used)
	m.b.Emit(u)
}

// release counts the messages of a speaker that are held, or of all if there is none.
func (d *Decoder) release(c *turn, s *speaker) {
	for _, m := range slices.Clone(c.held) {
		if s == nil || m.b == s.b {
			d.count(c, m)
		}
	}
}

// settle gives the newest message of each model whose output is not exact the output that only the
// result knows. It does so only if all input is accounted for: else the model was called for something that no
// message shows.
func (d *Decoder) settle(c *turn, r result) {
	newest, known := map[string]*reply{}, maps.Clone(d.counted.models)
	for _, m := range c.held {
		if !m.exact {
			newest[m.model] = m
		}
		known[m.model] = known[m.model].plus(m.used)
	}
	for model, m := range newest {
		sum, has := modelIn(r.Since, model), known[model]
		if !has.sameInput(usage{Input: sum.Input, CacheRead: sum.CacheRead, CacheWrite: sum.CacheWrite}) {
			continue
		}
		m.used.Output += max(0, sum.Output-has.Output)
		m.used.Details.Thinking += max(0, sum.Thinking-has.Details.Thinking)
	}
	d.release(c, nil)
}

// modelIn finds a model in the sums of a result, where a name may have an ending, such as that of a
// larger context.
func modelIn(models map[string]modelUsage, model string) modelUsage {
	for name, m := range models {
		if name == model || m.name(name) == model {
			return m
		}
	}
	return modelUsage{}
}

// turnUsage records what the turn and the session have used.
func (d *Decoder) turnUsage(c *turn, r result) {
	d.settle(c, r)
	turn := sum(r.Since)
	if len(r.Since) == 0 && r.Usage != nil { // an older Claude Code has no sums that include sub-agents
		turn = r.Usage.trace("", d.model).Plus(d.counted.subagents)
	}
	d.counted.models, d.counted.subagents = map[string]usage{}, trace.Usage{}
	if turn.InputTokens+turn.OutputTokens > 0 {
		model := turn.Model
		c.spent = c.spent.Plus(turn)
		c.spent.Scope, c.spent.Model = trace.UsageTurn, model
		c.b.Emit(c.spent)
	}
	if r.CostUSD == nil && len(r.Models) == 0 {
		return
	}
	total := sum(r.Models)
	total.Scope, total.CostUSD, total.ContextSize = trace.UsageSession, r.CostUSD, modelIn(r.Models, modelID(d.model)).ContextWindow
	c.b.Emit(total)
}

// modelUsage counts what was used of a model.
type modelUsage struct {
	Input         int64    `json:"inputTokens"`
	Output        int64    `json:"outputTokens"`
	CacheRead     int64    `json:"cacheReadInputTokens"`
	CacheWrite    int64    `json:"cacheCreationInputTokens"`
	Thinking      int64    `json:"thinkingTokens"`
	CostUSD       *float64 `json:"costUSD"`
	ContextWindow int64    `json:"contextWindow"`
	Model         string   `json:"canonicalModel"`
}

// name is the model's id as messages have it.
func (m modelUsage) name(key string) string {
	if m.Model != "" {
		return m.Model
	}
	return modelID(key)
}

// sum adds what was used of all models. It names the model if there is one only.
func sum(models map[string]modelUsage) (all trace.Usage) {
	for _, name := range slices.Sorted(maps.Keys(models)) { // sums of dollars depend on the order
		m := models[name]
		all = all.Plus(trace.Usage{
			InputTokens: m.Input, OutputTokens: m.Output, CacheReadTokens: m.CacheRead, CacheWriteTokens: m.CacheWrite, ReasoningTokens: m.Thinking, CostUSD: m.CostUSD,
		}.CacheApart())
		if len(models) == 1 {
			all.Model = m.name(name)
		}
	}
	return all
}

// trace is the usage as a record has it. Anthropic reports cached tokens apart.
func (u usage) trace(scope trace.UsageScope, model string) trace.Usage {
	return trace.Usage{
		Scope: scope, InputTokens: u.Input, OutputTokens: u.Output, CacheReadTokens: u.CacheRead, CacheWriteTokens: u.CacheWrite,
		ReasoningTokens: u.Details.Thinking, Model: model,
	}.CacheApart()
}

// context is how much of the model's context is in use after a call.
func (u usage) context() int64 { return u.Input + u.CacheRead + u.CacheWrite + u.Output }

func (u usage) sameInput(v usage) bool {
	return u.Input == v.Input && u.CacheRead == v.CacheRead && u.CacheWrite == v.CacheWrite
}

func (u usage) plus(more usage) usage {
	u.Input += more.Input
	u.Output += more.Output
	u.CacheRead += more.CacheRead
	u.CacheWrite += more.CacheWrite
	u.Details.Thinking += more.Details.Thinking
	return u
}
