package worktool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/tributary-dev/tributary/agent/toolloop"
	"github.com/tributary-dev/tributary/internal/procio"
	"github.com/tributary-dev/tributary/policy/box"
)

// Shell is the tool bash. Each command has a process group of its own, which ends with
// the command and with the turn.
type Shell struct {
	// Dir is the directory that commands start in.
	Dir string
	// Env is the whole environment of commands.
	Env []string
	// StateDir is where running commands are noted, so that the next start of the
	// gateway ends those that a crash left; "" notes nothing.
	StateDir string
	// Box closes files to commands.
	Box box.Rule
	// Time bounds a command, and MaxTime what a call may ask for; 2 and 10 minutes if zero.
	Time, MaxTime time.Duration
	// MaxOutput bounds what is kept of a command's output, in bytes; 1 MiB if zero.
	MaxOutput int
}

// Tool returns the tool.
func (s Shell) Tool() toolloop.Tool {
	if s.Time == 0 {
		s.Time = 2 * time.Minute
	}
	if s.MaxTime == 0 {
		s.MaxTime = max(10*time.Minute, s.Time)
	}
	if s.MaxOutput == 0 {
		s.MaxOutput = 1 << 20
	}
	return toolloop.NewPrinting("bash", fmt.Sprintf("Runs a command with bash in the workspace and returns what the command prints. The command gets no input. "+
		"The command is ended after %s unless timeout says otherwise, and after %s in any case.", s.Time, s.MaxTime), s.run)
}

type shellInput struct {
	Command string  `json:"command"`
	Timeout float64 `json:"timeout,omitempty" jsonschema:"Seconds after which the command is ended"`
}

func (s Shell) run(ctx context.Context, in shellInput, out io.Writer) (string, error) {
	limit := s.Time
	if in.Timeout > 0 {
		limit = min(time.Duration(in.Timeout*float64(time.Second)), s.MaxTime)
	}
	// One stream keeps the order of what the command prints.
	p, err := procio.Start(procio.Config{
		Path: "bash", Args: []string{"-c", "exec </dev/null 2>&1\n" + in.Command}, Dir: s.Dir, Env: s.Env, StateDir: s.StateDir, Box: s.Box, Grace: time.Second,
	})
	if err != nil {
		return "", fmt.Errorf("bash cannot be started: %w", err)
	}
	defer p.Close() //nolint:errcheck // the group has been killed
	overtime := fmt.Errorf("the command was ended after %s: run it with a longer timeout, or in smaller steps", limit)
	ctx, cancel := context.WithTimeoutCause(ctx, limit, overtime)
	defer cancel()
	defer context.AfterFunc(ctx, p.Kill)()
	kept := &clipper{max: s.MaxOutput}
	for text, err := p.ReadText(); err == nil; text, err = p.ReadText() {
		_, _ = kept.Write([]byte(text))
		_, _ = io.WriteString(out, text)
	}
	code := p.ExitCode()
	switch cause := context.Cause(ctx); {
	case cause != nil:
		err = cause
	case code < 0:
		err = errors.New("the command was killed by a signal")
	case code > 0:
		err = fmt.Errorf("exit status %d", code)
	}
	return kept.String(), err
}
