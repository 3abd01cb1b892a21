package gateway

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// maxPassedOn bounds what is put on record as it was sent, whatever it is.
const maxPassedOn = 1 << 20

// passOn makes the JSON of a value that is passed on as it is. The texts are measured
// first, because JSON may take six bytes for one byte of text.
func passOn(name string, v any) (json.RawMessage, error) {
	if textsIn(v) > maxPassedOn {
		return nil, tooMuchPassedOn(name)
	}
	raw, err := json.Marshal(v)
	switch {
	case err != nil:
		return nil, malformed("The `%s` cannot be read.", name)
	case len(raw) > maxPassedOn:
		return nil, tooMuchPassedOn(name)
	}
	return raw, nil
}

func tooMuchPassedOn(name string) error {
	return &bodyError{http.StatusRequestEntityTooLarge, fmt.Sprintf("The `%s` is larger than %d MB: send less.", name, maxPassedOn>>20)}
}

// textsIn is the length of all texts and numbers in a value.
func textsIn(v any) (n int) {
	switch v := v.(type) {
	case string:
		return len(v)
	case json.Number:
		return len(v)
	case []any:
		for _, item := range v {
			n += textsIn(item)
		}
	case map[string]any:
		for key, item := range v {
			n += len(key) + textsIn(item)
		}
	}
	return n
}
