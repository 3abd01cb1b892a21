package openai

import (
	"encoding/json"
	"fmt"

	"github.com/tributary-dev/tributary/agent/toolloop"
	"github.com/tributary-dev/tributary/trace"
)

// imageTokens is what an image or a file counts in an estimate.
const imageTokens = 1000

// count puts the usage of a model call on record. An endpoint that reports none is
// counted by estimate, for the budget only.
func (m *model) count(u trace.Usage, messages []toolloop.Message, tools []toolloop.Tool, s *speech, b *trace.Builder) {
	guess := estimate(messages) + toolTokens(tools) + int64(len(m.system()))/4
	if u.InputTokens+u.OutputTokens == 0 {
		if s.spoken {
			m.turn = toolloop.Sum(m.turn, trace.Usage{InputTokens: int64(float64(guess) * m.scale), OutputTokens: estimate([]toolloop.Message{s.said})})
		}
		return
	}
	if u.InputTokens > 0 && guess > 0 {
		m.scale = min(max(float64(u.InputTokens)/float64(guess), 0.3), 4)
	}
	if u.CostUSD == nil {
		u.CostUSD = m.Prices.cost(u)
	}
	u.Scope, u.Model = trace.UsageStep, m.Model
	u.ContextUsed, u.ContextSize = u.InputTokens+u.OutputTokens, m.ContextTokens
	m.turn = toolloop.Sum(m.turn, u)
	b.Emit(u)
}

// report puts the usage of the whole turn on record.
func (m *model) report(b *trace.Builder) {
	if m.turn.InputTokens+m.turn.OutputTokens == 0 {
		return
	}
	m.turn.Scope, m.turn.Model = trace.UsageTurn, m.Model
	b.Emit(m.turn)
}

func (p *Prices) cost(u trace.Usage) *float64 {
	if p == nil {
		return nil
	}
	cached := p.CachedInput
	if cached == 0 {
		cached = p.Input
	}
	usd := (float64(u.InputTokens-u.CacheReadTokens)*p.Input + float64(u.CacheReadTokens)*cached + float64(u.OutputTokens)*p.Output) / 1e6
	return &usd
}

// serverCost is the cost that some endpoints report themselves.
func serverCost(usage string) *float64 {
	var u struct {
		Cost *float64 `json:"cost"`
	}
	if json.Unmarshal([]byte(usage), &u) != nil {
		return nil
	}
	return u.Cost
}

// overBudget ends a turn that, or whose session, has used all that it may.
func (m *model) overBudget() error {
	all := toolloop.Sum(m.earlier, m.turn)
	for _, limit := range []struct {
		of, key string
		max     float64
		used    float64
		unit    string
	}{
		{"turn", "turn_tokens", float64(m.Budget.TurnTokens), tokens(m.turn), "%.0f tokens"},
		{"session", "session_tokens", float64(m.Budget.SessionTokens), tokens(all), "%.0f tokens"},
		{"turn", "turn_usd", m.Budget.TurnUSD, dollars(m.turn), "$%.4f"},
		{"session", "session_usd", m.Budget.SessionUSD, dollars(all), "$%.4f"},
	} {
		if limit.max <= 0 || limit.used < limit.max {
			continue
		}
		advice := "ask the agent to go on"
		if limit.of == "session" {
			advice = "begin a new session"
		}
		return &toolloop.Fault{Reason: "budget", Sentence: fmt.Sprintf("The %s has used "+limit.unit+" of a budget of "+limit.unit+": %s, or raise agents.%s.options.budget.%s.",
			limit.of, limit.used, limit.max, advice, m.name(), limit.key)}
	}
	return nil
}

func tokens(u trace.Usage) float64 { return float64(u.InputTokens + u.OutputTokens) }

func dollars(u trace.Usage) float64 {
	if u.CostUSD == nil {
		return 0
	}
	return *u.CostUSD
}

// fit leaves out the oldest turns, and then the oldest calls of the running turn, until
// the rest fits into the context. A call and its result are one message, so they go
// together.
func (m *model) fit(messages []toolloop.Message, tools []toolloop.Tool, b *trace.Builder) []toolloop.Message {
	if m.ContextTokens <= 0 {
		return messages
	}
	room := float64(m.ContextTokens)/m.scale - float64(toolTokens(tools)) - float64(len(m.system()))/4
	kept := messages
	for float64(estimate(kept)) > room {
		turn := lastPrompt(kept)
		switch next := nextPrompt(kept); {
		case turn > 0:
			kept = kept[next:]
		case len(kept) > 2: // the prompt stays, and what was called last
			kept = append([]toolloop.Message{kept[0]}, kept[2:]...)
		default:
			room = float64(estimate(kept))
		}
	}
	if dropped := len(messages) - len(kept); dropped > m.dropped {
		b.Emit(trace.Notice("context", fmt.Sprintf("The conversation is longer than %d tokens: the model no longer sees its %d oldest messages.", m.ContextTokens, dropped)))
		m.dropped = dropped
	}
	return kept
}

// nextPrompt is where the second turn begins.
func nextPrompt(messages []toolloop.Message) int {
	for i := 1; i < len(messages); i++ {
		if messages[i].Role == trace.RoleUser {
			return i
		}
	}
	return len(messages)
}

// estimate is about how many tokens messages have.
func estimate(messages []toolloop.Message) (n int64) {
	for _, x := range messages {
		n += 4 + int64(len(x.Text)+len(thoughts(x)))/4
		for _, p := range x.Parts {
			if f, text := formOf(p); f == formText {
				n += int64(len(text)) / 4
			} else {
				n += imageTokens
			}
		}
		for _, c := range x.Calls {
			n += 8 + int64(len(c.Input)+len(c.Answer()))/4
		}
	}
	return n
}

func toolTokens(tools []toolloop.Tool) (n int64) {
	for _, t := range tools {
		n += int64(len(t.Name)+len(t.Description)+len(t.Schema)) / 4
	}
	return n
}
