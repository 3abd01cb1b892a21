package openai

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/tributary-dev/tributary/agent/toolloop"
	"github.com/tributary-dev/tributary/trace"
)

// imageTokens is what an image or a file counts in an estimate.
const imageTokens = 1000

// count puts the usage of a model call on record. An endpoint that reports none is
// counted by estimate, for the budget only.
func (m *model) count(messages []toolloop.Message, tools []toolloop.Tool, a *answer, b *trace.Builder) {
	u, guess := a.usage, estimate(messages)+m.overhead(tools)
	if tokens(u) == 0 {
		if a.spoken {
			m.turn = m.turn.Plus(trace.Usage{InputTokens: int64(float64(guess) * m.scale), OutputTokens: estimate([]toolloop.Message{a.said})})
		}
		return
	}
	if u.InputTokens > 0 && guess > 0 {
		m.scale = min(max(float64(u.InputTokens)/float64(guess), 0.3), 4)
	}
	if u.CostUSD == nil && m.Prices != nil {
		u.CostUSD = m.Prices.cost(u)
	}
	u.Scope, u.Model = trace.UsageStep, m.Model
	u.ContextUsed, u.ContextSize = tokens(u), m.ContextTokens
	m.turn = m.turn.Plus(u)
	b.Emit(u)
}

// report puts the usage of the whole turn on record.
func (m *model) report(b *trace.Builder) {
	if tokens(m.turn) > 0 {
		m.turn.Scope, m.turn.Model = trace.UsageTurn, m.Model
		b.Emit(m.turn)
	}
}

func (p Prices) cost(u trace.Usage) *float64 {
	cached := cmp.Or(p.CachedInput, p.Input)
	usd := (float64(u.InputTokens-u.CacheReadTokens)*p.Input + float64(u.CacheReadTokens)*cached + float64(u.OutputTokens)*p.Output) / 1e6
	return &usd
}

// overBudget ends a turn that, or whose session, has used all that it may.
func (m *model) overBudget() error {
	const goOn, fresh = "ask the agent to go on", "begin a new session"
	all := m.earlier.Plus(m.turn)
	for _, limit := range []struct {
		max, used               float64
		unit, of, key, sayToUse string
	}{
		{float64(m.Budget.TurnTokens), float64(tokens(m.turn)), "%.0f tokens", "turn", "turn_tokens", goOn},
		{float64(m.Budget.SessionTokens), float64(tokens(all)), "%.0f tokens", "session", "session_tokens", fresh},
		{m.Budget.TurnUSD, dollars(m.turn), "$%.4f", "turn", "turn_usd", goOn},
		{m.Budget.SessionUSD, dollars(all), "$%.4f", "session", "session_usd", fresh},
	} {
		if limit.max > 0 && limit.used >= limit.max {
			return &toolloop.Fault{Reason: "budget", Class: trace.ClassLimit, Sentence: fmt.Sprintf("The %s has used "+limit.unit+" of a budget of "+limit.unit+": %s, or raise agents.%s.options.budget.%s.",
				limit.of, limit.used, limit.max, limit.sayToUse, m.name(), limit.key)}
		}
	}
	return nil
}

func tokens(u trace.Usage) int64 { return u.InputTokens + u.OutputTokens }

func dollars(u trace.Usage) float64 {
	if u.CostUSD == nil {
		return 0
	}
	return *u.CostUSD
}

// fit shortens a conversation until it fits into the context.
func (m *model) fit(messages []toolloop.Message, tools []toolloop.Tool, b *trace.Builder) []toolloop.Message {
	if m.ContextTokens <= 0 {
		return messages
	}
	room := m.room(tools)
	kept := messages
	for estimate(kept) > room {
		shorter := withoutOldest(kept)
		if len(shorter) == len(kept) {
			break
		}
		kept = shorter
	}
	if dropped := len(messages) - len(kept); dropped > m.dropped {
		b.Emit(trace.Notice("context", fmt.Sprintf("The conversation is longer than %d tokens: the model no longer sees its %d oldest messages.", m.ContextTokens, dropped)))
		m.dropped = dropped
	}
	return kept
}

// room is how many estimated tokens a conversation may have.
func (m *model) room(tools []toolloop.Tool) int64 {
	return int64(float64(m.ContextTokens)/m.scale) - m.overhead(tools)
}

// withoutOldest leaves out the oldest turn. If the running turn alone is left, its oldest
// calls go, together with their results; the prompt stays, and the latest calls.
func withoutOldest(messages []toolloop.Message) []toolloop.Message {
	next := slices.IndexFunc(messages[1:], isPrompt)
	switch {
	case next >= 0:
		return messages[next+1:]
	case len(messages) > 2:
		return slices.Delete(slices.Clone(messages), 1, 2)
	default:
		return messages
	}
}

func isPrompt(x toolloop.Message) bool { return x.Role == trace.RoleUser }

// overhead is about how many tokens each model call has beside the conversation.
func (m *model) overhead(tools []toolloop.Tool) int64 {
	size := len(m.system())
	for _, t := range tools {
		size += len(t.Name) + len(t.Description) + len(t.Schema)
	}
	return int64(size) / 4
}

// estimate is about how many tokens messages have.
func estimate(messages []toolloop.Message) (n int64) {
	for _, x := range messages {
		size := 16 + len(x.Text) + len(thoughts(x))
		for _, c := range x.Calls {
			size += 32 + len(c.Input) + len(c.Answer())
		}
		for _, p := range x.Parts {
			f, text := formOf(p)
			if f != formText {
				n += imageTokens
			}
			size += len(text)
		}
		n += int64(size) / 4
	}
	return n
}
