package gateway

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"

	"github.com/tributary-dev/tributary/trace"
)

// This file has the route for the tools of a session.

// toolView is a tool as it was seen. All of them run where the agent is, none in a client.
type toolView struct {
	Name             string         `json:"name"`
	RawName          string         `json:"raw_name"`
	Title            string         `json:"title,omitempty"`
	Kind             trace.ToolKind `json:"kind"`
	Calls            int            `json:"calls"`
	ProviderExecuted bool           `json:"provider_executed"`
	InputSchema      *shape         `json:"input_schema"`
}

// toolTurns is how many turns are looked at for tools: what a session calls it calls
// again, and it may have any number of turns.
const toolTurns = 100

// tools lists the tools that a session's agent has called in the last turns, or in as
// many of them as a page of its history holds.
func (g *gateway) tools(w http.ResponseWriter, r *http.Request) error {
	r, b, err := g.page(r)
	if err != nil {
		return err
	}
	defer b.Waits()
	page, err := g.Hub.History(r.Context(), r.PathValue("id"), "", toolTurns)
	if err != nil {
		return err
	}
	if err := b.Reserve(int64(page.Bytes)); err != nil {
		return err
	}
	byName := map[string]*toolView{}
	tools := []*toolView{}
	for rec, err := range page.Records {
		if err != nil {
			return err
		}
		c, ok := rec.Payload.(trace.ToolCall)
		if !ok {
			continue
		}
		tool := byName[c.RawName]
		if tool == nil {
			tool = &toolView{Name: c.Name, RawName: c.RawName, Kind: c.ToolKind, ProviderExecuted: true, InputSchema: &shape{}}
			byName[c.RawName] = tool
			tools = append(tools, tool)
		}
		tool.Calls++
		tool.InputSchema.see(c.Input)
	}
	return writeJSON(w, http.StatusOK, map[string]any{"tools": tools})
}

// pointToTools names the address of the tools' schemas in the header of a stream. A
// header has no room for the schemas, and they follow from calls that are yet to come.
func pointToTools(w http.ResponseWriter, session string) {
	w.Header().Set("Link", fmt.Sprintf(`</api/sessions/%s/tools>; rel="describedby"`, url.PathEscape(session)))
}

// mostProperties bounds the keys of an input that a schema names.
const mostProperties = 64

// shape is what inputs have in common, as a JSON Schema: agents tell no schema of their
// tools, so it is drawn from the calls. It holds no value of any of them.
type shape struct {
	types      map[string]bool
	properties map[string]map[string]bool // their types
	objects    int
	seen       map[string]int
}

func (s *shape) see(input json.RawMessage) {
	if s.types == nil {
		s.types, s.properties, s.seen = map[string]bool{}, map[string]map[string]bool{}, map[string]int{}
	}
	s.types[typeOf(input)] = true
	var object map[string]json.RawMessage
	if json.Unmarshal(input, &object) != nil || object == nil {
		return
	}
	s.objects++
	for name, value := range object {
		if s.properties[name] == nil {
			if len(s.properties) == mostProperties {
				continue
			}
			s.properties[name] = map[string]bool{}
		}
		s.properties[name][typeOf(value)] = true
		s.seen[name]++
	}
}

// typeOf is the type of a value in the words of JSON Schema.
func typeOf(value json.RawMessage) string {
	for _, c := range value {
		switch c {
		case ' ', '\t', '\r', '\n':
			continue
		case '{':
			return "object"
		case '[':
			return "array"
		case '"':
			return "string"
		case 't', 'f':
			return "boolean"
		case 'n':
			return "null"
		}
		return "number"
	}
	return "null"
}

// MarshalJSON implements json.Marshaler.
func (s *shape) MarshalJSON() ([]byte, error) {
	type typed struct {
		Type any `json:"type"`
	}
	properties := map[string]typed{}
	for name, types := range s.properties {
		properties[name] = typed{oneOrMore(types)}
	}
	required := []string{}
	for _, name := range slices.Sorted(maps.Keys(s.seen)) {
		if s.seen[name] == s.objects {
			required = append(required, name)
		}
	}
	if !s.types["object"] {
		return json.Marshal(typed{oneOrMore(s.types)})
	}
	return json.Marshal(struct {
		Type       any              `json:"type"`
		Properties map[string]typed `json:"properties"`
		Required   []string         `json:"required"`
	}{oneOrMore(s.types), properties, required})
}

// oneOrMore is a type, or a list of them.
func oneOrMore(types map[string]bool) any {
	names := slices.Sorted(maps.Keys(types))
	if len(names) == 1 {
		return names[0]
	}
	return names
}
