// Package command runs any command-line program as an agent: the prompt goes in, and what
// the program prints is the answer. Nothing else of such an agent is seen: no tools, no
// approvals, no usage, and no memory of earlier turns.
package command

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/internal/procio"
	"github.com/tributary-dev/tributary/trace"
)

// Placeholder stands for the prompt in an argument. Else standard input has the prompt.
const Placeholder = "{prompt}"

// Runtime runs a program once for each turn.
type Runtime struct {
	Command string
	Args    []string
	Env     []string // the whole environment of the program
}

// Probe implements agent.Prober.
func (r Runtime) Probe(context.Context) (string, error) {
	if path, err := exec.LookPath(r.Command); err == nil {
		return path, nil
	}
	return "", r.missing()
}

func (r Runtime) missing() error {
	return fmt.Errorf("the program %q was not found: install it, or correct the agent's command", r.Command)
}

// Open implements agent.Runtime.
func (r Runtime) Open(_ context.Context, _ agent.Host, cfg agent.Config) (agent.Session, error) {
	if r.Command == "" {
		return nil, errors.New("the agent has no command: set the key command to a program")
	}
	life, end := context.WithCancel(context.Background())
	return &session{runtime: r, cfg: cfg, life: life, end: end}, nil
}

type session struct {
	runtime Runtime
	cfg     agent.Config
	life    context.Context //nolint:containedctx // ends with Close
	end     context.CancelFunc
	turn    sync.Mutex
}

// Prompt implements agent.Session.
func (s *session) Prompt(ctx context.Context, p agent.Prompt, b *trace.Builder) error {
	s.turn.Lock()
	defer s.turn.Unlock()
	if s.life.Err() != nil {
		return errors.New("the session is closed: open a new one")
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.life, cancel)() //nolint:contextcheck // Close ends the turn, too
	stop := trace.Stop{Reason: "end_turn", Outcome: trace.OutcomeCompleted}
	if err := s.run(ctx, p.Text(), b); ctx.Err() != nil {
		stop = trace.Stop{Reason: "stopped", Outcome: trace.OutcomeCanceled}
	} else if err != nil {
		stop = trace.Stop{Reason: "error", Outcome: trace.OutcomeFailed, Error: err.Error()}
	}
	b.End(stop)
	return nil
}

func (s *session) run(ctx context.Context, prompt string, b *trace.Builder) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	args := slices.Clone(s.runtime.Args)
	inArgs := false
	for i, a := range args {
		if !strings.Contains(a, Placeholder) {
			continue
		}
		inArgs = true
		args[i] = strings.ReplaceAll(a, Placeholder, strings.ReplaceAll(prompt, "\x00", ""))
		if strings.HasPrefix(a, Placeholder) && strings.HasPrefix(prompt, "-") {
			args[i] = " " + args[i] // a prompt must not be read as an option
		}
	}
	p, err := procio.Start(procio.Config{Path: s.runtime.Command, Args: args, Dir: s.cfg.Cwd, Env: s.runtime.Env, StateDir: s.cfg.StateDir, Grace: time.Second})
	switch {
	case procio.NotFound(err):
		return s.runtime.missing()
	case err != nil:
		return fmt.Errorf("the program %q cannot be started: %w", s.runtime.Command, err)
	}
	defer p.Close() //nolint:errcheck // its group was killed, or has ended
	defer context.AfterFunc(ctx, p.Kill)()
	var feeding sync.WaitGroup
	feeding.Go(func() {
		if !inArgs {
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

// Close implements agent.Session.
func (s *session) Close() error {
	s.end()
	s.turn.Lock() // the turn ends with its program, which was killed
	defer s.turn.Unlock()
	return nil
}

// escapes are the terminal's control sequences, unfinished is the beginning of one.
var (
	escapes    = regexp.MustCompile("\x1b(\\[[0-?]*[ -/]*[@-~]|\\][^\x07\x1b]*(\x07|\x1b\\\\)|[PX^_][^\x1b]*\x1b\\\\|[ -/]*[0-Z\\\\^-~])|[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f]|\r(\n)")
	unfinished = regexp.MustCompile("(\x1b(\\[[0-?]*[ -/]*|\\][^\x07\x1b]*\x1b?|[PX^_][^\x1b]*\x1b?|[ -/]*)?|\r)$")
)

// stripper removes control sequences from a text that comes in pieces.
type stripper struct{ held string }

func (s *stripper) strip(text string) string {
	if text = s.held + text; !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r == 0x7f }) {
		s.held = ""
		return text // most text has nothing to strip
	}
	s.held = unfinished.FindString(text[max(0, len(text)-1000):]) // no longer is waited for
	return escapes.ReplaceAllString(text[:len(text)-len(s.held)], "$3")
}
