package demo

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
)

// What the memory holds at most, so that a token stays below some kilobytes.
const (
	maxPrompts = 20
	maxRunes   = 200
)

const tokenPrefix = "demo1."

// memory is what the demo knows of its session. It is a value: with and the
// token never share a slice that somebody writes to.
type memory struct {
	turns   int // all turns so far; ids are numbered by it
	prompts []string
}

// storedMemory is the token's JSON.
type storedMemory struct {
	Turns   int      `json:"turns"`
	Prompts []string `json:"prompts"`
}

// with adds a prompt and forgets the oldest.
func (m memory) with(prompt string) memory {
	prompts := append(append([]string{}, m.prompts...), shorten(prompt))
	return memory{turns: m.turns + 1, prompts: prompts[max(0, len(prompts)-maxPrompts):]}
}

func shorten(prompt string) string {
	runes := []rune(strings.ToValidUTF8(prompt, "\uFFFD"))
	if len(runes) <= maxRunes {
		return string(runes)
	}
	return string(runes[:maxRunes-1]) + "…"
}

func (m memory) token() string {
	raw, err := json.Marshal(storedMemory{Turns: m.turns, Prompts: m.prompts})
	if err != nil { // numbers and strings always encode
		return ""
	}
	return tokenPrefix + base64.RawURLEncoding.EncodeToString(raw)
}

// parseToken reads a token; none is an empty memory.
func parseToken(token string) (memory, error) {
	if token == "" {
		return memory{}, nil
	}
	encoded, ok := strings.CutPrefix(token, tokenPrefix)
	if !ok {
		return memory{}, fmt.Errorf("the resume token is not one of the demo's: start a new session")
	}
	raw, err := base64.RawURLEncoding.DecodeString(encoded)
	if err != nil {
		return memory{}, fmt.Errorf("the demo's resume token is damaged, start a new session: %w", err)
	}
	var s storedMemory
	if err := json.Unmarshal(raw, &s); err != nil {
		return memory{}, fmt.Errorf("the demo's resume token is damaged, start a new session: %w", err)
	}
	m := memory{turns: max(0, s.Turns)}
	for _, p := range s.Prompts[max(0, len(s.Prompts)-maxPrompts):] {
		m.prompts = append(m.prompts, shorten(p))
	}
	return m, nil
}
