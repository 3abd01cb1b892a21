package codex_test

import (
	"testing"

	"github.com/tributary-dev/tributary/adapter/codex"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/internal/testkit/replay/replaytest"
)

// recordings are those of real agents.
func recordings() replaytest.Recorded {
	return replaytest.Recorded{Dir: "../../test/recordings/codex", New: func() agent.Decoder { return codex.NewDecoder(codex.Options{}) }}
}

func TestGolden(t *testing.T) {
	t.Parallel()
	recordings().Golden(t)
}
