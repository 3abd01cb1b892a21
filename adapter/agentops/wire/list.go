package wire

import (
	"bytes"
	"slices"
)

// List is a list of which no more is read than somebody could mean: an element that
// says nothing is shorter in a frame than in memory, many times over.
type List[T any] []T

// mostElements is how many elements of a list are read.
const mostElements = 20_000

// UnmarshalJSON implements json.Unmarshaler. Elements of another shape are left out.
func (l *List[T]) UnmarshalJSON(data []byte) error {
	*l = nil
	var all []T
	if _, err := unmarshal(first(data, mostElements), &all); err == nil {
		*l = all
	}
	return nil
}

// first returns an array with no more than most of its elements. data is valid JSON.
func first(data []byte, most int) []byte {
	if bytes.Count(data, []byte(",")) < most {
		return data
	}
	depth, n := 0, 0
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '"':
			for i++; i < len(data) && data[i] != '"'; i++ {
				if data[i] == '\\' {
					i++
				}
			}
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		case ',':
			if depth != 1 {
				continue
			}
			if n++; n == most {
				return append(slices.Clone(data[:i]), ']')
			}
		}
	}
	return data
}
