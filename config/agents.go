package config

import (
	"maps"
	"reflect"
	"slices"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// WithAgents reads the key agents of another file, such as a suite of evals, in the place of the
// configuration's own agents. Paths are relative to that file, and so are errors about agents. An
// agent without settings is the one of its name in the configuration, if it is there.
func (c Config) WithAgents(data []byte, file string) (Config, error) {
	other := Config{file: file, lines: map[string]int{}}
	tree, err := parser.ParseBytes(data, 0)
	if err != nil {
		return Config{}, other.syntax(err)
	}
	for _, doc := range tree.Docs {
		if doc.Body == nil {
			continue
		}
		entries, err := other.entries("", doc.Body)
		if err != nil {
			return Config{}, err
		}
		at := slices.IndexFunc(entries, func(e *ast.MappingValueNode) bool { return key(e) == "agents" })
		if at < 0 {
			continue
		}
		if err := other.value("agents", entries[at].Value, reflect.ValueOf(&other.Agents).Elem()); err != nil {
			return Config{}, err
		}
	}
	if err := other.checkAgents(); err != nil {
		return Config{}, err
	}
	if err := other.anchorFiles(); err != nil {
		return Config{}, err
	}
	own := maps.Clone(c.Agents)
	c.Agents, c.file, c.lines = other.Agents, other.file, other.lines
	for name, a := range c.Agents {
		if known, ok := own[name]; ok && reflect.ValueOf(a).IsZero() {
			c.Agents[name] = known
		}
	}
	return c, nil
}
