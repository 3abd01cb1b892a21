package cli

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/config"
	"github.com/tributary-dev/tributary/gateway"
	"github.com/tributary-dev/tributary/policy/box"
	"github.com/tributary-dev/tributary/session"
)

const (
	// probeTime bounds how long an agent may take to tell its version.
	probeTime = 10 * time.Second
	// probeWait is how long the start of the gateway waits for the first probes.
	probeWait = time.Second
	// probeAgain is how often the gateway probes an agent again that could not start.
	probeAgain = time.Minute
)

// probe asks an agent for its version, or why it cannot start here. The program runs in a box.
func probe(ctx context.Context, r agent.Runtime, in box.Rule) gateway.Availability {
	prober, ok := r.(agent.Prober)
	if !ok {
		return gateway.Availability{Known: true, Available: true}
	}
	ctx, cancel := context.WithTimeout(box.With(ctx, in), probeTime)
	defer cancel()
	version, err := prober.Probe(ctx)
	switch {
	case ctx.Err() != nil:
		return gateway.Availability{Known: true, Reason: fmt.Sprintf("it did not tell its version within %s", probeTime)}
	case err != nil:
		return gateway.Availability{Known: true, Reason: err.Error()}
	}
	return gateway.Availability{Known: true, Available: true, Version: version}
}

// probes knows which agents can start.
type probes struct {
	agents    map[string]session.Agent
	box       func(name string) box.Rule
	named     map[string]config.Agent // those that the configuration names
	byDefault string
	logger    *slog.Logger

	mu    sync.Mutex
	found map[string]gateway.Availability
}

// of returns the result of the last probe of an agent.
func (p *probes) of(name string) gateway.Availability {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.found[name]
}

// keep probes all agents, and then probes those that cannot start again and again. keep
// calls first after the first round, and returns when ctx ends.
func (p *probes) keep(ctx context.Context, first func()) {
	p.look(ctx)
	first()
	tick := time.NewTicker(probeAgain)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			p.look(ctx)
		}
	}
}

// look probes all agents at once that have not been able to start yet.
func (p *probes) look(ctx context.Context) {
	var all sync.WaitGroup
	for _, name := range slices.Sorted(maps.Keys(p.agents)) {
		before := p.of(name)
		if before.Available {
			continue
		}
		all.Go(func() {
			now := probe(ctx, p.agents[name].Runtime, p.box(name))
			if ctx.Err() != nil {
				return
			}
			p.mu.Lock()
			p.found[name] = now
			p.mu.Unlock()
			switch {
			case !now.Available && now != before:
				level := slog.LevelInfo // an agent that is only offered need not be installed
				if _, named := p.named[name]; named || name == p.byDefault {
					level = slog.LevelWarn
				}
				p.logger.Log(ctx, level, "an agent cannot start", "agent", name, "default", name == p.byDefault, "why", now.Reason)
			case now.Available && before.Known:
				p.logger.Info("an agent can start now", "agent", name, "version", now.Version)
			}
		})
	}
	all.Wait()
}
