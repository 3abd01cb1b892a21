//go:build unix

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/tributary-dev/tributary/internal/testkit/realagent"
)

// flags with which a host starts Claude Code.
var flags = []string{
	"-p", "--output-format", "stream-json", "--input-format", "stream-json", "--verbose",
	"--include-partial-messages", "--replay-user-messages", "--permission-prompt-tool", "stdio",
}

// A session is one process of Claude Code and its recording.
type session struct {
	*room
	ctx    context.Context //nolint:containedctx // of the case that is recorded
	tape   *tape
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	lines  chan message // closed at the end of stdout
	read   sync.WaitGroup
	asked  int // control requests so far
	decide func(request permission) map[string]any
	turn   turn
}

// message is one line of the agent, as far as the recorder looks into it.
type message struct {
	Type      string          `json:"type"`
	Subtype   string          `json:"subtype"`
	RequestID string          `json:"request_id"`
	Request   permission      `json:"request"`
	ParentID  *string         `json:"parent_tool_use_id"`
	Message   json.RawMessage `json:"message"`
	IsError   bool            `json:"is_error"`
	Terminal  string          `json:"terminal_reason"`
	Response  struct {
		RequestID string `json:"request_id"`
	} `json:"response"`
	Tasks []json.RawMessage `json:"tasks"`
	Event struct {
		Type  string `json:"type"`
		Delta struct {
			Type string `json:"type"`
			Text string `json:"text"`
		} `json:"delta"`
	} `json:"event"`
}

type permission struct {
	Subtype     string          `json:"subtype"`
	Input       json.RawMessage `json:"input"`
	ToolUseID   string          `json:"tool_use_id"`
	Question    bool            `json:"requires_user_interaction"`
	Suggestions json.RawMessage `json:"permission_suggestions"`
}

// start starts the agent and shakes hands with it.
func (r *room) start(ctx context.Context, name string, args []string) (*session, error) {
	t := newTape(r, name)
	s := &session{room: r, ctx: ctx, tape: t, lines: make(chan message, 1024), decide: allow}
	all := append(slices.Clone(flags), args...)
	s.cmd = exec.CommandContext(ctx, r.claude, all...)
	s.cmd.Dir = r.workspace()
	s.cmd.Env = realagent.Pairs(claudeCode().Closed(realagent.Dirs{Home: r.home(), Tmp: r.tmp(), Dir: r.workspace(), URL: r.url}, r.claude))
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	s.cmd.Cancel = func() error { return syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL) }
	t.meta(map[string]any{
		"recorded": "real agent, scripted model on loopback",
		"version":  claudeCode().Package.String(),
		"cmd":      "claude " + strings.Join(all, " "),
		"env":      environment(s.cmd.Env),
	})
	stdin, errIn := s.cmd.StdinPipe()
	stdout, errOut := s.cmd.StdoutPipe()
	stderr, errErr := s.cmd.StderrPipe()
	s.stdin = stdin
	if err := errors.Join(errIn, errOut, errErr); err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	s.read.Go(func() { s.readOut(stdout) })
	s.read.Go(func() { s.readErr(stderr) })
	return s, nil
}

// open is start and the first control request, as every host sends it.
func (r *room) open(ctx context.Context, name string, args ...string) (*session, error) {
	s, err := r.start(ctx, name, args)
	if err != nil {
		return nil, err
	}
	return s, s.control(map[string]any{"subtype": "initialize"})
}

// environment is what a recording tells of env: not npm's settings, which Claude Code does not read.
func environment(env []string) map[string]string {
	out := map[string]string{}
	for _, e := range env {
		if k, v, _ := strings.Cut(e, "="); !strings.HasPrefix(k, "npm_") {
			out[k] = v
		}
	}
	return out
}

func (s *session) readOut(r io.Reader) {
	defer close(s.lines)
	in := bufio.NewReader(r)
	for {
		line, err := in.ReadBytes('\n')
		if len(line) > 0 {
			var m message
			if bad := json.Unmarshal(line, &m); bad != nil {
				s.tape.fail(fmt.Errorf("a line of the agent is not as expected: %w", bad))
			}
			s.tape.line("out", line)
			s.lines <- m
		}
		if err != nil {
			return
		}
	}
}

func (s *session) readErr(r io.Reader) {
	in := bufio.NewScanner(r)
	for in.Scan() {
		raw, _ := json.Marshal(in.Text()) // a string
		s.tape.line("err", raw)
	}
}

// send writes a message to the agent.
func (s *session) send(msg any) error {
	raw, err := json.Marshal(msg)
	if err != nil {
		return err
	}
	s.tape.line("in", raw)
	_, err = s.stdin.Write(append(raw, '\n'))
	return err
}

// control sends a control request and waits for its answer.
func (s *session) control(request map[string]any) error {
	s.asked++
	id := fmt.Sprintf("host_%d", s.asked)
	if err := s.send(map[string]any{"type": "control_request", "request_id": id, "request": request}); err != nil {
		return err
	}
	return s.await("the answer to "+fmt.Sprint(request["subtype"]), func(m message) bool {
		return m.Type == "control_response" && m.Response.RequestID == id
	})
}

// await reads lines until one matches, and answers what the agent asks on the way.
func (s *session) await(what string, match func(message) bool) error {
	for {
		select {
		case m, ok := <-s.lines:
			if !ok {
				return fmt.Errorf("the agent ended before %s", what)
			}
			if err := s.heed(m); err != nil {
				return err
			}
			if match(m) {
				return nil
			}
		case <-s.ctx.Done():
			return fmt.Errorf("waiting for %s: %w", what, s.ctx.Err())
		}
	}
}

func (s *session) heed(m message) error {
	s.turn.heed(m)
	if m.Type != "control_request" || m.Request.Subtype != "can_use_tool" {
		return nil
	}
	if s.decide == nil {
		return nil // left open
	}
	answer := s.decide(m.Request)
	if !m.Request.Question {
		s.turn.approve(m.RequestID, answer)
	}
	return s.send(map[string]any{
		"type":     "control_response",
		"response": map[string]any{"subtype": "success", "request_id": m.RequestID, "response": answer},
	})
}

func allow(p permission) map[string]any {
	return map[string]any{"behavior": "allow", "updatedInput": p.Input}
}

// end closes the agent's input, waits for it and finishes the recording.
func (s *session) end() error {
	_ = s.stdin.Close() // it may have ended before
	for m := range s.lines {
		s.turn.heed(m)
	}
	s.read.Wait()
	err := s.cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return err
	}
	s.tape.meta(map[string]any{"exit": s.cmd.ProcessState.ExitCode()})
	return s.tape.close()
}

// kill ends the agent and everything it has started.
func (s *session) kill() error {
	err := syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL)
	for range s.lines {
	}
	s.read.Wait()
	_ = s.cmd.Wait() // it was killed
	return err
}

// until waits for something outside the agent's lines.
func (s *session) until(done func() bool) error {
	for !done() {
		select {
		case <-time.After(20 * time.Millisecond):
		case <-s.ctx.Done():
			return s.ctx.Err()
		}
	}
	return nil
}
