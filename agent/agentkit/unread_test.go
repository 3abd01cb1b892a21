//go:build unix

package agentkit_test

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/trace"
)

// answering answers each message with so many bytes: at once, or by a decision that makes the answer.
type answering struct {
	bytes   int
	decided bool
	making  func()
}

func (a answering) Decode(m agent.Message, _ agent.Turns) ([]agent.Effect, error) {
	answer := json.RawMessage(`"` + strings.Repeat("x", a.bytes) + `"`)
	switch {
	case m.Dir == agent.In:
		return nil, nil
	case a.decided:
		return []agent.Effect{agent.Permit{Native: string(m.Data), Decided: &trace.PermissionResponse{}, Reply: func(trace.PermissionResponse) json.RawMessage {
			a.making()
			return answer
		}}}, nil
	}
	return []agent.Effect{agent.Send{Data: answer}}, nil
}

// An agent that goes on to ask and reads no answer has to wait: by the number of the answers, by
// their size, and while they are made. Its messages are taken again when it reads. After 30 s without that, Room fails.
//
//evidence:for limit-unread
func TestAnAgentThatReadsNoAnswersHasToWait(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answering
		most int
	}{
		"many":            {answering{bytes: 1}, 1000},
		"large":           {answering{bytes: 1 << 20}, 16},
		"many, decided":   {answering{bytes: 1, decided: true}, 1000},
		"decided by file": {answering{bytes: 1 << 20, decided: true}, 16},
		"slowly made":     {answering{bytes: 1, decided: true}, 16},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				reads, made := make(chan struct{}), make(chan struct{})
				c.making = func() {
					if name == "slowly made" {
						<-made
					}
				}
				s := agentkit.New(agenttest.NewHost(), agent.Config{}, agentkit.Options{Name: "The agent", Decoder: c.answering, Send: func(ctx context.Context, _ []byte) error {
					select {
					case <-reads:
						return nil
					case <-ctx.Done():
						return ctx.Err()
					}
				}})
				defer s.Close()
				var taken, told atomic.Int64
				over := make(chan struct{})
				go func() {
					defer close(over)
					for n := range c.most + 50 {
						if errors.Is(s.Room(t.Context()), agentkit.ErrUnread) {
							told.Add(1)
						}
						synctest.Wait() // what it has asked before is made
						id, _ := json.Marshal(n)
						_ = s.Received(agent.Message{Dir: agent.Out, Data: id})
						taken.Add(1)
					}
				}()
				time.Sleep(29 * time.Second)
				if n := int(taken.Load()); n != c.most || told.Load() > 0 {
					t.Errorf("%d messages were taken, want %d", n, c.most)
				}
				time.Sleep(2 * time.Second)
				if told.Load() == 0 {
					t.Error("nobody is told that the agent reads nothing")
				}
				close(made)
				close(reads)
				<-over
			})
		})
	}
}

// watched opens a toy, and counts the most goroutines that there are while it asks.
func watched(t *testing.T, host *agenttest.Host, unread time.Duration) (agent.Session, func() int) {
	t.Helper()
	var most atomic.Int64
	sp := spec(t, "toy")
	sp.UnreadTime = unread
	s, err := agentkit.Open(t.Context(), host, agent.Config{Cwd: t.TempDir(), Tap: func(agent.Message) {
		most.Store(max(most.Load(), int64(runtime.NumGoroutine())))
	}}, sp)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s, func() int { return int(most.Load()) }
}

// A program that asks much and reads late gets each answer, and the gateway holds few at a time.
func TestAProgramThatReadsLateGetsAllAnswers(t *testing.T) {
	host := agenttest.NewHost()
	s, most := watched(t, host, 0)
	if got := prompt(t.Context(), t, host, s, "flood slowly"); got.said != "I have all answers." {
		t.Errorf("said %q, stopped %+v", got.said, got.stop)
	}
	if n := most(); n > 2000 {
		t.Errorf("%d goroutines, for %d answers", n, asks)
	}
}

// A program that never reads is ended, in a turn and after it, and the next prompt starts it again.
func TestAProgramThatNeverReadsIsEnded(t *testing.T) {
	t.Parallel()
	const why = "The toy was ended, because it asked again and again and read none of the answers: send a new message to go on."
	for text, want := range map[string]string{"flood": why, "flood after the turn": ""} {
		host := agenttest.NewHost()
		s, _ := watched(t, host, 200*time.Millisecond)
		if got := prompt(t.Context(), t, host, s, text); got.stop.Error != want {
			t.Errorf("%s: %q", text, got.stop.Error)
		}
		got := prompt(t.Context(), t, host, s, "hello")
		if got.stop.Error == why { // it came just before the end
			got = prompt(t.Context(), t, host, s, "hello")
		}
		if got.said != "You said: hello" {
			t.Errorf("%s: the next prompt: %q %+v", text, got.said, got.stop)
		}
	}
}

// A stop and the end of the session do not wait for a program that does not read.
func TestAProgramThatDoesNotReadCanBeStopped(t *testing.T) {
	t.Parallel()
	host := agenttest.NewHost()
	s, _ := watched(t, host, time.Hour)
	ctx, stop := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer stop()
	if got := prompt(ctx, t, host, s, "flood"); got.stop.Outcome != trace.OutcomeCanceled {
		t.Errorf("stopped: %+v", got.stop)
	}
	if err := prompt(t.Context(), t, host, s, "flood after the turn").stop.Error; err != "" {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
