package cli

import (
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/agent"
)

// catalog is the adapters that the program knows, in the order of their names.
type catalog []agent.Adapter

// with adds adapters. An adapter replaces an earlier adapter of the same name.
func (c catalog) with(more []agent.Adapter) catalog {
	for _, a := range more {
		c = slices.DeleteFunc(c, func(b agent.Adapter) bool { return b.Name == a.Name })
		c = append(c, a)
	}
	slices.SortFunc(c, func(a, b agent.Adapter) int { return strings.Compare(a.Name, b.Name) })
	return c
}

// find returns the adapter of a name. The name may be the name of a preset.
func (c catalog) find(name string) (agent.Adapter, agent.Preset, bool) {
	for _, a := range c {
		if a.Name == name {
			return a, agent.Preset{}, true
		}
	}
	for _, a := range c {
		for _, p := range a.Presets {
			if p.Name == name {
				return a, p, true
			}
		}
	}
	return agent.Adapter{}, agent.Preset{}, false
}

// names lists the adapters and their presets.
func (c catalog) names() string {
	var names []string
	for _, a := range c {
		names = append(names, a.Name)
		for _, p := range a.Presets {
			names = append(names, p.Name)
		}
	}
	return strings.Join(names, ", ")
}

// readers lists the adapters that read recordings.
func (c catalog) readers() string {
	var names []string
	for _, a := range c {
		if a.Decoder != nil {
			names = append(names, a.Name)
		}
	}
	return strings.Join(names, ", ")
}
