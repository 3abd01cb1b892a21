package langgraph_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/adapter/langgraph"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
)

// What a graph says where the user sees nothing counts with what its turn holds, if it is kept.
func TestFloods(t *testing.T) { //nolint:paralleltest // it measures the heap
	long := strings.Repeat("x", 10_000)
	frame := func(mode, data string) agent.Message {
		return agent.Message{Dir: agent.Out, Channel: mode, Data: json.RawMessage(data)}
	}
	const secret = `{"langgraph_node":"secret"}`
	hidden := func(fields string) agent.Message {
		return frame("messages", `[{"type":"AIMessageChunk","content":"","tool_call_chunks":[],`+fields+`},`+secret+`]`)
	}
	began := []agent.Message{frame("metadata", `{"run_id":"r"}`), frame("values", `{"messages":[]}`)}
	spoke := append(began[:2:2], hidden(`"id":"m","tool_call_chunks":[{"index":0,"id":"c","name":"look","args":""}]`))
	type flood struct {
		begin []agent.Message
		again agent.Message
	}
	floods := map[string]agenttest.Flood{}
	for name, f := range map[string]flood{
		"hidden text":                {spoke, frame("messages", `[{"type":"AIMessageChunk","id":"m","content":"%dX","tool_call_chunks":[]},`+secret+`]`)},
		"hidden thoughts":            {spoke, frame("messages", `[{"type":"AIMessageChunk","id":"m","content":[{"type":"thinking","thinking":"%dX"}],"tool_call_chunks":[]},`+secret+`]`)},
		"hidden messages":            {began, hidden(`"id":"m%dX"`)},
		"hidden messages without id": {began, frame("messages", `[{"type":"ai","content":"%dX"},`+secret+`]`)},
		"tags of hidden messages":    {began, frame("messages", `[{"type":"AIMessageChunk","id":"m%d","content":"","tool_call_chunks":[]},{"langgraph_node":"secret","tags":["X"]}]`)},
		"hidden speakers":            {began, frame("messages", `[{"type":"AIMessageChunk","id":"m%d","content":"","tool_call_chunks":[]},{"langgraph_node":"secret","participant":"X"}]`)},
		"nodes that are hidden":      {began, frame("messages", `[{"type":"AIMessageChunk","id":"m%d","content":"","tool_call_chunks":[]},{"langgraph_node":"n%dX","tags":["langsmith:hidden"]}]`)},
		"hidden calls":               {spoke, hidden(`"id":"m","tool_call_chunks":[{"index":%d,"id":"c%dX","name":"look","args":""}]`)},
		"places of a hidden call":    {spoke, hidden(`"id":"m","name":"X","tool_call_chunks":[{"index":%d,"id":"c","name":"look","args":""}]`)},
		"inputs of hidden calls":     {spoke, frame("messages", `[{"type":"ai","id":"m%d","content":"","tool_calls":[{"id":"c%d","name":"look","args":{"a":"X"}}]},`+secret+`]`)},
		"a hidden input":             {spoke, hidden(`"id":"m","tool_call_chunks":[{"index":0,"args":"%dX"}]`)},
		"results of no call":         {began, frame("messages", `[{"type":"tool","tool_call_id":"c%dX","content":"a"},`+secret+`]`)},
		"metadata":                   {began, frame("messages/metadata", `{"m%d":{"metadata":{"langgraph_node":"X"}}}`)},
		"people":                     {began, frame("messages/complete", `[{"type":"human","id":"m%dX","content":"a"}]`)},
		"a history":                  {began, frame("tasks", `{"name":"n","input":{"messages":[{"type":"ai","id":"m%dX","content":""}]},"result":[],"interrupts":[]}`)},
		"calls of a history":         {began, frame("tasks", `{"name":"n","input":{"messages":[{"type":"ai","id":"m","content":"","tool_calls":[{"id":"c%d","name":"look","args":{"a":"X"}}]}]},"result":[],"interrupts":[]}`)},
		"interrupts of tools":        {spoke, frame("tools", `{"event":"on_tool_error","toolCallId":"c","error":{"interrupts":[{"id":"i%dX","value":1}]}}`)},
		"runs of hidden tools":       {began, frame("events", `{"event":"on_tool_start","name":"look","run_id":"r%dX","data":{"input":{}},"metadata":`+secret+`}`)},
		"messages with other ids":    {began, frame("messages", `[{"type":"ai","id":"m%dX","content":"a"},`+secret+`]`)},
		"results of a hidden call":   {spoke, frame("messages", `[{"type":"tool","tool_call_id":"c","content":"%dX"},`+secret+`]`)},
		"progress of a hidden call":  {spoke, frame("tools", `{"event":"on_tool_event","toolCallId":"c","data":"%dX"}`)},
		"words of a hidden speaker":  {began, frame("events", `{"event":"on_chat_model_stream","name":"m","run_id":"r","data":{"chunk":"%dX"},"metadata":`+secret+`}`)},
		"models that nobody sees":    {began, frame("events", `{"event":"on_chat_model_end","name":"m","run_id":"r%dX","data":{"output":{"type":"ai","content":"a"}},"metadata":`+secret+`}`)},
		"sources of hidden messages": {began, frame("messages", `[{"type":"ai","id":"m%d","content":[{"type":"text","text":"a","annotations":[{"url":"https://a.example/X"}]}]},`+secret+`]`)},
	} {
		floods[name] = agenttest.Flood{Begin: f.begin, Again: func(n int) []agent.Message {
			return []agent.Message{frame(f.again.Channel, strings.NewReplacer("%d", fmt.Sprint(n), "X", long).Replace(string(f.again.Data)))}
		}}
	}
	agenttest.Floods(t, func() agent.Decoder { return langgraph.NewDecoder(langgraph.Options{Hide: []string{"secret"}}) }, floods)
}
