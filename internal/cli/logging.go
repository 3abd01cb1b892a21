package cli

import (
	"io"
	"log/slog"
	"slices"

	"github.com/tributary-dev/tributary/config"
)

// newLogger logs as text for a person at a terminal, and as JSON otherwise.
func newLogger(to io.Writer, level slog.Level) *slog.Logger {
	o := &slog.HandlerOptions{Level: level}
	if isTerminal(to) {
		return slog.New(slog.NewTextHandler(to, o))
	}
	return slog.New(slog.NewJSONHandler(to, o))
}

func checkLevel(level string) error {
	if level != "" && !slices.Contains(config.LogLevels(), level) {
		return usage("--log-level %s is no level: use debug, info, warn or error", level)
	}
	return nil
}
