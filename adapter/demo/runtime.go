package demo

import (
	"context"
	"time"

	"github.com/tributary-dev/tributary/agent"
)

// DefaultPace is a comfortable speed to read at.
const DefaultPace = 20 * time.Millisecond

// Runtime opens sessions with the demo.
type Runtime struct {
	// Pace is the time between two words; 0 is no waiting.
	Pace time.Duration
}

var _ interface {
	agent.Runtime
	agent.Prober
	agent.Rewinder
} = Runtime{}

// Probe implements agent.Prober. The demo works everywhere.
func (Runtime) Probe(context.Context) (string, error) { return "built in", nil }

// Rewinds implements agent.Rewinder. A token is the memory of its moment.
func (Runtime) Rewinds(string) bool { return true }

// Open implements agent.Runtime.
func (r Runtime) Open(_ context.Context, host agent.Host, cfg agent.Config) (agent.Session, error) {
	mem, err := parseToken(cfg.Resume)
	if err != nil {
		return nil, err
	}
	life, end := context.WithCancel(context.Background())
	return &session{pace: r.Pace, host: host, memory: mem, life: life, end: end, busy: make(chan struct{}, 1)}, nil
}
