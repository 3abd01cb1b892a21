package trace

import "encoding/json"

// counted reports whether the usage counts tokens, and is not only a meter of the
// context or a price.
func (u Usage) counted() bool {
	return u.InputTokens != 0 || u.OutputTokens != 0 || u.CacheReadTokens != 0 || u.CacheWriteTokens != 0 || u.ReasoningTokens != 0
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
