package quote

import (
	"bytes"
	"encoding/json"
)

// Marshal is json.Marshal without the escapes of <, > and &: nothing of ours is put into HTML.
func Marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// JSON is Marshal for a value that cannot fail, such as one of texts. Another one becomes null.
func JSON(v any) json.RawMessage {
	raw, err := Marshal(v)
	if err != nil {
		return json.RawMessage("null")
	}
	return raw
}
