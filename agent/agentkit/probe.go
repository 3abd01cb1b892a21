package agentkit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/internal/procio"
)

// Probe runs the program with --version, behind the given arguments, and returns the
// last line of what it prints.
func (s Spec) Probe(ctx context.Context, args ...string) (string, error) {
	started, err := s.awaitStart(ctx)
	if err != nil {
		return "", err
	}
	defer started()
	out, err := procio.Output(ctx, s.Command, s.Env, append(slices.Clone(args), "--version")...)
	if err != nil {
		return "", s.Unversioned(err)
	}
	version := lastLine(out)
	if version == "" {
		return "", fmt.Errorf("%s: `%s --version` prints nothing: is it %s?", s.Adapter, s.Command, s.Name)
	}
	return version, nil
}

// Unversioned is the error when the program does not tell its version: it says what to do.
func (s Spec) Unversioned(err error) error {
	switch {
	case errors.Is(err, procio.ErrUnsupported):
		return fmt.Errorf("%s: %w", s.Adapter, err)
	case procio.NotFound(err):
		return s.NotFound
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%s: %w", s.Adapter, NotAllowed(s.Command))
	default:
		return fmt.Errorf("%s: `%s --version` failed: %w: run it in a terminal to see why, or correct command", s.Adapter, s.Command, err)
	}
}

// Unstarted is the error when a program does not start.
func Unstarted(adapter, command string, notFound, err error) error {
	switch {
	case errors.Is(err, procio.ErrUnsupported):
		return fmt.Errorf("%s: %w", adapter, err)
	case procio.NotFound(err):
		return notFound
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%s: %w", adapter, NotAllowed(command))
	default:
		return fmt.Errorf("%s: %s cannot be started: %w: set command to a program that you may run", adapter, command, err)
	}
}

// NotAllowed is the error when the gateway may not execute a program.
func NotAllowed(command string) error {
	return fmt.Errorf("%s may not be executed: correct command, or make the file executable with `chmod +x`", command)
}

func lastLine(text []byte) string {
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}

// NotFound is the error when there is no such program. The command is "" unless the
// configuration sets one; install says how to get the program.
func NotFound(adapter, name, command, install string) error {
	if command == "" {
		return fmt.Errorf("%s was not found on PATH: install it with `%s` or set agents.%s.command", adapter, install, adapter)
	}
	return fmt.Errorf("%s was not found: correct agents.%s.command, or install %s with `%s`", command, adapter, name, install)
}

// Advice is the end of a sentence that says what to do, if the text has one of the signs.
func Advice(text, what string, signs ...string) string {
	text = strings.ToLower(text)
	if slices.ContainsFunc(signs, func(sign string) bool { return strings.Contains(text, sign) }) {
		return " — " + what
	}
	return ""
}
