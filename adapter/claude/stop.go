package claude

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/trace"
)

// result is the line that ends a turn.
type result struct {
	Subtype        string                `json:"subtype"`
	IsError        bool                  `json:"is_error"`
	Result         trace.JSONText        `json:"result"`
	Errors         []string              `json:"errors"`
	StopReason     string                `json:"stop_reason"`
	TerminalReason string                `json:"terminal_reason"`
	NumTurns       int                   `json:"num_turns"`
	Usage          *usage                `json:"usage"`
	CostUSD        *float64              `json:"total_cost_usd"`
	Models         map[string]modelUsage `json:"modelUsage"`
	Queued         int                   `json:"queued_turn_count"`
	Origin         origin                `json:"origin"`
}

// modelUsage counts what the session has used of a model so far.
type modelUsage struct {
	Input         int64 `json:"inputTokens"`
	Output        int64 `json:"outputTokens"`
	CacheRead     int64 `json:"cacheReadInputTokens"`
	CacheWrite    int64 `json:"cacheCreationInputTokens"`
	Thinking      int64 `json:"thinkingTokens"`
	ContextWindow int64 `json:"contextWindow"`
}

// result ends the turn.
func (d *Decoder) result(data raw, t agent.Turns) error {
	var r result
	if err := json.Unmarshal(data, &r); err != nil {
		return fmt.Errorf("claude: a result line that is not of its protocol was skipped: %w", err)
	}
	if d.starting {
		d.startError = r.sentence(&turn{}, r.Subtype)
		return nil
	}
	c := d.need(t)
	if c == nil {
		return nil
	}
	stop := r.stop(c)
	stop.Error += advice(stop.Error)
	if stop.Outcome == trace.OutcomeCompleted {
		if !c.shown && stop.FinalOutput != "" {
			c.b.Message("result", string(r.Result)) // what a command of the agent printed
		}
		if c.apiError != "" {
			c.b.Emit(trace.Error{Message: c.apiError, Code: "api_error"})
		}
	}
	d.turnUsage(c, r)
	if c.prompt && r.Origin.Kind == backgroundTask && (r.Queued > 0 || r.NumTurns == 0 || d.echoing && !c.echoed) {
		return nil // the agent has worked on a report of a background task, and not yet on the prompt
	}
	d.forget(c)
	c.b.End(stop)
	return nil
}

// forget drops what cannot have an answer any more. A sub-agent's calls may.
func (d *Decoder) forget(c *turn) {
	maps.DeleteFunc(d.calls, func(_ string, tc *call) bool { return tc.parent == "" })
	maps.DeleteFunc(d.asks, func(_ string, a *ask) bool { return a.Turn() == c.b.Turn() })
}

func (r result) stop(c *turn) trace.Stop {
	aborted := strings.HasPrefix(r.TerminalReason, "aborted") || r.IsError && r.TerminalReason == "" && c.interrupted
	limit, limited := limits()[r.Subtype]
	switch {
	case aborted:
		return trace.Stop{Reason: "interrupted", Outcome: trace.OutcomeCanceled}
	case limited:
		return trace.Stop{Reason: limit[0], Outcome: trace.OutcomeFailed, Error: limit[1]}
	case r.IsError || strings.HasPrefix(r.Subtype, "error"):
		reason := cmp.Or(r.TerminalReason, r.Subtype)
		return trace.Stop{Reason: reason, Outcome: trace.OutcomeFailed, Error: r.sentence(c, reason)}
	}
	reason := cmp.Or(r.StopReason, cmp.Or(r.TerminalReason, "end_turn"))
	return trace.Stop{Reason: reason, Outcome: trace.OutcomeCompleted, FinalOutput: string(r.Result)}
}

// sentence says what failed.
func (r result) sentence(c *turn, reason string) string {
	if r.Result != "" {
		return string(r.Result)
	}
	told := slices.DeleteFunc(slices.Clone(r.Errors), func(s string) bool {
		return s == "" || strings.HasPrefix(s, "[ede_diagnostic]")
	})
	if len(told) > 0 {
		return strings.Join(told, " ")
	}
	return cmp.Or(c.apiError, fmt.Sprintf("Claude Code ended the turn with an error (%s).", reason))
}

// limits are the results of turns that ran into a limit of the user's own, with the
// reason and the sentence.
func limits() map[string][2]string {
	return map[string][2]string{
		"error_max_turns":      {"max_turns", "Claude Code stopped because it reached its limit of model calls."},
		"error_max_budget_usd": {"max_budget", "Claude Code stopped because it reached its budget."},
		"error_max_structured_output_retries": {
			"max_structured_output_retries", "Claude Code stopped because the model did not give an output of the wanted form.",
		},
	}
}

// turnUsage records what the turn and the session have used.
func (d *Decoder) turnUsage(c *turn, r result) {
	if u := r.Usage; u != nil && u.context() > 0 {
		c.b.Emit(d.used(trace.UsageTurn, *u))
	}
	if r.CostUSD == nil && len(r.Models) == 0 {
		return
	}
	total := trace.Usage{Scope: trace.UsageSession, CostUSD: r.CostUSD, ContextSize: r.Models[d.model].ContextWindow}
	for name, m := range r.Models {
		total = total.Plus(trace.Usage{InputTokens: m.Input, OutputTokens: m.Output, CacheReadTokens: m.CacheRead, CacheWriteTokens: m.CacheWrite, ReasoningTokens: m.Thinking}.CacheApart())
		if len(r.Models) == 1 {
			total.Model = name
		}
	}
	c.b.Emit(total)
}

// used are tokens of the model that answers. Anthropic reports cached tokens apart.
func (d *Decoder) used(scope trace.UsageScope, u usage) trace.Usage {
	return trace.Usage{
		Scope: scope, InputTokens: u.Input, OutputTokens: u.Output, CacheReadTokens: u.CacheRead, CacheWriteTokens: u.CacheWrite,
		ReasoningTokens: u.Details.Thinking, Model: d.model,
	}.CacheApart()
}

// context is how much of the model's context is in use after a call.
func (u usage) context() int64 { return u.Input + u.CacheRead + u.CacheWrite + u.Output }
