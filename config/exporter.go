package config

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/export/redact"
)

// Exporter is a receiver of spans, to which each turn is sent when it has ended.
type Exporter struct {
	URL string `yaml:"url"`
	// Headers go with each request. The value env:VARIABLE is that of an environment variable.
	Headers map[string]string `yaml:"headers"`
	// AllowHTTP allows http to another machine.
	AllowHTTP bool `yaml:"allow_http"`
	// Content are the classes of content that may leave; nil: all.
	Content     []Content `yaml:"content"`
	NoDenied    bool      `yaml:"no_denied"`
	NoSubagents bool      `yaml:"no_subagents"`
	// Agents are the agents whose sessions are sent; nil: all.
	Agents []string `yaml:"agents"`
	// Gateway has the gateway put its own times on record, and send them as spans of the turn.
	Gateway bool `yaml:"gateway"`
	// Backfill sends the turns, too, that had ended before the exporter's first start.
	Backfill bool `yaml:"backfill"`
}

// Content is a class of redact, or all, or none.
type Content string

// Drop are the classes of content that do not leave.
func (e Exporter) Drop() ([]redact.Class, error) {
	words := make([]string, len(e.Content))
	for i, c := range e.Content {
		words[i] = string(c)
	}
	keep := strings.Join(words, ",")
	if e.Content != nil && keep == "" {
		keep = "none"
	}
	return redact.Parse(cmp.Or(keep, "all")) //nolint:wrapcheck // a sentence
}

// SecretEnv is the environment variable that the value of a header names.
func SecretEnv(value string) (variable string, ok bool) { return strings.CutPrefix(value, "env:") }

func (c *Config) checkExporters() error {
	for _, name := range slices.Sorted(maps.Keys(c.Exporters)) {
		e, at := c.Exporters[name], "exporters."+name
		if !validName(name) {
			return c.Fault(at, "has a name that cannot be used: use letters, digits, - and _, at most 64")
		}
		if e.URL == "" {
			return c.Fault(at, "has no url: write the address of a receiver of OTLP by HTTP, such as https://cloud.langfuse.com/api/public/otel")
		}
		if _, err := e.Drop(); err != nil {
			return c.Fault(at+".content", "cannot be used: %v", err)
		}
		for _, header := range slices.Sorted(maps.Keys(e.Headers)) {
			if _, is := SecretEnv(e.Headers[header]); !is && isKey(header) {
				return c.Fault(at+".headers."+header, "holds a key: write env:VARIABLE, and put the key into that environment variable")
			}
		}
	}
	return nil
}

// isKey reports whether a header's name says that its value is a key.
func isKey(header string) bool {
	return slices.ContainsFunc([]string{"auth", "key", "token", "secret", "password", "cookie"}, func(word string) bool {
		return strings.Contains(strings.ToLower(header), word)
	})
}
