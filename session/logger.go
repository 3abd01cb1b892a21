package session

import (
	"log/slog"
	"strings"

	"github.com/tributary-dev/tributary/agent"
)

// This file makes the logger of a turn.

// loggerOf logs what concerns a turn: each line tells the session, the turn, the agent
// and who asked, and the trace of the request that began it. Nothing that was said in
// the turn is logged, and no error of the agent's, for it may repeat what was said.
func (l *activeSession) loggerOf(turn, by string, c agent.Caller) *slog.Logger {
	logger := l.hub.Logger.With("session", l.id, "turn", turn, "agent", l.info.Agent, "by", by)
	if id := c.TraceID(); id != "" {
		logger = logger.With("trace_id", id)
	}
	return logger
}

// word is an agent's word for why a turn ended, if it is one: what it says instead
// may be anything, and is not logged.
func word(reason string) string {
	const longest = 40
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' || r == '.'
	}
	if len(reason) > longest || strings.ContainsFunc(reason, func(r rune) bool { return !plain(r) }) {
		return "other"
	}
	return reason
}
