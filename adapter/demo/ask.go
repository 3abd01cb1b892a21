package demo

import (
	"encoding/json"
	"strings"

	"github.com/tributary-dev/tributary/trace"
)

const shellCommand = "echo hello"

func approves() beat {
	return seq(say("I would like to run a command."), runShell)
}

// runShell asks before it pretends to run a command.
func runShell(s *stage) error {
	id, err := s.write(call{
		name: "shell", title: "Run " + shellCommand, kind: trace.ToolExecute,
		input: string(raw(map[string]string{"command": shellCommand})),
	})
	if err != nil {
		return err
	}
	answer, err := s.permit(trace.PermissionRequest{
		RequestID: s.id("approval"), ToolCallID: id, Title: "Run " + shellCommand,
		Options: []trace.PermissionOption{
			{ID: "allow", Name: "Allow", OptionKind: trace.AllowOnce},
			{ID: "always", Name: "Always allow", OptionKind: trace.AllowAlways},
			{ID: "deny", Name: "Deny", OptionKind: trace.RejectOnce},
		},
	})
	if err != nil {
		return err
	}
	if !answer.Allowed() {
		return s.deny(id, answer)
	}
	command, ok := edited(answer.UpdatedInput)
	if !ok {
		s.b.ToolResult(trace.ToolResult{ToolCallID: id, Status: trace.ToolFailed, Error: "The edited input has no command."})
		return seq(nextStep, say("I could not run that: the edited input has no command."))(s)
	}
	output, _ := strings.CutPrefix(command, "echo ")
	if err := s.complete(id, map[string]any{"stdout": output + "\n", "exit_code": 0}); err != nil {
		return err
	}
	how := "I was allowed to run it: "
	if answer.OptionKind == trace.AllowAlways {
		how = "I am always allowed to run it (being a demo, I ask again): "
	}
	return seq(nextStep, say(how+command))(s)
}

// permit writes a request and waits for its answer, which the host puts on record.
func (s *stage) permit(r trace.PermissionRequest) (trace.PermissionResponse, error) {
	id, answer, decided := s.b.PermissionRequest(r)
	if decided {
		return answer, s.ctx.Err()
	}
	answer, err := s.host.Permit(s.ctx, id)
	if s.ctx.Err() != nil {
		return answer, s.ctx.Err()
	}
	if err != nil {
		return answer, failure("The permission request could not be answered: " + err.Error())
	}
	return answer, nil
}

// deny ends a call that may not run.
func (s *stage) deny(id string, answer trace.PermissionResponse) error {
	why := answer.Reason
	switch {
	case why != "":
	case answer.Outcome == trace.Expired:
		why = "nobody answered in time"
	case answer.Outcome == trace.Canceled:
		why = "the request was withdrawn"
	default:
		why = "it was denied"
	}
	s.b.ToolResult(trace.ToolResult{ToolCallID: id, Status: trace.ToolDenied, Error: why})
	if answer.Interrupt {
		return errInterrupted
	}
	return seq(nextStep, say("I did not run the command: "+why+"."))(s)
}

// edited returns the command to run, which whoever allowed it may have changed.
func edited(input json.RawMessage) (command string, ok bool) {
	if len(input) == 0 {
		return shellCommand, true
	}
	var in struct {
		Command string `json:"command"`
	}
	err := json.Unmarshal(input, &in)
	return in.Command, err == nil && in.Command != ""
}

func asks() beat {
	return seq(say("Before I go on, I have a question."), askColour)
}

func askColour(s *stage) error {
	id := s.b.Question(trace.Question{
		QuestionID: s.id("question"), Header: "Colour", Text: "Which colour?",
		Choices: []trace.Choice{{Label: "red"}, {Label: "green"}, {Label: "blue"}},
	})
	answer, err := s.host.Ask(s.ctx, id)
	if s.ctx.Err() != nil {
		return s.ctx.Err()
	}
	if err != nil {
		return failure("The question could not be answered: " + err.Error())
	}
	text := "Nobody answered, so I take no colour."
	if answer.Outcome == trace.Selected && len(answer.Values) > 0 {
		text = "You chose " + strings.Join(answer.Values, ", ") + "."
	}
	return seq(nextStep, say(text))(s)
}
