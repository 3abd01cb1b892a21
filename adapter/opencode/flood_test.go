package opencode_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/adapter/opencode"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/agent/remote"
)

// What OpenCode repeats without end is not kept, or counts with what its turn holds.
func TestFloods(t *testing.T) { //nolint:paralleltest // it measures the heap
	long := strings.Repeat("x", 10_000)
	out := func(kind, properties string) agent.Message {
		return agent.Message{Dir: agent.Out, Data: json.RawMessage(`{"type":"` + kind + `","properties":` + properties + `}`)}
	}
	prompt := agent.Message{Dir: agent.In, Data: json.RawMessage(`{"method":"POST","path":"/session/s/prompt_async","body":{"parts":[{"type":"text","text":"go"}]}}`)}
	message := func(id, more string) agent.Message {
		return out("message.updated", `{"sessionID":"s","info":{"id":"`+id+`","role":"assistant","sessionID":"s"`+more+`}}`)
	}
	begin := []agent.Message{
		prompt, message("m", ""),
		out("message.part.updated", `{"sessionID":"s","part":{"id":"p","messageID":"m","type":"tool","tool":"bash","callID":"c","state":{"status":"pending"}}}`),
	}
	floods := map[string]agenttest.Flood{
		"turns": {Again: func(n int) []agent.Message { // the messages of each are known for the life of the session
			all := []agent.Message{prompt}
			for i := range 10 {
				all = append(all, message(fmt.Sprintf("m%d-%d%s", n, i, long), `,"time":{"completed":1}`))
			}
			return append(all, out("session.idle", `{"sessionID":"s"}`))
		}},
		"histories": {Begin: []agent.Message{prompt, message("m", `,"time":{"completed":1}`), out("session.idle", `{"sessionID":"s"}`)}, Again: func(n int) []agent.Message {
			return []agent.Message{{Dir: agent.Out, Channel: remote.Answer, Data: json.RawMessage(fmt.Sprintf(`{"method":"GET","path":"/session/s/message","body":[{"info":{"id":"m%d%s"}}]}`, n, long))}}
		}},
	}
	for name, said := range map[string]agent.Message{
		"messages":                  message("m%d", `,"error":{"name":"X"}`),
		"ids of messages":           message("m%dX", ""),
		"errors of one message":     message("m", `,"error":{"name":"X%d"}`),
		"sub-agents":                out("session.created", `{"info":{"id":"s%dX","parentID":"s"}}`),
		"sub-agents of one call":    out("message.part.updated", `{"sessionID":"s","part":{"id":"p","messageID":"m","type":"tool","tool":"task","callID":"c","state":{"status":"running","input":{},"metadata":{"sessionId":"s%dX"}}}}`),
		"parts without a word":      out("message.part.updated", `{"sessionID":"s","part":{"id":"p%dX","messageID":"m","type":"text","text":""}}`),
		"parts from the future":     out("message.part.updated", `{"sessionID":"s","part":{"id":"p%d","messageID":"m","type":"X"}}`),
		"deltas of no part":         out("message.part.delta", `{"sessionID":"s","messageID":"m","partID":"p%d","field":"text","delta":"X"}`),
		"requests for a call":       out("permission.asked", `{"id":"r%d","sessionID":"s","permission":"bash","patterns":["X"],"tool":{"messageID":"m","callID":"c"}}`),
		"questions for a call":      out("question.asked", `{"id":"r%d","sessionID":"s","questions":[{"question":"X"}],"tool":{"messageID":"m","callID":"c"}}`),
		"changes of the repository": out("session.diff", `{"sessionID":"s","diff":[{"file":"f%d","patch":"X"}]}`),
		"prompts of others":         out("message.updated", `{"sessionID":"s","info":{"id":"m%dX","role":"user","sessionID":"s"}}`),
	} {
		again := func(n int) []agent.Message {
			m := said
			m.Data = json.RawMessage(strings.Replace(strings.Replace(string(m.Data), "%d", fmt.Sprint(n), 1), "X", long, 1))
			return []agent.Message{m}
		}
		floods[name] = agenttest.Flood{Begin: begin, Again: again}
	}
	floods["changes before the turn"] = agenttest.Flood{Begin: []agent.Message{prompt}, Again: floods["changes of the repository"].Again}
	agenttest.Floods(t, func() agent.Decoder { return opencode.NewDecoder(opencode.Options{}) }, floods)
}
