package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// DecodeOptions decodes Config.Options into a struct of the adapter. An unknown key
// is an error, so that a misspelt setting is reported.
func DecodeOptions(options json.RawMessage, into any) error {
	if len(options) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(options))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && wrong.Field != "" {
		return WrongSetting("options."+wrong.Field, "is a %s, and should be %s", wrong.Value, wrong.Type)
	}
	if err != nil {
		if key, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
			return WrongSetting("options", "have the key %s, which the adapter does not know", key)
		}
		return WrongSetting("options", "cannot be read: %v", err)
	}
	return nil
}

// Duration is a time.Duration that options write as a text such as 500ms or 2m.
type Duration time.Duration

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	if err != nil || v < 0 {
		return fmt.Errorf("%q is no duration: write 500ms, 5s or 2m", text)
	}
	*d = Duration(v)
	return nil
}
