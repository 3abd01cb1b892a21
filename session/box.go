package session

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/policy/box"
	"github.com/tributary-dev/tributary/policy/egress"
)

// This file has the boxes of agents' processes.

// Boxed says which box the processes of an agent get.
type Boxed struct {
	Form box.Form
	// Reason says why the box is a weaker one than the agent's setting, or "".
	Reason string
	// User names the user of the system as whom the processes run; "" is the gateway's own.
	User string
}

// settleBoxes finds which boxes can be had here. An agent whose box is required and cannot be had is
// an error.
func (h *Hub) settleBoxes() error {
	h.boxed, h.egress = map[string]Boxed{}, map[string]egress.Hosts{}
	for i, path := range h.Closed {
		abs, err := filepath.Abs(path)
		if err != nil {
			return fmt.Errorf("find the current directory: %w", err)
		}
		h.Closed[i] = abs
	}
	h.closed() // no agent runs yet that could move anything
	for _, name := range slices.Sorted(maps.Keys(h.Agents)) {
		a := h.Agents[name]
		if a.InProcess && a.Box.Form == "" && !a.Box.Required && a.User == nil && a.Egress == nil {
			continue
		}
		form, reason, err := a.Boxed()
		if err != nil {
			return fmt.Errorf("the agent %s cannot be offered: %w", name, err)
		}
		h.boxed[name] = Boxed{Form: form, Reason: reason}
		if a.User != nil {
			h.boxed[name] = Boxed{form, reason, a.User.Name}
			if err := (box.Rule{Form: form, User: a.User}).Check(a.Cwd); err != nil {
				return fmt.Errorf("the agent %s cannot be offered: %w", name, err)
			}
		}
		if a.Egress != nil {
			if h.egress[name], err = egress.Parse(a.Egress); err != nil {
				return fmt.Errorf("the egress of the agent %s %w", name, err)
			}
		}
		if reason != "" {
			h.Logger.Info("an agent does not get its box", "agent", name, "box", form, "why", reason)
		}
	}
	return nil
}

// Boxed finds the form of the box that the agent can have here, as box.Setting.Settled does. With Egress
// it needs one, and a network of its own.
func (a Agent) Boxed() (form box.Form, reason string, err error) {
	form, reason, err = a.Box.Settled()
	if err != nil || a.Egress == nil {
		return form, reason, err
	}
	if form == box.Off {
		return form, "", fmt.Errorf("egress needs a box, and the agent has none: %s. Correct that, or remove egress", cmp.Or(reason, "its box is off"))
	}
	if err = box.NetworkAvailable(); err != nil {
		err = fmt.Errorf("egress needs a network of the agent's own, and this machine does not give it: %w. Correct that, or remove egress", err)
	}
	return form, reason, err
}

// BoxOf returns the box of an agent; the zero Boxed is that of an agent without processes.
func (h *Hub) BoxOf(name string) Boxed { return h.boxed[name] }

// BoxRule is the box around the programs of an agent that belong to no session, such as the one that
// tells its version.
func (h *Hub) BoxRule(name string) box.Rule { return h.boxRule(name, nil, "", nil) }

// closed are the files and directories that are closed to the processes of every agent, wherever they are now.
func (h *Hub) closed() []string {
	all := h.Closed
	if h.Workspaces != nil {
		all = append(slices.Clone(all), h.Workspaces.Dir())
	}
	return h.places.Now(all)
}

// boxRule is the box around the programs of an agent that work for a session, or for none, in a directory, which
// may be below a closed one. Strict opens the further paths, too, and what is in open may be below a closed one.
func (h *Hub) boxRule(name string, l *activeSession, cwd string, paths []string, open ...string) box.Rule {
	a := h.Agents[name]
	rule := box.Rule{
		Form: h.boxed[name].Form, Closed: h.closed(), Open: open, Read: a.Box.Read, Write: a.Box.Write, Files: a.Box.Files, User: a.User, Network: h.network(name, l),
	}
	if cwd != "" {
		rule.Write = slices.Concat(a.Box.Write, []string{cwd}, paths)
	}
	if h.Workspaces == nil {
		return rule
	}
	all := h.Workspaces.Dir()
	if rel, err := filepath.Rel(all, cwd); err == nil && filepath.IsLocal(rel) {
		// The note about the workspace, beside it, stays closed.
		way := strings.Split(rel, string(filepath.Separator))
		rule.Open = append(rule.Open, filepath.Join(all, filepath.Join(way[:min(2, len(way))]...)))
	}
	return rule
}
