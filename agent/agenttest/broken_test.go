package agenttest_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/trace"
)

// flaw is what is wrong with an agent.
type flaw string

// The flaws, and the test that has to find each.
func flaws() map[flaw]string {
	return map[flaw]string{
		"silent about its end":      "one_turn",
		"mute":                      "one_turn",
		"talks after its turn":      "one_turn",
		"leaks a goroutine":         "one_turn",
		"fails the second turn":     "two_turns",
		"breaks characters":         "unicode_prompt",
		"fails to close":            "close_twice",
		"closes once only":          "close_twice",
		"lives on after close":      "prompt_after_close",
		"deaf to cancel":            "cancel",
		"calls canceled completed":  "cancel",
		"dead after cancel":         "cancel",
		"closes slowly":             "close_during_prompt",
		"runs what is denied":       "permission_denied",
		"denies what is allowed":    "permission_allowed",
		"never asks for permission": "permission_allowed",
		"never asks":                "question",
		"has no token":              "resume",
		"forgets":                   "resume",
		"does not go back":          "rewind",
	}
}

const brokenEnv = "AGENTTEST_BROKEN"

// The suite finds every flaw, and nothing in the agent without one. It fails as
// a suite does, so it runs in a process of its own.
func TestSuiteFindsFlaws(t *testing.T) {
	t.Parallel()
	for f, finds := range flaws() {
		t.Run(string(f), func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestBroken$/^"+finds+"$", "-test.v")
			cmd.Env = append(os.Environ(), brokenEnv+"="+string(f))
			out, err := cmd.CombinedOutput()
			if err == nil || !strings.Contains(string(out), "--- FAIL: TestBroken/"+finds) {
				t.Errorf("%s passed an agent that %s: %v\n%s", finds, f, err, out)
			}
		})
	}
}

// TestBroken passes with the agent that has no flaw.
func TestBroken(t *testing.T) {
	bound := 10 * time.Second
	if os.Getenv(brokenEnv) != "" {
		bound = 500 * time.Millisecond // what hangs, hangs for good
	}
	agenttest.Run(t, agenttest.Suite{
		Open: func(testing.TB) agent.Runtime { return &runtime{flaw: flaw(os.Getenv(brokenEnv))} },
		Prompts: map[agenttest.Ability]string{
			agenttest.Text: "text", agenttest.Slow: "slow", agenttest.Permission: "permission",
			agenttest.Question: "question", agenttest.Tell: "the word is rain", agenttest.Recall: "recall",
		},
		Word: "rain", Turns: []string{"background"}, Bound: bound,
	})
}

type runtime struct {
	flaw   flaw
	dead   bool
	newest string // what an agent knows that does not go back
}

func (r *runtime) Rewinds(string) bool { return true }

func (r *runtime) Open(_ context.Context, host agent.Host, cfg agent.Config) (agent.Session, error) {
	if r.dead {
		return nil, errors.New("dead")
	}
	memory := cfg.Resume
	if r.flaw == "does not go back" {
		memory = r.newest
	}
	return &session{runtime: r, host: host, memory: memory, closed: make(chan struct{})}, nil
}

type session struct {
	*runtime
	host   agent.Host
	memory string
	turns  int
	last   *trace.Builder
	busy   sync.Mutex
	once   sync.Once
	closed chan struct{}
}

func (s *session) has(f flaw) bool { return s.flaw == f }

func (s *session) Close() error {
	first := false
	s.once.Do(func() { first = true; close(s.closed) })
	if s.has("fails to close") || s.has("closes once only") && !first {
		return errors.New("cannot close")
	}
	if s.has("closes slowly") {
		select {}
	}
	s.busy.Lock()
	defer s.busy.Unlock()
	if first && s.last != nil && s.has("talks after its turn") {
		s.last.MessageDelta("late", "by the way")
	}
	return nil
}

func (s *session) Prompt(ctx context.Context, p agent.Prompt, b *trace.Builder) error {
	s.busy.Lock()
	defer s.busy.Unlock()
	select {
	case <-s.closed:
		if !s.has("lives on after close") {
			return errors.New("closed")
		}
	default:
	}
	s.turns++
	s.last = b
	if s.dead || s.turns == 2 && s.has("fails the second turn") {
		return errors.New("out of turns")
	}
	if s.has("leaks a goroutine") {
		go func() { select {} }()
	}
	outcome := s.play(ctx, p.Text(), b)
	if ctx.Err() != nil && !s.has("calls canceled completed") {
		outcome = trace.OutcomeCanceled
		s.dead = s.has("dead after cancel")
		s.memory = ""
	}
	if !s.has("silent about its end") {
		b.End(trace.Stop{Reason: "x", Outcome: outcome})
	}
	return nil
}

func (s *session) play(ctx context.Context, prompt string, b *trace.Builder) trace.Outcome {
	switch prompt {
	case "slow":
		b.MessageDelta("k", "well")
		canceled := ctx.Done()
		if s.has("deaf to cancel") {
			canceled = nil
		}
		select {
		case <-canceled:
		case <-s.closed:
			return trace.OutcomeCanceled
		}
	case "permission":
		s.permission(ctx, b)
	case "question":
		if !s.has("never asks") {
			if _, err := s.host.Ask(ctx, b.Question(trace.Question{QuestionID: "q", Text: "?"})); err != nil {
				return trace.OutcomeFailed
			}
		}
	case "recall":
		b.Message("k", "the word: "+s.memory)
	case "background":
		other := s.host.Begin(agent.TurnInfo{Reason: "background"})
		other.Message("k", "meanwhile")
		other.End(trace.Stop{Reason: "x", Outcome: trace.OutcomeCompleted})
	default:
		s.remember(prompt)
		if s.has("breaks characters") {
			prompt += "\uFFFD"
		}
		if !s.has("mute") {
			b.Message("k", prompt)
		}
	}
	return trace.OutcomeCompleted
}

func (s *session) remember(prompt string) {
	s.memory = prompt
	if s.has("has no token") {
		return
	}
	if s.has("forgets") {
		prompt = "x"
	}
	s.newest = prompt
	s.host.Resume(prompt)
}

func (s *session) permission(ctx context.Context, b *trace.Builder) {
	b.ToolCall(trace.ToolCall{ToolCallID: "c", RawName: "shell"})
	allowed := true
	if !s.has("never asks for permission") {
		id, _, _ := b.PermissionRequest(trace.PermissionRequest{RequestID: "p", ToolCallID: "c", Options: []trace.PermissionOption{
			{ID: "1", OptionKind: trace.AllowOnce}, {ID: "2", OptionKind: trace.RejectOnce},
		}}, trace.ToolCall{})

		answer, err := s.host.Permit(ctx, id)
		allowed = err == nil && answer.Allowed()
	}
	allowed = allowed && !s.has("denies what is allowed") || s.has("runs what is denied")
	if !allowed {
		b.ToolResult(trace.ToolResult{ToolCallID: "c", Status: trace.ToolDenied})
		return
	}
	b.ToolResult(trace.ToolResult{ToolCallID: "c", Status: trace.ToolCompleted})
}
