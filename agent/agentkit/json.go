package agentkit

import (
	"bytes"
	"encoding/json"
)

// Encode makes JSON of a value, on one line and with <, > and & as they are. A value
// that has no JSON becomes null.
func Encode(v any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return json.RawMessage("null")
	}
	return bytes.TrimSpace(b.Bytes())
}

// SameJSON reports whether two values are the same but for space and the order of keys.
func SameJSON(a, b json.RawMessage) bool {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	return bytes.Equal(Encode(x), Encode(y))
}
