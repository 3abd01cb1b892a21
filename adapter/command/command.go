// Package command runs any command-line program as an agent: the program gets the prompt,
// and prints the answer. Such an agent shows no tools, asks for no approvals, reports no
// usage, and remembers no earlier turns.
package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"sync"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/internal/procio"
	"github.com/tributary-dev/tributary/trace"
)

// Runtime runs a program once for each turn.
type Runtime struct {
	Command string
	Args    []string
	Env     []string // the whole environment of the program
	// Refused are the program's own commands that a prompt must not be; see
	// agentkit.RefuseCommands.
	Refused []string
}

// Probe implements agent.Prober.
func (r Runtime) Probe(context.Context) (string, error) {
	path, err := exec.LookPath(r.Command)
	if err != nil {
		return "", r.fault(err)
	}
	return path, nil
}

// fault says why the program does not start, and what to do.
func (r Runtime) fault(err error) error {
	switch {
	case errors.Is(err, procio.ErrUnsupported):
		return err
	case errors.Is(err, fs.ErrPermission):
		return agentkit.NotAllowed(r.Command)
	case !procio.NotFound(err):
		return fmt.Errorf("the program %q cannot be started: %w: correct the agent's command", r.Command, err)
	}
	return fmt.Errorf("the program %q was not found: install it, or correct the agent's command", r.Command)
}

// Open implements agent.Runtime.
func (r Runtime) Open(_ context.Context, host agent.Host, cfg agent.Config) (agent.Session, error) {
	if r.Command == "" {
		return nil, errors.New("the agent has no command: set the key command to a program")
	}
	s := session{r, host, cfg}
	return agentkit.Local{Name: "The program", Play: s.play}.Open(), nil
}

type session struct {
	runtime Runtime
	host    agent.Host
	cfg     agent.Config
}

// play runs the program once.
func (s session) play(ctx context.Context, turn agent.Prompt, b *trace.Builder) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err := agentkit.RefuseCommands(turn.Message, s.runtime.Refused); err != nil {
		return err
	}
	prompt := agentkit.PromptText(turn, s.host.Files().Contains) // the program may be an agent that reads what a prompt mentions
	args, given := agentkit.WithPrompt(s.runtime.Args, prompt)
	p, err := procio.Start(procio.Config{Path: s.runtime.Command, Args: args, Dir: s.cfg.Cwd, Env: s.runtime.Env, StateDir: s.cfg.StateDir, Box: s.cfg.Box, Grace: time.Second})
	if err != nil {
		return &agentkit.PromptError{Reason: trace.ReasonUnavailable, Sentence: s.runtime.fault(err).Error()}
	}
	defer p.Close() //nolint:errcheck // its group was killed, or has ended
	defer context.AfterFunc(ctx, p.Kill)()
	var feeding sync.WaitGroup
	feeding.Go(func() {
		if !given {
			_ = p.WriteLine(ctx, []byte(prompt)) // a program may answer without reading
		}
		p.EndInput()
	})
	plain := stripper{}
	for text, err := p.ReadText(); err == nil; text, err = p.ReadText() {
		b.MessageDelta("stdout", plain.strip(text))
	}
	code := p.ExitCode()
	feeding.Wait()
	b.MessageEnd("stdout")
	if code != 0 {
		return fmt.Errorf("the program %q failed (%s)", s.runtime.Command, p.Why())
	}
	return nil
}
