package permission

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/trace"
)

// closedReason is what an agent reads when it asks for what is closed.
const closedReason = "The data directory of the gateway, its configuration and its secrets are closed to agents."

// touches reports whether a call works on what is closed: yes if the call names that, and
// unsure if a tool that reads whole directories may come across it. Of a command only the
// plain words are known.
func (s Scope) touches(c trace.ToolCall) answer {
	if s.Closed == nil || s.Holds == nil {
		return no
	}
	reach := s.Tools.Reach(c.RawName, c.Input)
	named := s.words(c)
	for _, l := range c.Locations {
		named = append(named, l.Path)
	}
	if reach.Unclear != "" {
		named = append(named, everyString(c.Input)...)
	}
	if slices.ContainsFunc(named[:min(len(named), mostPaths)], s.Closed) {
		return yes
	}
	switch {
	case c.ToolKind == trace.ToolExecute:
		return no
	case len(named) > mostPaths:
		return unsure
	case reach.NamesOnly:
		return no
	case reach.Here:
		named = append(named, ".")
	}
	for _, g := range reach.Globs {
		if front, ok := fixed(strings.TrimPrefix(g, "!")); ok {
			named = append(named, front)
		}
	}
	if slices.ContainsFunc(named, s.Holds) {
		return unsure
	}
	return no
}

// everyString returns all strings of an input that is not understood, keys too.
func everyString(input json.RawMessage) []string {
	var all []string
	d := json.NewDecoder(bytes.NewReader(input))
	for {
		token, err := d.Token()
		if word, is := token.(string); is {
			all = append(all, word)
		}
		if err != nil {
			if !errors.Is(err, io.EOF) {
				all = append(all, string(input))
			}
			return all
		}
	}
}
