package acp

import (
	"cmp"
	"strings"
	"unicode"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/trace"
)

// This file says which model an agent works with, and what the model has used.

// learn puts on record what is new about the agent.
func (d *Decoder) learn(more trace.AgentInfo, t agent.Turns) {
	was := d.known
	d.known = was.With(more)
	if now := d.known; now.Product != was.Product || now.Version != was.Version || now.Provider != was.Provider || now.Model != was.Model {
		t.Note(now.Payload())
	}
}

// modelOf says which model an agent means. OpenCode and its descendants name the provider first,
// and Qwen Code writes the way to log in around the name. In brackets stand settings, such as an effort.
func (d *Decoder) modelOf(told string) (a trace.AgentInfo) {
	id := told
	switch {
	case d.agent.is("qwen"):
		id = id[strings.LastIndex(id, "|")+1:]
		id, _, _ = strings.Cut(id, "(")
	case d.agent.is("opencode"), d.agent.is("kilo"):
		if provider, model, two := strings.Cut(id, "/"); two {
			a.Provider, id = provider, model
		}
	}
	id, _, _ = strings.Cut(id, "[")
	if !isModelID(id) {
		return trace.AgentInfo{}
	}
	a.Model = id
	return a
}

// isModelID reports whether a text names one model. A word such as default, sonnet or auto-gemini
// does not: the agent decides what the word stands for.
func isModelID(id string) bool {
	first, _, _ := strings.Cut(id, "-")
	return strings.ContainsFunc(id, func(r rune) bool { return r == '-' || r == '/' || unicode.IsDigit(r) }) &&
		!strings.ContainsFunc(id, unicode.IsSpace) && first != "auto" && first != "default"
}

// told takes a model that the agent tells beside the protocol.
func (d *Decoder) told(c *turn, model string, t agent.Turns) {
	if a := d.modelOf(model); a.Model != "" {
		c.model = a.Model
		d.learn(a, t)
	}
}

// modelIn is the model of a turn, or "": of several, the one with most tokens.
func (m meta) modelIn() (model string) {
	most := int64(-1)
	for _, u := range m.Quota.Models.all() {
		if n := u.Count.sum(); n > most {
			model, most = u.Model, n
		}
	}
	return model
}

// usage records what the turn has used, as far as the agent says. The calls of the model that were
// counted one by one are the whole turn.
func (d *Decoder) usage(c *turn, counts usage, m meta, t agent.Turns) {
	if c.model == "" {
		d.told(c, m.modelIn(), t)
	}
	u := trace.Usage{Scope: trace.UsageTurn, InputTokens: m.Quota.Count.Input, OutputTokens: m.Quota.Count.Output}
	if d.agent.is("opencode") || d.agent.is("kilo") {
		u.Scope = trace.UsageStep // they count the last step only, and the sum of the turn is unknown
	}
	if counts != (usage{}) {
		counts.count(&u)
	}
	if c.steps != (trace.Usage{}) {
		u = c.steps
		u.Scope = trace.UsageTurn
	}
	if u.InputTokens+u.OutputTokens > 0 {
		u.Model = d.modelNow(c)
		c.b.Emit(u)
	}
	if c.context != nil {
		c.b.Emit(*c.context)
	}
}

// modelNow is the model of the turn: that which the agent tells, else that of the session's
// settings; "" if nobody knows.
func (d *Decoder) modelNow(c *turn) string { return cmp.Or(c.model, d.modelOf(d.chosen).Model) }

// called records what a call of the model has used. The call is over.
func (d *Decoder) called(s *speaker, counts usage) {
	u := trace.Usage{Scope: trace.UsageStep, Model: d.modelNow(s.c)}
	counts.count(&u)
	if u.InputTokens+u.OutputTokens == 0 {
		return
	}
	s.end()
	s.b.Emit(u)
	s.c.steps = s.c.steps.Plus(u)
	if s.b == s.c.b {
		s.c.step.over = true
	}
}

// count adds the counts in the gateway's meaning: cached input is input, and reasoning
// is output. Agents count either way; their total says which.
func (u usage) count(into *trace.Usage) {
	into.InputTokens, into.OutputTokens, into.ReasoningTokens = u.Input, u.Output, u.Thought
	into.CacheReadTokens, into.CacheWriteTokens = u.CacheRead, u.CacheWrite
	*into = into.CacheBy(u.Total)
	if u.Thought > 0 && (u.Total == into.InputTokens+u.Output+u.Thought || u.Thought > u.Output) {
		into.OutputTokens += u.Thought
	}
}
