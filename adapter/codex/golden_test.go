package codex_test

import (
	"testing"

	"github.com/tributary-dev/tributary/adapter/codex"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/internal/replay/replaytest"
)

// recordings are those of real agents.
func recordings() replaytest.Recorded {
	return replaytest.Recorded{Dir: "../../testdata/codex", New: func() agent.Decoder { return codex.NewDecoder(codex.Options{}) }}
}

// recorded returns the recordings by name.
func recorded(t testing.TB) map[string][]byte {
	t.Helper()
	return recordings().All(t)
}

// play runs a recording through a new Decoder.
func play(t testing.TB, recording []byte) replaytest.Played {
	t.Helper()
	return recordings().Play(t, recording)
}

func TestGolden(t *testing.T) {
	t.Parallel()
	recordings().Golden(t)
}
