package scriptedmodel

// created is the moment at which every answer was made, so that two runs agree.
const created = 1767225600 // 2026-01-01

// newTokens is how much of a prompt was never cached.
const newTokens = 100

// cachedTokens grows with the conversation, so that no two steps cost the same.
func (s *stage) cachedTokens() int { return 20 * max(len(s.asked.Turns)-1, 0) }
