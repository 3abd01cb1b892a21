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
	Since          map[string]modelUsage `json:"model_usage_since_last_result"`
	Status         int                   `json:"api_error_status"`
	APIError       string                `json:"api_error"`
	Queued         int                   `json:"queued_turn_count"`
	Origin         origin                `json:"origin"`
}

// result ends the turn.
func (d *Decoder) result(data raw, t agent.Turns) error {
	var r result
	if err := json.Unmarshal(data, &r); err != nil {
		return fmt.Errorf("claude: a result line that is not of its protocol was skipped: %w", err)
	}
	if d.starting {
		d.startError = r.sentence(&turn{}, r.failure(&turn{}))
		return nil
	}
	if d.turn != nil && d.current(t) == nil && len(d.waiting) == 0 && !d.behind(r, t) {
		return nil
	}
	c := d.need(t)
	if c == nil {
		return nil
	}
	stop := r.stop(c)
	stop.Error += advice(stop.Error)
	d.told = cmp.Or(string(r.Result), stop.Error)
	if stop.Outcome == trace.OutcomeCompleted {
		if !c.shown && stop.FinalOutput != "" {
			c.b.Message("result", string(r.Result)) // what a command of the agent printed
		}
		if c.fault.text != "" {
			c.b.Emit(trace.Error{Message: c.fault.text, Code: "api_error"})
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

// behind takes a result that comes behind the end of a turn, without a word of the agent before it. It
// reports whether the result says something new, which makes a turn. A failure is noted: no turn has failed.
func (d *Decoder) behind(r result, t agent.Turns) bool {
	stop := r.stop(&turn{})
	told := cmp.Or(string(r.Result), stop.Error)
	if told == d.told || told == "" {
		return false
	}
	if stop.Outcome == trace.OutcomeFailed {
		d.told = told
		t.Note(trace.Error{Code: stop.Reason, Message: stop.Error + advice(stop.Error)})
		return false
	}
	return true
}

// forget drops what cannot have an answer any more. A sub-agent's calls may.
func (d *Decoder) forget(c *turn) {
	d.release(c, nil)
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
		return trace.Stop{Reason: limit[0], Outcome: trace.OutcomeFailed, Class: trace.ClassLimit, Error: limit[1]}
	case r.IsError || strings.HasPrefix(r.Subtype, "error"):
		reason := r.failure(c)
		return trace.Stop{Reason: reason, Outcome: trace.OutcomeFailed, Class: r.class(c), Error: r.sentence(c, reason)}
	}
	reason := cmp.Or(r.StopReason, cmp.Or(r.TerminalReason, "end_turn"))
	return trace.Stop{Reason: reason, Outcome: trace.OutcomeCompleted, FinalOutput: string(r.Result)}
}

// failure is the agent's word for what failed. A failure of the model's provider may have the subtype success.
func (r result) failure(c *turn) string {
	for _, word := range []string{r.TerminalReason, r.Subtype, r.APIError, c.fault.detail, c.fault.word} {
		if word != "" && word != "success" && word != "completed" {
			return word
		}
	}
	return "error"
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
	return cmp.Or(c.fault.text, fmt.Sprintf("Claude Code ended the turn with an error (%s).", reason))
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
