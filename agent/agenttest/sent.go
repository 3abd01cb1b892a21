package agenttest

import (
	"slices"
	"sync"
	"testing"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/policy/workspace"
	"github.com/tributary-dev/tributary/trace"
)

// SentTap keeps the messages that an agent was sent, one a line.
type SentTap struct {
	mu   sync.Mutex
	sent []byte
}

// Tap is for agent.Config.
func (s *SentTap) Tap(m agent.Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m.Dir == agent.In {
		s.sent = append(append(s.sent, m.Data...), '\n')
	}
}

// Sent returns what was sent since the last Reset.
func (s *SentTap) Sent() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.sent)
}

// Reset forgets what was sent.
func (s *SentTap) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sent = nil
}

// Sent plays a turn in a workspace, and returns the messages that the agent was sent.
func Sent(t testing.TB, r agent.Runtime, d workspace.Dir, parts []trace.InputPart) []byte {
	t.Helper()
	host, tap := NewHost(), &SentTap{}
	host.Dir = d
	s := Open(t, r, host, agent.Config{SessionID: "session", Cwd: d.Path(), Tap: tap.Tap})
	Turn(t, s, host, agent.Prompt{By: "tester", Message: trace.UserMessage{ID: "user-1", Parts: parts}})
	return tap.Sent()
}
