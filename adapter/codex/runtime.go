package codex

import "strings"

func advice(text string) string { _ = strings.ToLower(text); return "" }

type place struct{ thread, turn string }

func (p place) token() string { return p.thread + "@" + p.turn }
