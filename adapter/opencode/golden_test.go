package opencode_test

import (
	"slices"
	"testing"

	"github.com/tributary-dev/tributary/adapter/opencode"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/internal/testkit/replay"
	"github.com/tributary-dev/tributary/internal/testkit/replay/replaytest"
	"github.com/tributary-dev/tributary/trace"
)

// recordings are those of real agents.
func recordings() replaytest.Recorded {
	return replaytest.Recorded{Dir: "../../test/recordings/opencode", New: func() agent.Decoder { return opencode.NewDecoder(opencode.Options{}) }}
}

func TestGolden(t *testing.T) {
	t.Parallel()
	recordings().Golden(t)
}

func TestEachTurnOfARecordingEndsByTheAgentsWord(t *testing.T) {
	t.Parallel()
	for name, recording := range recordings().All(t) {
		for i, records := range recordings().Play(t, recording).Turns {
			stops := agenttest.Each[trace.Stop](replaytest.Events(records))
			if len(stops) != 1 || stops[0].Reason == replay.Ended {
				t.Errorf("%s: turn %d ends with %+v", name, i+1, stops)
			}
		}
	}
}

// TestTheStreamAlone plays the event stream of each recording without the requests: the
// agent says the same.
func TestTheStreamAlone(t *testing.T) {
	t.Parallel()
	recordings().Alone(t, func(l replaytest.Line, _ []byte) []byte {
		if l.Dir != "sse" {
			return nil
		}
		return slices.Concat([]byte("data: "), l.Msg, []byte("\n\n"))
	}, agenttest.Said, "plain-sync") // the answer to the prompt holds the rest
}
