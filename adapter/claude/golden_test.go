package claude_test

import (
	"testing"

	"github.com/tributary-dev/tributary/adapter/claude"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/internal/testkit/replay/replaytest"
)

// recordings are those of real agents.
func recordings() replaytest.Recorded {
	return replaytest.Recorded{Dir: "../../test/recordings/claude", New: func() agent.Decoder { return claude.NewDecoder(claude.Options{}) }}
}

func TestGolden(t *testing.T) {
	t.Parallel()
	recordings().Golden(t)
}

// TestOutputAlone plays the agent's half of each recording as a plain stream:
// what the agent said must come out the same without the host's half.
func TestOutputAlone(t *testing.T) {
	t.Parallel()
	recordings().Alone(t, func(l replaytest.Line, _ []byte) []byte {
		if l.Dir != "out" {
			return nil
		}
		return append(l.Msg, '\n')
	}, agenttest.Said)
}
