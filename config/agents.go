package config

import (
	"maps"
	"reflect"

	"github.com/tributary-dev/tributary/internal/yamlfile"
)

// WithAgents reads the key agents of another file, such as a suite of evals, in the place of the
// configuration's own agents. Paths are relative to that file, and so are errors about agents. An
// agent without settings is the one of its name in the configuration, if it is there.
func (c Config) WithAgents(data []byte, file string) (Config, error) {
	document, err := yamlfile.Parse(file, data)
	if err != nil {
		return Config{}, err //nolint:wrapcheck // a Fault
	}
	other := Config{file: file}
	if other.lines, err = document.Only("agents").Decode(&other, rules()); err != nil {
		return Config{}, err //nolint:wrapcheck // a Fault
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
