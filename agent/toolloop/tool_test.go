package toolloop_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/agent/toolloop"
)

type order struct {
	Number string   `json:"number" jsonschema:"The number of the order"`
	Count  int      `json:"count,omitempty"`
	Note   *string  `json:"note,omitempty"`
	Tags   []string `json:"tags,omitempty"`
}

func find(_ context.Context, in order) (string, error) {
	switch in.Number {
	case "":
		return "", errors.New("there is no such order")
	case "silent":
		return "", nil
	default:
		return "found " + in.Number, nil
	}
}

func TestToolOfAFunctionDescribesItsInput(t *testing.T) {
	var s struct {
		Type       string
		Properties map[string]struct {
			Type        string // one type each, since templates of local models know no lists
			Description string
		}
		Required             []string
		AdditionalProperties any
	}
	if err := json.Unmarshal(toolloop.New("find", "Finds an order.", find).Schema, &s); err != nil {
		t.Fatal(err)
	}
	if s.Type != "object" || strings.Join(s.Required, " ") != "number" || s.AdditionalProperties != false {
		t.Errorf("the schema is %+v", s)
	}
	for name, want := range map[string]string{"number": "string", "count": "integer", "note": "string", "tags": "array"} {
		if got := s.Properties[name].Type; got != want {
			t.Errorf("%s has the type %q, want %q", name, got, want)
		}
	}
	if got := s.Properties["number"].Description; got != "The number of the order" {
		t.Errorf("the description is %q", got)
	}
}

func TestToolOfAFunctionReturnsItsTextOrItsError(t *testing.T) {
	tool := toolloop.New("find", "Finds an order.", find)
	for input, want := range map[string]string{
		`{"number":"7"}`:      `"found 7"`,
		`{"number":"silent"}`: ``,
		`{"number":""}`:       "there is no such order",
		`{"number":7}`:        "the input does not fit",
	} {
		out, err := tool.Run(t.Context(), json.RawMessage(input), io.Discard)
		if err != nil {
			out = json.RawMessage(err.Error())
		}
		if !strings.HasPrefix(string(out), want) || want == "" && len(out) > 0 {
			t.Errorf("%s: got %s, want %s", input, out, want)
		}
	}
}

func TestToolWhoseInputHasNoSchemaIsRefusedAtOnce(t *testing.T) {
	defer func() {
		if p := recover(); p == nil {
			t.Error("New takes an input that no model can write")
		}
	}()
	toolloop.New("bad", "", func(context.Context, struct{ F func() }) (string, error) { return "", nil })
}
