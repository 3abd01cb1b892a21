package scriptedmodel

import (
	"encoding/json"
	"strings"
)

// schema is the part of a tool's JSON schema that scripts look at.
type schema struct {
	Properties map[string]property `json:"properties"`
}

type property struct {
	Type  any             `json:"type"`  // a string, or a list of them
	Items json.RawMessage `json:"items"` // of a list; a schema or true
}

// tool returns the tool that takes this input.
func (s schema) tool(name string) Tool {
	t := Tool{Name: name, Properties: map[string]string{}}
	for key, p := range s.Properties {
		kind, _ := p.Type.(string)
		t.Properties[key] = strings.ToLower(kind) // Gemini's own schema writes STRING
		var items schema
		if json.Unmarshal(p.Items, &items) != nil || len(items.Properties) == 0 {
			continue
		}
		if t.Items == nil {
			t.Items = map[string]Tool{}
		}
		t.Items[key] = items.tool("")
	}
	return t
}
