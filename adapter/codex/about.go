package codex

import (
	"cmp"
	"strings"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/trace"
)

// This file says which agent it is, with which model, and what the model has used.

// product is what readers of a trace know Codex by.
const product = "codex"

// about is what Codex says of itself.
type about struct {
	version string
	chosen  string              // the model that the conversation is set to
	models  agentkit.BoundedMap // the models that answer, by thread
}

func (a *about) choose(model string) { a.chosen = cmp.Or(model, a.chosen) }

// versionIn reads the version of Codex in what it calls itself, such as name/0.169.0 (Debian).
func versionIn(userAgent string) string {
	_, version, _ := strings.Cut(userAgent, "/")
	version, _, _ = strings.Cut(version, " ")
	return version
}

// opened takes the beginning of a conversation. Its thread has the version of the Codex that
// began it, which may be an older one.
func (d *Decoder) opened(p params, t agent.Turns) {
	model := cmp.Or(p.Model, p.Thread.Model)
	d.about.choose(model)
	d.about.models.Put(d.thread, model)
	t.Note(trace.AgentInfo{
		Product: product, Version: cmp.Or(d.about.version, p.Thread.CLIVersion), Provider: cmp.Or(p.ModelProvider, p.Thread.ModelProvider), Model: model,
	}.Payload())
}

// uses takes the model that answers in a thread. A model that Codex changes to by itself counts for
// the turn: the next turn asks for the model of the conversation again.
func (d *Decoder) uses(thread, model string, t agent.Turns) {
	if model == "" || model == d.about.models.Get(thread) {
		return
	}
	d.about.models.Put(thread, model)
	if thread == d.thread {
		t.Note(trace.AgentInfo{Model: model}.Payload())
	}
}

// used puts on record what a model call used, and remembers the sums. The usage of an earlier turn
// comes once more when a conversation is resumed.
func (d *Decoder) used(c *turn, b *trace.Builder, p params) {
	main := p.ThreadID == d.thread
	if main && p.TurnID != "" && p.TurnID != c.id {
		return
	}
	step, total := p.TokenUsage.Last.usage(trace.UsageStep), p.TokenUsage.Total.usage(trace.UsageSession)
	step.Model = d.about.models.Get(p.ThreadID)
	step.ContextUsed, step.ContextSize = p.TokenUsage.Last.TotalTokens, p.TokenUsage.ModelContextWindow
	b.Emit(step)
	model := step.Model
	if c.spent.Scope != "" && c.spent.Model != model {
		model = "" // several models have answered
	}
	c.spent = c.spent.Plus(step)
	c.spent.Scope, c.spent.Model = trace.UsageTurn, model
	if main {
		total.ContextUsed, total.ContextSize = step.ContextUsed, step.ContextSize
		c.call, c.total = true, total
	}
}

func (t tokens) usage(scope trace.UsageScope) trace.Usage {
	return trace.Usage{
		Scope: scope, InputTokens: t.InputTokens, OutputTokens: t.OutputTokens, CacheReadTokens: t.CachedInputTokens,
		CacheWriteTokens: t.CacheWriteInputTokens, ReasoningTokens: t.ReasoningOutputTokens,
	}
}
