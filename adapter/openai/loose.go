package openai

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/tributary-dev/tributary/trace"
)

// The types of this file read values that servers write in different forms. They never fail:
// an unknown form is an empty value.

// word is a string, or a number as a string.
type word string

// UnmarshalJSON implements json.Unmarshaler.
func (w *word) UnmarshalJSON(value []byte) error {
	var text trace.JSONText
	switch {
	case text.UnmarshalJSON(value) == nil: // the decoder has checked the value: a text may be very long
		*w = word(text)
	case json.Unmarshal(value, new(json.Number)) == nil:
		*w = word(value)
	}
	return nil
}

// count is a number that is not negative.
type count int64

// UnmarshalJSON implements json.Unmarshaler.
func (c *count) UnmarshalJSON(value []byte) error {
	n, err := strconv.ParseFloat(strings.Trim(string(value), `"`), 64)
	if err == nil && n > 0 {
		*c = count(min(n, math.MaxInt32<<8))
	}
	return nil
}

// arguments are a text; some servers send the object itself.
type arguments string

// UnmarshalJSON implements json.Unmarshaler.
func (a *arguments) UnmarshalJSON(value []byte) error {
	if string(value) != "null" && json.Unmarshal(value, (*string)(a)) != nil {
		*a = arguments(value)
	}
	return nil
}

// list is a list. One value that is no list is a list of one.
type list[T any] []T

// UnmarshalJSON implements json.Unmarshaler. Values of another form are left out.
func (l *list[T]) UnmarshalJSON(value []byte) error {
	var all []raw
	if string(value) == "null" {
		return nil
	}
	if json.Unmarshal(value, &all) != nil {
		all = []raw{value}
	}
	for _, one := range all {
		var v T
		if json.Unmarshal(one, &v) == nil {
			*l = append(*l, v)
		}
	}
	return nil
}

// prose is a text that some servers write as a list of typed parts.
type prose struct {
	text, thought string
	pictures      []picture
	present       bool // the value is a string, which may be empty
}

// UnmarshalJSON implements json.Unmarshaler.
func (p *prose) UnmarshalJSON(value []byte) error {
	var text trace.JSONText
	if string(value) == "null" {
		return nil
	}
	if json.Unmarshal(value, &text) == nil {
		p.text, p.present = string(text), true
		return nil
	}
	var parts list[struct {
		Text     word
		Thinking prose
		picture
	}]
	_ = json.Unmarshal(value, &parts)
	for _, part := range parts {
		p.text += string(part.Text)
		p.thought += part.Thinking.text
		if part.picture.address() != "" {
			p.pictures = append(p.pictures, part.picture)
		}
	}
	return nil
}
