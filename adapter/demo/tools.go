package demo

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tributary-dev/tributary/trace"
)

// call is a pretended tool call.
type call struct {
	name  string
	title string
	kind  trace.ToolKind
	input string // JSON
	path  string
}

func readFile(path string) call {
	return call{
		name: "read_file", title: "Read " + path, kind: trace.ToolRead,
		input: string(raw(map[string]string{"path": path})), path: path,
	}
}

// inputPiece is how many bytes of input a delta has.
const inputPiece = 6

// write streams a call and returns its id.
func (s *stage) write(c call) (string, error) {
	id := s.id("call")
	s.b.ToolCallStart(trace.ToolCallStart{ToolCallID: id, RawName: c.name, ToolKind: c.kind, Title: c.title})
	for rest := c.input; rest != ""; {
		if err := s.rest(1); err != nil {
			return id, err
		}
		n := min(inputPiece, len(rest))
		s.b.ToolCallDelta(id, rest[:n])
		rest = rest[n:]
	}
	whole := trace.ToolCall{ToolCallID: id, RawName: c.name, ToolKind: c.kind, Title: c.title, Input: json.RawMessage(c.input)}
	if c.path != "" {
		whole.Locations = []trace.Location{{Path: c.path}}
	}
	s.b.ToolCall(whole)
	return id, nil
}

// complete pretends to work and gives a result.
func (s *stage) complete(id string, output any) error {
	if err := s.rest(10); err != nil {
		return err
	}
	s.b.ToolResult(trace.ToolResult{ToolCallID: id, Status: trace.ToolCompleted, Output: raw(output)})
	return nil
}

// returns is a call and its output.
func returns(c call, output any) beat {
	return func(s *stage) error {
		id, err := s.write(c)
		if err != nil {
			return err
		}
		return s.complete(id, output)
	}
}

// breaks is a call that fails.
func breaks(c call, why string) beat {
	return func(s *stage) error {
		id, err := s.write(c)
		if err != nil {
			return err
		}
		if err := s.rest(10); err != nil {
			return err
		}
		s.b.ToolResult(trace.ToolResult{ToolCallID: id, Status: trace.ToolFailed, Error: why})
		return nil
	}
}

func usesTool() beat {
	return seq(
		say("I will read the file."),
		returns(readFile("hello.txt"), "Hello from the demo.\n"),
		nextStep,
		say("The file says: Hello from the demo."),
	)
}

func failsTool() beat {
	return seq(
		say("I will read a file that does not exist."),
		breaks(readFile("missing.txt"), "missing.txt: no such file"),
		nextStep,
		say("That did not work, so I go on without the file."),
	)
}

// parallel asks for one file, then another, and gets the second first.
func parallel(s *stage) error {
	if err := say("I will read two files at once.")(s); err != nil {
		return err
	}
	one, err := s.write(readFile("one.txt"))
	if err != nil {
		return err
	}
	two, err := s.write(readFile("two.txt"))
	if err != nil {
		return err
	}
	if err := s.complete(two, "Two.\n"); err != nil {
		return err
	}
	if err := s.complete(one, "One.\n"); err != nil {
		return err
	}
	return seq(nextStep, say("The second file came first."))(s)
}

// subagent hands work to an agent of its own.
func subagent(s *stage) error {
	if err := say("I will hand this to a sub-agent.")(s); err != nil {
		return err
	}
	id, err := s.write(call{
		name: "task", title: "Look into the file", kind: trace.ToolOther,
		input: `{"description":"Look into the file","prompt":"What does hello.txt say?"}`,
	})
	if err != nil {
		return err
	}
	err = s.in(id, seq(
		reason("I am asked about a file, so I read it."),
		returns(readFile("hello.txt"), "Hello from the demo.\n"),
		say("It says hello."),
	))
	if err != nil {
		return err
	}
	return seq(
		func(s *stage) error { return s.complete(id, "It says hello.") },
		nextStep,
		say("My sub-agent found that the file says hello."),
	)(s)
}

// bigOutput is the size of the output of big in bytes.
const bigOutput = 200 << 10

// big, like all that is large, is written when it is played: the table is made
// for every prompt.
func big(s *stage) error {
	var text strings.Builder
	for n := 1; text.Len() < bigOutput; n++ {
		fmt.Fprintf(&text, "%06d the quick brown fox jumps over the lazy dog\n", n)
	}
	return seq(
		say("I will read a large file."),
		returns(readFile("large.txt"), text.String()[:bigOutput]),
		nextStep,
		say("That were 200 KB."),
	)(s)
}
