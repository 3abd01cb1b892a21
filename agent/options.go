package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
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
			return WrongSetting("options", "have the key %s, which the adapter does not know%s", key, known(options, key, into))
		}
		return WrongSetting("options", "cannot be read: %v", err)
	}
	return nil
}

// known goes on after the sentence about an unknown key: with the keys that there are, if
// the key stands at the top.
func known(options json.RawMessage, key string, into any) string {
	var top map[string]json.RawMessage
	t := reflect.TypeOf(into)
	if json.Unmarshal(options, &top) != nil || top[strings.Trim(key, `"`)] == nil || t.Kind() != reflect.Pointer || t.Elem().Kind() != reflect.Struct {
		return ""
	}
	var keys []string
	for _, f := range reflect.VisibleFields(t.Elem()) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
			keys = append(keys, name)
		}
	}
	if keys == nil {
		return ": it knows none"
	}
	return ": the keys are " + strings.Join(keys, ", ")
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
