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
// unsure if it may. A tool that reads whole directories may come across it.
func (s Scope) touches(c trace.ToolCall) answer {
	if s.Closed == nil || s.Holds == nil {
		return no
	}
	named := s.texts(c)
	switch {
	case slices.ContainsFunc(named.words, s.Closed):
		return yes
	case named.more || slices.ContainsFunc(named.parts, s.Closed):
		return unsure
	case c.ToolKind == trace.ToolExecute:
		return no
	}
	reach, bases := s.Tools.Reach(c.RawName, c.Input), named.words
	if reach.NamesOnly {
		return no
	}
	if reach.Here {
		bases = append(bases, ".")
	}
	for _, g := range reach.Globs {
		if front, ok := fixed(strings.TrimPrefix(g, "!")); ok {
			bases = append(bases, front)
		}
	}
	if slices.ContainsFunc(bases, s.Holds) {
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
