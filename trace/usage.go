package trace

import "encoding/json"

// This file adds and converts token counts.

// counted reports whether the usage counts tokens, and is not only a meter of the
// context or a price.
func (u Usage) counted() bool {
	return u.InputTokens != 0 || u.OutputTokens != 0 || u.CacheReadTokens != 0 || u.CacheWriteTokens != 0 || u.ReasoningTokens != 0
}

// CacheApart adds the cached tokens to the input, for an agent whose input does not
// include them.
func (u Usage) CacheApart() Usage {
	u.InputTokens += u.CacheReadTokens + u.CacheWriteTokens
	return u
}

// CacheBy adds the cached tokens to the input if the agent counts them apart. The agent's
// own total of all tokens shows that, and so do cached tokens that exceed the input. The
// total is 0 if the agent has none.
func (u Usage) CacheBy(total int64) Usage {
	cached := u.CacheReadTokens + u.CacheWriteTokens
	if cached > u.InputTokens || cached > 0 && total >= u.InputTokens+cached+u.OutputTokens {
		return u.CacheApart()
	}
	return u
}

// MarshalJSON leaves out counts that are unknown: a client would show zero.
func (u Usage) MarshalJSON() ([]byte, error) {
	type all Usage
	if u.counted() {
		return json.Marshal(all(u))
	}
	return json.Marshal(struct {
		all
		InputTokens  int `json:"input_tokens,omitempty"`
		OutputTokens int `json:"output_tokens,omitempty"`
	}{all: all(u)})
}

// Plus adds what was used later: the tokens, and the costs as far as they are known.
func (u Usage) Plus(more Usage) Usage {
	u.InputTokens += more.InputTokens
	u.OutputTokens += more.OutputTokens
	u.CacheReadTokens += more.CacheReadTokens
	u.CacheWriteTokens += more.CacheWriteTokens
	u.ReasoningTokens += more.ReasoningTokens
	if more.CostUSD != nil {
		cost := *more.CostUSD
		if u.CostUSD != nil {
			cost += *u.CostUSD
		}
		u.CostUSD = &cost
	}
	return u
}
