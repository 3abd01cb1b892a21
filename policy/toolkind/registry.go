package toolkind

import (
	"maps"
	"slices"
)

// registry has one table for each adapter and preset. No other place maps names of
// tools to kinds.
//
//nolint:gochecknoglobals // read only
var registry = map[string]func() Table{
	"acp":          func() Table { return Table{} },
	"agentops":     OpenCode,
	"claude":       Claude,
	"claude-acp":   Claude,
	"cline":        Cline,
	"codex":        Codex,
	"codex-acp":    Codex,
	"copilot":      Copilot,
	"cursor":       Cursor,
	"demo":         Demo,
	"gemini":       Gemini,
	"goose":        Goose,
	"kilo":         Kilo,
	"kimi":         Kimi,
	"mistral-vibe": Vibe,
	"openai":       OpenAI,
	"opencode":     OpenCode,
	"opencode-acp": OpenCode,
	"openharness":  OpenHarness,
	"pi":           Pi,
	"qwen":         Qwen,
	"runner":       OpenCode,
}

// For returns the table of an adapter or of a preset by its name. An agent that
// says itself what its tools do may have an empty table.
func For(adapter string) (Table, bool) {
	table, ok := registry[adapter]
	if !ok {
		return Table{}, false
	}
	return table(), true
}

// Adapters lists the names that For knows, sorted.
func Adapters() []string { return slices.Sorted(maps.Keys(registry)) }

// merged puts tables together; a later table wins.
func merged(tables ...Table) Table {
	all := map[string]rule{}
	for _, t := range tables {
		maps.Copy(all, t.rules)
	}
	return Table{rules: all}
}
