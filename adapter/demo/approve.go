package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/trace"
)

// command is a call of the shell that needs permission.
type command struct {
	text     string
	callID   string
	asks     string // the id of the request
	approval agentkit.Approval
}

// shell writes the call of a command.
func (s *stage) shell(text string) command {
	callID := s.call(trace.ToolCall{
		RawName: "shell", Title: "Run " + text, ToolKind: trace.ToolExecute, Input: agentkit.Encode(map[string]string{"command": text}),
	})
	return command{text: text, callID: callID, asks: s.id("approval")}
}

// request asks for the permission of a command.
func (s *stage) request(c command) command {
	if s.err == nil {
		r := trace.PermissionRequest{RequestID: c.asks, ToolCallID: c.callID, Title: "Run " + c.text}
		c.approval = agentkit.Approve(s.b, trace.PermissionCheck{Request: r})[0]
	}
	return c
}

// run waits for the answers to requests side by side, as long as ctx lasts, and says what
// became of the commands. Each command runs as soon as it may. An answer that ends the
// turn ends the wait for the others.
func (s *stage) run(ctx context.Context, all ...command) (says string) {
	if s.err != nil {
		return ""
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	sentences, errs := make([]string, len(all)), make(chan error, len(all))
	var group sync.WaitGroup
	for i, c := range all {
		part := *s
		group.Go(func() {
			if sentences[i] = part.runOne(ctx, c); part.err != nil {
				errs <- part.err
				cancel()
			}
		})
	}
	group.Wait()
	select {
	case s.err = <-errs:
	default:
	}
	return strings.Join(sentences, "\n\n")
}

func (s *stage) runOne(ctx context.Context, c command) (says string) {
	answer, err := c.approval.Wait(ctx, s.host)
	text, ok := edited(answer, c.text)
	switch {
	case err != nil:
		s.err = fmt.Errorf("the permission request could not be answered: %w", err)
		return ""
	case s.ctx.Err() != nil:
		s.err = s.ctx.Err()
		return ""
	case !answer.Allowed():
		why := agentkit.Refusal(answer)
		s.b.ToolResult(trace.ToolResult{ToolCallID: c.callID, Status: trace.ToolDenied, Error: why})
		if answer.Interrupt {
			s.err = agentkit.ErrInterrupted
		}
		return "I did not run the command: " + why + "."
	case !ok:
		s.b.ToolResult(trace.ToolResult{ToolCallID: c.callID, Status: trace.ToolFailed, Error: "The edited input has no command."})
		return "I could not run that: the edited input has no command."
	}
	s.complete(c.callID, map[string]any{"stdout": strings.TrimPrefix(text, "echo ") + "\n", "exit_code": 0})
	if answer.OptionKind == trace.AllowAlways {
		return "I am always allowed to run it (being a demo, I ask again): " + text
	}
	return "I was allowed to run it: " + text
}

// edited returns the command to run: the person who allowed it may have changed it.
func edited(answer trace.PermissionResponse, text string) (command string, ok bool) {
	if len(answer.UpdatedInput) == 0 {
		return text, true
	}
	var input struct {
		Command string `json:"command"`
	}
	err := json.Unmarshal(answer.UpdatedInput, &input)
	return input.Command, err == nil && input.Command != ""
}

func approve(s *stage) {
	s.say("I would like to run a command.")
	s.next(s.run(s.ctx, s.request(s.shell("echo hello"))))
}

func twice(s *stage) {
	s.say("I would like to run a command.")
	s.next(s.run(s.ctx, s.request(s.shell("echo one"))))
	s.say("\n\nAnd another one.")
	s.next(s.run(s.ctx, s.request(s.shell("echo two"))))
}

func both(s *stage) {
	s.say("I would like to run two commands at once.")
	one, two := s.shell("echo one"), s.shell("echo two")
	one, two = s.request(one), s.request(two)
	s.next(s.run(s.ctx, one, two))
}

func beside(s *stage) {
	file, c := readAndAsk(s)
	says := s.run(s.ctx, c)
	s.complete(file, greeting)
	s.next(says)
}

func meanwhile(s *stage) {
	file, c := readAndAsk(s)
	s.complete(file, greeting)
	s.next(s.run(s.ctx, c))
}

// readAndAsk begins to read a file and asks for a command.
func readAndAsk(s *stage) (file string, c command) {
	s.say("I will read a file, and would like to run a command.")
	file = s.read("hello.txt")
	return file, s.request(s.shell("echo hello"))
}

// withdraw waits for 100 paces.
func withdraw(s *stage) {
	s.say("I would like to run a command, but I am in a hurry.")
	c := s.request(s.shell("echo hello"))
	ctx, cancel := context.WithTimeout(s.ctx, 100*max(s.pace, time.Microsecond))
	defer cancel()
	s.next(s.run(ctx, c))
}
