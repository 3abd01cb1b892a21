package demo

import (
	"fmt"
	"strings"

	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/policy/toolkind"
	"github.com/tributary-dev/tributary/trace"
)

// call writes the input of a tool call in pieces of six bytes, and then the whole call.
// The tool does not exist.
func (s *stage) call(c trace.ToolCall) (id string) {
	c.ToolCallID = s.id("call")
	if s.err != nil {
		return c.ToolCallID
	}
	s.b.ToolCallStart(trace.ToolCallStart{ToolCallID: c.ToolCallID, RawName: c.RawName, ToolKind: c.ToolKind, Title: c.Title})
	for input := string(c.Input); input != ""; {
		if !s.waitPaces(1) {
			return c.ToolCallID
		}
		n := min(6, len(input))
		s.b.ToolCallDelta(c.ToolCallID, input[:n])
		input = input[n:]
	}
	s.b.ToolCall(c)
	return c.ToolCallID
}

// result ends a call after some paces.
func (s *stage) result(r trace.ToolResult) {
	if s.waitPaces(10) {
		s.b.ToolResult(r)
	}
}

func (s *stage) complete(callID string, output any) {
	s.result(trace.ToolResult{ToolCallID: callID, Status: trace.ToolCompleted, Output: agentkit.Encode(output)})
}

// use writes a call that the table of the demo's tools describes.
func (s *stage) use(tool string, input any) (callID string) {
	return s.call(toolkind.Demo().Call("", tool, agentkit.Encode(input)))
}

// fails ends a call that failed.
func (s *stage) fails(callID, sentence string) {
	s.result(trace.ToolResult{ToolCallID: callID, Status: trace.ToolFailed, Error: sentence})
}

// read writes a call that reads a file.
func (s *stage) read(path string) (callID string) {
	return s.call(trace.ToolCall{
		RawName: "read_file", Title: "Read " + path, ToolKind: trace.ToolRead,
		Input: agentkit.Encode(map[string]string{"path": path}), Locations: []trace.Location{{Path: path}},
	})
}

// greeting is the text of hello.txt.
const greeting = "Hello from the demo.\n"

func tool(s *stage) {
	s.say("I will read the file.")
	s.complete(s.read("hello.txt"), greeting)
	s.next("The file says: Hello from the demo.")
}

func fail(s *stage) {
	s.say("I will read a file that does not exist.")
	s.fails(s.read("missing.txt"), "missing.txt: no such file")
	s.next("That did not work, so I go on without the file.")
}

func parallel(s *stage) {
	s.say("I will read two files at once.")
	one, two := s.read("one.txt"), s.read("two.txt")
	s.complete(two, "Two.\n")
	s.complete(one, "One.\n")
	s.next("The second file came first.")
}

func subagent(s *stage) {
	s.say("I will hand this to a sub-agent.")
	task := s.call(trace.ToolCall{
		RawName: "task", Title: "Look into the file", ToolKind: trace.ToolOther,
		Input: agentkit.Encode(map[string]string{"description": "Look into the file", "prompt": "What does hello.txt say?"}),
	})
	s.under(task, func() {
		s.reason("I am asked about a file, so I read it.")
		s.complete(s.read("hello.txt"), greeting)
		s.say("It says hello.")
	})
	s.complete(task, "It says hello.")
	s.next("My sub-agent found that the file says hello.")
}

func big(s *stage) {
	s.say("I will read a large file.")
	s.complete(s.read("large.txt"), foxes(200<<10))
	s.next("That were 200 KB.")
}

func huge(s *stage) {
	size := min(times(s.prompt, 5), 30)
	s.say("I will read a huge file.")
	s.complete(s.read("huge.txt"), foxes(size<<20))
	s.next(fmt.Sprintf("That were %d MB.", size))
}

// foxes is a text of a size, in numbered lines.
func foxes(size int) string {
	var text strings.Builder
	for n := 1; text.Len() < size; n++ {
		fmt.Fprintf(&text, "%06d the quick brown fox jumps over the lazy dog\n", n)
	}
	return text.String()[:size]
}
