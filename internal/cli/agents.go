package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/tributary-dev/tributary/agent"
)

// probeTime bounds how long an agent may take to tell its version.
const probeTime = 10 * time.Second

type agentsCommand struct {
	Config string `placeholder:"FILE" help:"The configuration (default ./tributary.yaml, if it is there)."`
	JSON   bool   `name:"json" help:"Print JSON."`
}

// standing is what is known of an agent.
type standing struct {
	Name    string `json:"name"`
	Adapter string `json:"adapter"`
	Default bool   `json:"default"`
	Version string `json:"version,omitempty"`
	Ready   bool   `json:"ready"`
	// Problem says why the agent cannot start here.
	Problem string `json:"problem,omitempty"`
}

// Run lists the agents.
func (c *agentsCommand) Run(ctx context.Context, p *program) error {
	cfg, err := load(p.kinds(), c.Config, flags{})
	if err != nil {
		return err
	}
	return p.untilSignal(ctx, exitCanceled, func(ctx context.Context) error {
		all, err := cfg.probeAll(ctx)
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			return &exitError{status: exitCanceled}
		}
		if c.JSON {
			return json.NewEncoder(p.stdout).Encode(all)
		}
		table := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
		fmt.Fprintln(table, "NAME\tADAPTER\tVERSION\tSTATUS")
		for _, s := range all {
			status := "ready"
			if !s.Ready {
				status = oneLine(s.Problem)
			}
			if s.Default {
				status += " (default)"
			}
			version := s.Version
			if version == "" {
				version = "-"
			}
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", s.Name, s.Adapter, oneLine(version), status)
		}
		return table.Flush()
	})
}

// probeAll asks all agents at once.
func (c *setup) probeAll(ctx context.Context) ([]standing, error) {
	made, err := c.agents()
	if err != nil {
		return nil, err
	}
	all := make([]standing, len(made))
	var probes sync.WaitGroup
	for i, name := range slices.Sorted(maps.Keys(made)) {
		kind, _, err := c.adapterOf(name)
		if err != nil {
			return nil, err
		}
		all[i] = standing{Name: name, Adapter: kind.Name, Default: name == c.DefaultAgent, Ready: true}
		if prober, ok := made[name].Runtime.(agent.Prober); ok {
			probes.Go(func() { all[i].probe(ctx, prober) })
		}
	}
	probes.Wait()
	return all, nil
}

func (s *standing) probe(ctx context.Context, p agent.Prober) {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	version, err := p.Probe(ctx)
	switch {
	case ctx.Err() != nil:
		s.Ready, s.Problem = false, fmt.Sprintf("it did not tell its version within %s", probeTime)
	case err != nil:
		s.Ready, s.Problem = false, err.Error()
	default:
		s.Version = version
	}
}
