package langgraph

import (
	"encoding/json"
	"strings"

	"github.com/tributary-dev/tributary/trace"
)

// raw is JSON that is not decoded yet.
type raw = json.RawMessage

// object is a JSON object. Any field may be missing or of another type than expected: LangChain,
// its providers and the users' graphs differ.
type object map[string]raw

func objectOf(data raw) (o object) {
	if begins(data, '{') {
		_ = json.Unmarshal(data, &o) // else it has no fields
	}
	return o
}

// begins reports whether JSON is an object, a list or a text, by its first byte: some JSON is long.
func begins(data raw, with byte) bool { return len(data) > 0 && data[0] == with }

func (o object) in(key string) object { return objectOf(o[key]) }

// text is the first of some fields that is a text, and not empty.
func (o object) text(keys ...string) string {
	for _, key := range keys {
		if s := text(o[key]); s != "" {
			return s
		}
	}
	return ""
}

// number is a field that counts.
func (o object) number(key string) (n int64) {
	_ = json.Unmarshal(o[key], &n) // else it is 0
	return n
}

// first is the first of some fields that is there; nil if none is.
func (o object) first(keys ...string) raw {
	for _, key := range keys {
		if v := o[key]; v != nil && string(v) != "null" {
			return v
		}
	}
	return nil
}

// list are the elements of a field.
func list[T any](data raw) (all []T) {
	if begins(data, '[') {
		_ = json.Unmarshal(data, &all) // what has another type is skipped
	}
	return all
}

// listed are the elements of a list, or one value that is none.
func listed(data raw) []raw {
	if begins(data, '[') {
		return list[raw](data)
	}
	return []raw{data}
}

// text is a JSON string, or "".
func text(data raw) string {
	var s trace.JSONText
	if begins(data, '"') {
		_ = s.UnmarshalJSON(data) // else it is ""
	}
	return string(s)
}

// unquoted is JSON, or the object or the list that a JSON string holds.
func unquoted(data raw) raw {
	s := strings.TrimSpace(text(data))
	if (strings.HasPrefix(s, "{") || strings.HasPrefix(s, "[")) && json.Valid([]byte(s)) {
		return raw(s)
	}
	return data
}
