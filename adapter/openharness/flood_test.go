package openharness_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/adapter/openharness"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
)

// Ids and names that a server of Open Harness repeats without end count with what its turn holds.
func TestFloods(t *testing.T) { //nolint:paralleltest // it measures the heap
	long := strings.Repeat("x", 10_000)
	floods := map[string]agenttest.Flood{}
	for name, f := range map[string][2]string{
		"events of the log":             {`{"id":"e","name":"workflow:started","payload":{"workflow":"w"}}`, `{"id":"e%dX","name":"future:event","payload":{}}`},
		"agents of the log":             {`{"id":"e","name":"workflow:started","payload":{"workflow":"w"}}`, `{"id":"","name":"text:delta","payload":{"agent":"a%dX","delta":""}}`},
		"answers that no one asked for": {`{"id":"e","name":"workflow:started","payload":{"workflow":"w"}}`, `{"id":"","name":"input:received","payload":{"id":"q%dX","value":"a"}}`},
		"runs of the kernel":            {on("flow:start", ""), `{"type":"agent:text:delta","timestamp":1,"nodeId":"n","runId":"r%dX","content":""}`},
		"models of many runs":           {on("flow:start", ""), `{"type":"agent:start","timestamp":1,"nodeId":"n","runId":"r%r","model":"m%dX"}`},
		"errors of the kernel":          {on("flow:start", ""), `{"type":"agent:error","timestamp":1,"nodeId":"n","runId":"r","message":"m%dX"}`},
		"chunks":                        {`{"type":"start"}`, `{"type":"text-delta","id":"t%dX","delta":""}`},
	} {
		out := func(data string) []agent.Message {
			return []agent.Message{{Dir: agent.Out, Data: json.RawMessage(data)}}
		}
		floods[name] = agenttest.Flood{Begin: out(f[0]), Again: func(n int) []agent.Message {
			return out(strings.NewReplacer("%d", fmt.Sprint(n), "%r", fmt.Sprint(n%2000), "X", long).Replace(f[1]))
		}}
	}
	agenttest.Floods(t, func() agent.Decoder { return openharness.NewDecoder() }, floods)
}
