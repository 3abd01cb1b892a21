package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
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
	options  []trace.PermissionOption
	approval agentkit.Approval
	refused  bool // somebody has refused it for good
}

// shell writes the call of a command. The user who allows the call has the options, or
// those of any agent in this process.
func (s *stage) shell(text string, options ...trace.PermissionOption) command {
	return command{text: text, callID: s.run(text), asks: s.id("approval"), options: options}
}

// run writes the call of a command that needs no permission.
func (s *stage) run(text string) (callID string) {
	first, _, _ := strings.Cut(text, "\n")
	return s.call(trace.ToolCall{
		RawName: "shell", Title: "Run " + first, ToolKind: trace.ToolExecute, Input: agentkit.Encode(map[string]string{"command": text}),
	})
}

// request asks for the permission of a command.
func (s *stage) request(c command) command {
	if c.refused = s.refusedForGood(c.text); s.err == nil && !c.refused {
		r := trace.PermissionRequest{RequestID: c.asks, ToolCallID: c.callID, Title: "Run " + c.text, Options: c.options}
		c.approval = agentkit.Approve(s.b, trace.PermissionCheck{Request: r})[0]
	}
	return c
}

// settle waits for the answers to requests side by side, as long as ctx lasts, and says what
// became of the commands. Each command runs as soon as it may. An answer that ends the
// turn ends the wait for the others.
func (s *stage) settle(ctx context.Context, all ...command) (says string) {
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
			if sentences[i] = part.settleOne(ctx, c); part.err != nil {
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

func (s *stage) settleOne(ctx context.Context, c command) (says string) {
	if c.refused {
		return s.deny(c.callID, "command", "You have told me never to run it.")
	}
	text, says := s.allowed(ctx, c.approval, c.callID, "command", c.text)
	if text != "" {
		s.complete(c.callID, map[string]any{"stdout": strings.TrimPrefix(text, "echo ") + "\n", "exit_code": 0})
	}
	return says
}

// allowed waits for the answer to a request. It returns the text that the call may use:
// the person who allowed the call may have changed that key of the input. If the text is
// empty, the call has its result.
func (s *stage) allowed(ctx context.Context, approval agentkit.Approval, callID, key, text string) (use, says string) {
	answer, err := approval.Wait(ctx, s.host)
	use, ok := edited(answer, key, text)
	switch {
	case err != nil:
		s.err = fmt.Errorf("the permission request could not be answered: %w", err)
		return "", ""
	case s.ctx.Err() != nil:
		s.err = s.ctx.Err()
		return "", ""
	case !answer.Allowed():
		if answer.OptionKind == trace.RejectAlways {
			s.refuseForGood(text)
		}
		if answer.Interrupt {
			s.err = agentkit.ErrInterrupted
		}
		return "", s.deny(callID, key, agentkit.Refusal(answer))
	case !ok:
		s.b.ToolResult(trace.ToolResult{ToolCallID: callID, Status: trace.ToolFailed, Error: "The edited input has no " + key + "."})
		return "", "I could not run that: the edited input has no " + key + "."
	case answer.OptionKind == trace.AllowAlways:
		return use, "I am always allowed to run it (being a demo, I ask again): " + use
	}
	return use, "I was allowed to run it: " + use
}

// deny ends a call that may not run, and says so.
func (s *stage) deny(callID, key, why string) (says string) {
	s.b.ToolResult(trace.ToolResult{ToolCallID: callID, Status: trace.ToolDenied, Error: why})
	says = "I did not run the " + key + ": " + why
	if !strings.ContainsAny(why[max(0, len(why)-1):], ".!?") {
		says += "."
	}
	return says
}

// refuseForGood notes a text that the demo does not ask about any more, as long as its session is open.
func (s *session) refuseForGood(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.never = append(s.never, text)
}

func (s *session) refusedForGood(text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Contains(s.never, text)
}

// edited returns the text to use: the person who allowed it may have changed it.
func edited(answer trace.PermissionResponse, key, text string) (use string, ok bool) {
	if len(answer.UpdatedInput) == 0 {
		return text, true
	}
	var input map[string]any
	err := json.Unmarshal(answer.UpdatedInput, &input)
	use, _ = input[key].(string)
	return use, err == nil && use != ""
}

func approve(s *stage) {
	s.say("I would like to run a command.")
	s.next(s.settle(s.ctx, s.request(s.shell("echo hello"))))
}

func twice(s *stage) {
	s.say("I would like to run a command.")
	s.next(s.settle(s.ctx, s.request(s.shell("echo one"))))
	s.say("\n\nAnd another one.")
	s.next(s.settle(s.ctx, s.request(s.shell("echo two"))))
}

func both(s *stage) {
	s.say("I would like to run two commands at once.")
	one, two := s.shell("echo one"), s.shell("echo two")
	one, two = s.request(one), s.request(two)
	s.next(s.settle(s.ctx, one, two))
}

func beside(s *stage) {
	file, c := readAndAsk(s)
	says := s.settle(s.ctx, c)
	s.complete(file, greeting)
	s.next(says)
}

func meanwhile(s *stage) {
	file, c := readAndAsk(s)
	s.complete(file, greeting)
	s.next(s.settle(s.ctx, c))
}

// readAndAsk begins to read a file and asks for a command.
func readAndAsk(s *stage) (file string, c command) {
	s.say("I will read a file, and would like to run a command.")
	file = s.read("hello.txt")
	return file, s.request(s.shell("echo hello"))
}

// scopes asks for a command of several lines, with options that reach as far as those of
// real agents.
func scopes(s *stage) {
	s.say("I would like to run a script of several lines.")
	s.next(s.settle(s.ctx, s.request(s.shell(
		"set -e\nfor file in src/*.go; do\n  gofmt -l \"$file\"\ndone\ngo test -race ./... 2>&1 | tail -n 20\n# This line is long, so a page has to wrap or scroll it: "+strings.Repeat("0123456789 ", 20),
		trace.PermissionOption{ID: "once", Name: "Allow once", OptionKind: trace.AllowOnce},
		trace.PermissionOption{ID: "session", Name: "Allow for this session", OptionKind: trace.AllowAlways},
		trace.PermissionOption{ID: "forever", Name: "Always allow go test", OptionKind: trace.AllowAlways},
		trace.PermissionOption{ID: "no", Name: "Deny", OptionKind: trace.RejectOnce},
		trace.PermissionOption{ID: "never", Name: "Always deny", OptionKind: trace.RejectAlways},
	))))
}

// withdraw waits for 100 paces.
func withdraw(s *stage) {
	s.say("I would like to run a command, but I am in a hurry.")
	c := s.request(s.shell("echo hello"))
	ctx, cancel := context.WithTimeout(s.ctx, 100*max(s.pace, time.Microsecond))
	defer cancel()
	s.next(s.settle(ctx, c))
}
