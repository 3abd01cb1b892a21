package cli

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/policy/box"
)

// conversation is a conversation of an agent's own, as it is printed.
type conversation struct {
	Resume  string    `json:"resume"`
	Title   string    `json:"title"`
	Updated time.Time `json:"updated,omitzero"`
}

// conversations prints the conversations that an agent keeps of its workspace.
func (p *program) conversations(ctx context.Context, s *setup, name string, asJSON bool) error {
	made, err := s.agents()
	if err != nil {
		return err
	}
	a, ok := made[name]
	if !ok {
		return usage("there is no agent %q: tributary agents lists them", name)
	}
	rule, _, err := s.gateway().BoxRule(a)
	if err != nil {
		return err
	}
	rule.Write = append(slices.Clone(rule.Write), a.Cwd)
	found, err := agent.ListConversations(box.With(ctx, rule), a.Runtime, agent.Config{Box: rule, Cwd: a.Cwd, Model: a.Model, Options: a.Options})
	if err != nil {
		return err
	}
	all := []conversation{}
	for _, c := range found {
		all = append(all, conversation{c.Token, strings.Join(strings.Fields(c.Title), " "), c.Updated.UTC()})
	}
	if asJSON {
		return json.NewEncoder(p.stdout).Encode(all)
	}
	table := newTable(p.stdout, "RESUME", "UPDATED", "TITLE")
	for _, c := range all {
		updated := "-"
		if !c.Updated.IsZero() {
			updated = c.Updated.Format(time.RFC3339)
		}
		table.row(oneLine(c.Resume), updated, oneLine(c.Title))
	}
	return table.Flush()
}
