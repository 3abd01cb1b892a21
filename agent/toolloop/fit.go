package toolloop

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// fit reads an input. The fault says why the tool cannot run it, or is "". fit refuses keys
// that stand twice and keys that the tool does not know. Readers of JSON differ about such
// keys, and the policy must judge the input that runs.
func (t Tool) fit(input json.RawMessage) (fits json.RawMessage, fault string) {
	if len(bytes.TrimSpace(input)) == 0 {
		input = json.RawMessage("{}")
	}
	given, err := keys(input)
	if err != nil {
		return json.RawMessage("{}"), "The input " + err.Error() + ": write the call again."
	}
	var schema struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
		Additional any                        `json:"additionalProperties"`
	}
	_ = json.Unmarshal(t.Schema, &schema) // a tool without a schema takes anything
	for _, name := range schema.Required {
		if !slices.Contains(given, name) {
			return input, fmt.Sprintf("The input lacks %q: write the call again.", name)
		}
	}
	for _, name := range given {
		if _, ok := schema.Properties[name]; !ok && schema.Additional == false {
			return input, fmt.Sprintf("The input has %q, which the tool does not know: write the call again.", name)
		}
	}
	return input, ""
}

// keys returns the keys of a JSON object.
func keys(input json.RawMessage) (all []string, err error) {
	if !json.Valid(input) || !bytes.HasPrefix(bytes.TrimSpace(input), []byte("{")) {
		return nil, errors.New("is not a JSON object")
	}
	d := json.NewDecoder(bytes.NewReader(input))
	_, err = d.Token()
	for err == nil && d.More() {
		var key json.Token
		var value json.RawMessage
		if key, err = d.Token(); err == nil {
			err = d.Decode(&value)
		}
		name, _ := key.(string)
		if slices.Contains(all, name) {
			return nil, fmt.Errorf("has %q twice", name)
		}
		all = append(all, name)
	}
	return all, err
}
