package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os/exec"
	"runtime"
	"slices"
	"sync"

	"github.com/tributary-dev/tributary/policy/box"
	"github.com/tributary-dev/tributary/session"
)

type agentsCommand struct {
	Config string `placeholder:"FILE" help:"The configuration (default ./tributary.yaml, if it is there)."`
	JSON   bool   `name:"json" help:"Print JSON."`
	// Conversations names an agent.
	Conversations string `placeholder:"NAME" help:"List the conversations that the agent NAME keeps of its workspace."`
}

// agentStatus reports whether an agent can start here.
type agentStatus struct {
	Name    string `json:"name"`
	Adapter string `json:"adapter"`
	Default bool   `json:"default"`
	Version string `json:"version,omitempty"`
	Ready   bool   `json:"ready"`
	// Problem says why the agent cannot start here.
	Problem string `json:"problem,omitempty"`
	// Box is the form of the box around its processes, and BoxReason why it is not the one of the
	// configuration.
	Box       box.Form `json:"box,omitempty"`
	BoxReason string   `json:"box_reason,omitempty"`
	// User is the user of the system as whom its processes run, if it has one of its own.
	User string `json:"user,omitempty"`
	// Warnings name the settings by which the agent may act without asking.
	Warnings []string `json:"warnings,omitempty"`
}

// Run lists the agents.
func (c *agentsCommand) Run(ctx context.Context, p *program) error {
	cfg, err := load(p.kinds(), c.Config, flags{})
	if err != nil {
		return err
	}
	return p.untilSignal(ctx, exitCanceled, func(ctx context.Context) error {
		if err := cfg.lookForTokens(ctx, p); err != nil {
			return err
		}
		if c.Conversations != "" {
			return p.conversations(ctx, &cfg, c.Conversations, c.JSON)
		}
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
		table := newTable(p.stdout, "NAME", "ADAPTER", "VERSION", "BOX", "STATUS")
		var warnings []string
		for _, s := range all {
			status := "ready"
			if !s.Ready {
				status = oneParagraph(s.Problem) // not cut: its end says what to do
			}
			for _, warning := range s.Warnings {
				warnings = append(warnings, "the agent "+s.Name+": "+warning)
			}
			if s.Default {
				status += " (default)"
			}
			switch {
			case s.BoxReason == "":
			case cfg.Agents[s.Name].Box.Form == "" && cfg.people == oneHere: // nobody has asked for it, so this is no warning
				status += fmt.Sprintf("; its box is %s: %s", s.Box, oneParagraph(s.BoxReason))
			default:
				warnings = append(warnings, fmt.Sprintf("the agent %s does not get its box, only %s: %s", s.Name, s.Box, s.BoxReason))
			}
			in := cmp.Or(string(s.Box), "-")
			if s.User != "" {
				in += ", user " + s.User
			}
			table.row(s.Name, s.Adapter, oneLine(cmp.Or(s.Version, "-")), oneLine(in), status)
		}
		err = table.Flush()
		for _, warning := range warnings {
			fmt.Fprintln(p.stderr, "tributary:", warning)
		}
		return err
	})
}

// lookForTokens counts created tokens for a command that lists agents, and says so if it cannot.
func (s *setup) lookForTokens(ctx context.Context, p *program) error {
	data, err := dataDir(s.Data)
	if err != nil {
		return nil //nolint:nilerr // without a home directory there is no gateway of this person
	}
	db, err := storeOf(data, s.DB)
	if err != nil {
		db = s.DB
	}
	known, err := s.countTokens(ctx, data, db, "")
	if !known {
		fmt.Fprintf(p.stderr, "tributary: the tokens of the gateway in %s cannot be read, so the boxes are those of a gateway that has some\n", data)
	}
	return err
}

// probeAll asks all agents at once.
func (s *setup) probeAll(ctx context.Context) ([]agentStatus, error) {
	made, err := s.agents()
	if err != nil {
		return nil, err
	}
	all := make([]agentStatus, len(made))
	var probes sync.WaitGroup
	for i, name := range slices.Sorted(maps.Keys(made)) {
		kind, preset, err := s.adapterOf(name)
		if err != nil {
			return nil, err
		}
		all[i] = agentStatus{Name: name, Adapter: cmp.Or(preset.Name, kind.Name), Default: name == s.DefaultAgent, Warnings: s.warnings(name)}
		rule, reason, err := s.gateway().BoxRule(made[name])
		if err != nil {
			return nil, s.Fault("agents."+name, "cannot be had: %v", err)
		}
		if u := made[name].User; u != nil {
			all[i].User = u.Name
		}
		if !kind.Harmless {
			all[i].Box, all[i].BoxReason = rule.Form, reason
		}
		probes.Go(func() {
			found := probe(ctx, made[name].Runtime, rule)
			all[i].Ready, all[i].Problem, all[i].Version = found.Available, found.Reason, found.Version
			if !found.Available && preset.Install != "" {
				all[i].Problem += "; get it with " + preset.Install
			}
		})
	}
	probes.Wait()
	return append(all, s.unused(ctx)...), nil
}

// unused are the agents that the program could run, and that the configuration does not
// offer.
func (s *setup) unused(ctx context.Context) []agentStatus {
	var all []*agentStatus
	var probes sync.WaitGroup
	free := make(chan struct{}, runtime.NumCPU()) // each probe starts a program
	add := func(name, adapter, command, install string, asksNobody bool) {
		if _, offered := s.Agents[name]; offered {
			return
		}
		entry := "{}"
		if asksNobody {
			entry = "{allow_bypass: true}"
		}
		one := &agentStatus{Name: name, Adapter: adapter, Problem: fmt.Sprintf("not configured: write `agents: {%s: %s}`", name, entry)}
		all = append(all, one)
		if asksNobody {
			one.Problem += ", which lets it run every command unasked"
		}
		switch _, err := exec.LookPath(command); {
		case command == "":
		case err == nil:
			probes.Go(func() {
				free <- struct{}{}
				defer func() { <-free }()
				one.look(ctx, s)
			})
		default:
			one.Problem += fmt.Sprintf("; %s is not on PATH", command)
			if install != "" {
				one.Problem += ": " + install
			}
		}
	}
	for _, a := range s.kinds {
		if a.Needs == "" {
			add(a.Name, a.Name, "", "", false)
		}
		for _, p := range a.Presets {
			add(p.Name, a.Name, p.Command, p.Install, p.AsksNobody)
		}
	}
	probes.Wait()
	var found []agentStatus
	for _, one := range all {
		found = append(found, *one)
	}
	return found
}

// look asks an installed agent that is not configured for its version.
func (one *agentStatus) look(ctx context.Context, s *setup) {
	m, err := s.settle(one.Name)
	if err != nil {
		return // the configuration would say more
	}
	r, err := m.Kind.Make(m.Settings)
	if err != nil {
		return // as above
	}
	in, _, err := s.gateway().BoxRule(session.Agent{})
	if err != nil {
		return // nothing requires it
	}
	found := probe(ctx, r, in)
	one.Version = found.Version
	if !found.Available {
		one.Problem += "; " + found.Reason
	}
}
