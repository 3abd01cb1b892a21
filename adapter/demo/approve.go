package demo

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"time"

	"github.com/tributary-dev/tributary/trace"
)

func approves() beat {
	return seq(say("I would like to run a command."), runs("echo hello"))
}

// runs asks before it pretends to run a command, and says what became of it.
func runs(text string) beat {
	return func(s *stage) error {
		c, err := s.command(text)
		if err != nil {
			return err
		}
		c.ask(s)
		said, err := c.run(s.ctx, s)
		if err != nil {
			return err
		}
		return seq(nextStep, say(said))(s)
	}
}

// command is a call of the shell that needs permission.
type command struct {
	text    string
	call    string // the id
	request string
	decided bool // by the policy
	answer  trace.PermissionResponse
}

// command writes the call.
func (s *stage) command(text string) (*command, error) {
	id, err := s.write(call{
		name: "shell", title: "Run " + text, kind: trace.ToolExecute,
		input: string(raw(map[string]string{"command": text})),
	})
	return &command{text: text, call: id, request: s.id("approval")}, err
}

// ask puts the request on record; it does not wait for the answer.
func (c *command) ask(s *stage) {
	c.request, c.answer, c.decided = s.b.PermissionRequest(trace.PermissionRequest{
		RequestID: c.request, ToolCallID: c.call, Title: "Run " + c.text,
		Options: []trace.PermissionOption{
			{ID: "allow", Name: "Allow", OptionKind: trace.AllowOnce},
			{ID: "always", Name: "Always allow", OptionKind: trace.AllowAlways},
			{ID: "deny", Name: "Deny", OptionKind: trace.RejectOnce},
		},
	}, trace.ToolCall{})
}

// run waits for the answer as long as ctx lasts, ends the call as it says, and
// returns what is to be said of it.
func (c *command) run(ctx context.Context, s *stage) (said string, err error) {
	if !c.decided {
		if c.answer, err = s.host.Permit(ctx, c.request); err != nil {
			return "", failure("The permission request could not be answered: " + err.Error())
		}
	}
	switch text, ok := c.edited(); {
	case s.ctx.Err() != nil:
		return "", s.ctx.Err()
	case !c.answer.Allowed():
		return c.refused(s)
	case !ok:
		s.b.ToolResult(trace.ToolResult{ToolCallID: c.call, Status: trace.ToolFailed, Error: "The edited input has no command."})
		return "I could not run that: the edited input has no command.", nil
	default:
		output, _ := strings.CutPrefix(text, "echo ")
		how := "I was allowed to run it: "
		if c.answer.OptionKind == trace.AllowAlways {
			how = "I am always allowed to run it (being a demo, I ask again): "
		}
		return how + text, s.complete(c.call, map[string]any{"stdout": output + "\n", "exit_code": 0})
	}
}

// refused ends a call that may not run.
func (c *command) refused(s *stage) (said string, err error) {
	why := c.answer.Reason
	switch {
	case why != "":
	case c.answer.Outcome == trace.Expired:
		why = "nobody answered in time"
	case c.answer.Outcome == trace.Canceled:
		why = "the request was withdrawn"
	default:
		why = "it was denied"
	}
	s.b.ToolResult(trace.ToolResult{ToolCallID: c.call, Status: trace.ToolDenied, Error: why})
	if c.answer.Interrupt {
		return "", errInterrupted
	}
	return "I did not run the command: " + why + ".", nil
}

// edited returns the command to run, which whoever allowed it may have changed.
func (c *command) edited() (text string, ok bool) {
	if len(c.answer.UpdatedInput) == 0 {
		return c.text, true
	}
	var in struct {
		Command string `json:"command"`
	}
	err := json.Unmarshal(c.answer.UpdatedInput, &in)
	return in.Command, err == nil && in.Command != ""
}

// both asks for two commands at the same time, and runs each as soon as it may.
func both(s *stage) error {
	if err := say("I would like to run two commands at once.")(s); err != nil {
		return err
	}
	one, err := s.command("echo one")
	if err != nil {
		return err
	}
	two, err := s.command("echo two")
	if err != nil {
		return err
	}
	one.ask(s)
	two.ask(s)
	return s.runAll(one, two)
}

// runAll waits for all answers side by side. One that interrupts ends the waiting
// for the others.
func (s *stage) runAll(all ...*command) error {
	ctx, cancel := context.WithCancelCause(s.ctx)
	defer cancel(nil)
	said := make([]string, len(all))
	var running sync.WaitGroup
	for i, c := range all {
		running.Go(func() {
			var err error
			if said[i], err = c.run(ctx, s); err != nil {
				cancel(err)
			}
		})
	}
	running.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return seq(nextStep, say(strings.Join(said, "\n\n")))(s)
}

// beside asks for a command while a file is being read, which is done some paces
// after it has asked, or only after it has its answer.
func beside(s *stage, before bool) error {
	if err := say("I will read a file, and would like to run a command.")(s); err != nil {
		return err
	}
	file, err := s.write(readFile("hello.txt"))
	if err != nil {
		return err
	}
	c, err := s.command("echo hello")
	if err != nil {
		return err
	}
	c.ask(s)
	if before {
		if err := s.complete(file, "Hello from the demo.\n"); err != nil {
			return err
		}
	}
	said, err := c.run(s.ctx, s)
	if err == nil && !before {
		err = s.complete(file, "Hello from the demo.\n")
	}
	if err != nil {
		return err
	}
	return seq(nextStep, say(said))(s)
}

func twice() beat {
	return seq(
		say("I would like to run a command."), runs("echo one"),
		say("\n\nAnd another one."), runs("echo two"),
	)
}

// patience is how many paces withdraws waits for an answer.
const patience = 100

// withdraws asks, and does not wait for long.
func withdraws(s *stage) error {
	if err := say("I would like to run a command, but I am in a hurry.")(s); err != nil {
		return err
	}
	c, err := s.command("echo hello")
	if err != nil {
		return err
	}
	c.ask(s)
	ctx, cancel := context.WithTimeout(s.ctx, patience*max(s.pace, time.Microsecond))
	defer cancel()
	said, err := c.run(ctx, s)
	if err != nil {
		return err
	}
	return seq(nextStep, say(said))(s)
}
