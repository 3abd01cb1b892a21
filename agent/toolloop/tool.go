package toolloop

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/google/jsonschema-go/jsonschema"
)

// Tool is something that the model can call.
type Tool struct {
	Name        string
	Description string
	// Schema is the JSON Schema of the input, an object.
	Schema json.RawMessage
	// Run does the work. Run writes text to out to show it while the call runs. An error
	// fails the call, and the model reads the error. Run returns soon after ctx ends.
	Run func(ctx context.Context, input json.RawMessage, out io.Writer) (json.RawMessage, error)
}

// New makes a tool of a function. The struct In describes the input: the tag json names
// a field, and omitempty makes the field optional; the tag jsonschema tells the model
// what the field means. New panics if In has no JSON Schema.
func New[In any](name, description string, run func(context.Context, In) (string, error)) Tool {
	return NewPrinting(name, description, func(ctx context.Context, in In, _ io.Writer) (string, error) { return run(ctx, in) })
}

// NewPrinting is New for a function that writes text to an io.Writer to show it while it runs.
func NewPrinting[In any](name, description string, run func(context.Context, In, io.Writer) (string, error)) Tool {
	return Tool{Name: name, Description: description, Schema: schema[In](name), Run: func(ctx context.Context, raw json.RawMessage, out io.Writer) (json.RawMessage, error) {
		var in In
		if err := json.Unmarshal(raw, &in); err != nil {
			return nil, fmt.Errorf("the input does not fit: %w", err)
		}
		text, err := run(ctx, in, out)
		if text == "" {
			return nil, err
		}
		output, _ := json.Marshal(text) //nolint:errcheck,errchkjson // a string has a JSON form
		return output, err
	}}
}

func schema[In any](tool string) json.RawMessage {
	s, err := jsonschema.For[In](nil)
	if err != nil {
		panic(fmt.Sprintf("toolloop: the input of the tool %s has no schema: %v", tool, err))
	}
	for _, p := range s.Properties {
		if len(p.Types) == 2 && p.Types[0] == "null" { // templates of local models know one type only
			p.Type, p.Types = p.Types[1], nil
		}
	}
	raw, err := json.Marshal(s)
	if err != nil {
		panic(fmt.Sprintf("toolloop: the schema of the tool %s has no JSON form: %v", tool, err))
	}
	return raw
}
