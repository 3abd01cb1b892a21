package form

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/tributary-dev/tributary/trace"
)

// Field is the schema of a field.
type Field struct {
	Type        string   `json:"type"`
	Title       string   `json:"title"`
	Description string   `json:"description"`
	Enum        []string `json:"enum"`
	OneOf       []Option `json:"oneOf"`
	Items       struct {
		Enum  []string `json:"enum"`
		AnyOf []Option `json:"anyOf"`
	} `json:"items"`
}

// Option is a value that a field may have.
type Option struct {
	Const       string `json:"const"`
	Title       string `json:"title"`
	Description string `json:"description"`
}

const (
	yes = "Yes"
	no  = "No"
)

// options are the values to choose from, each with a title.
func (f Field) options() []Option {
	all := slices.Concat(f.OneOf, f.Items.AnyOf)
	values := slices.Concat(f.Enum, f.Items.Enum)
	if f.Type == "boolean" {
		values = []string{yes, no}
	}
	for _, v := range values {
		all = append(all, Option{Const: v})
	}
	for i, o := range all {
		if o.Title == "" {
			all[i].Title = o.Const
		}
	}
	return all
}

func (f Field) choices() []trace.Choice {
	var all []trace.Choice
	for _, o := range f.options() {
		all = append(all, trace.Choice{Label: o.Title, Description: o.Description})
	}
	return all
}

// value is an answer in the type of the field.
func (f Field) value(answer []string) any {
	options := f.options()
	values := make([]string, len(answer))
	for i, label := range answer {
		values[i] = label
		if at := slices.IndexFunc(options, func(o Option) bool { return o.Title == label }); at >= 0 {
			values[i] = options[at].Const
		}
	}
	joined := strings.Join(values, ", ")
	switch f.Type {
	case "array":
		return values
	case "boolean":
		return strings.EqualFold(joined, yes) || strings.EqualFold(joined, "true")
	case "integer", "number":
		if n, err := strconv.ParseFloat(strings.TrimSpace(joined), 64); err == nil {
			return n
		}
	}
	return joined
}

// words are a value as the answer that it comes from.
func (f Field) words(value any) []string {
	list, ok := value.([]any)
	if !ok {
		list = []any{value}
	}
	options := f.options()
	words := make([]string, len(list))
	for i, v := range list {
		words[i] = word(v)
		if at := slices.IndexFunc(options, func(o Option) bool { return o.Const == words[i] }); at >= 0 {
			words[i] = options[at].Title
		}
	}
	return words
}

func word(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case bool:
		return map[bool]string{true: yes, false: no}[v]
	}
	data, _ := json.Marshal(value) //nolint:errchkjson // the value comes from JSON
	return string(data)
}
