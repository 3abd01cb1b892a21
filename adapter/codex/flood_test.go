package codex_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/adapter/codex"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
)

// What Codex repeats without end is not kept, or counts with what its turn holds.
func TestFloods(t *testing.T) { //nolint:paralleltest // it measures the heap
	long := strings.Repeat("x", 10_000)
	message := func(dir agent.Dir, data string) agent.Message {
		return agent.Message{Dir: dir, Data: json.RawMessage(data)}
	}
	thread := message(agent.Out, `{"id":1,"result":{"thread":{"id":"T"},"model":"gpt-a"}}`)
	turn := []agent.Message{
		thread, message(agent.In, `{"id":2,"method":"turn/start","params":{"threadId":"T","input":[{"type":"text","text":"go"}]}}`),
		message(agent.Out, `{"method":"turn/started","params":{"threadId":"T","turn":{"id":"U"}}}`),
	}
	floods := map[string]agenttest.Flood{}
	for name, said := range map[string]string{
		"threads":              `{"method":"thread/started","params":{"thread":{"id":"S%d","parentThreadId":"T","model":"X"}}}`,
		"ids of threads":       `{"method":"thread/started","params":{"thread":{"id":"S%dX","parentThreadId":"T","model":"m"}}}`,
		"changes of models":    `{"method":"model/rerouted","params":{"threadId":"S%dX","toModel":"m"}}`,
		"threads of one call":  `{"method":"item/started","params":{"threadId":"T","turnId":"U","item":{"type":"collabAgentToolCall","id":"c","tool":"spawnAgent","receiverThreadIds":["S%dX"]}}}`,
		"patches of no call":   `{"method":"item/fileChange/patchUpdated","params":{"threadId":"T","turnId":"U","itemId":"c%d","changes":[{"path":"a","diff":"X","kind":{"type":"add"}}]}}`,
		"texts without a word": `{"method":"item/started","params":{"threadId":"T","turnId":"U","item":{"type":"agentMessage","id":"m%dX"}}}`,
	} {
		again := func(n int) []agent.Message {
			return []agent.Message{message(agent.Out, strings.Replace(fmt.Sprintf(said, n), "X", long, 1))}
		}
		floods[name] = agenttest.Flood{Begin: turn, Again: again}
		floods["idle: "+name] = agenttest.Flood{Begin: []agent.Message{thread}, Again: again}
	}
	agenttest.Floods(t, func() agent.Decoder { return codex.NewDecoder(codex.Options{}) }, floods)
}
