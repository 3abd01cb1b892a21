package quote

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"time"
)

// JSONError says an error of encoding/json in words of JSON, for the person who wrote it. Any other
// error stays as it is.
func JSONError(err error) error {
	if syntax, is := errors.AsType[*json.SyntaxError](err); is {
		return fmt.Errorf("it is no JSON at byte %d: %w", syntax.Offset, err)
	}
	if clock, is := errors.AsType[*time.ParseError](err); is {
		return fmt.Errorf("%q is no time in the form 2026-03-04T05:06:07Z", clock.Value)
	}
	wrong, is := errors.AsType[*json.UnmarshalTypeError](err)
	if !is {
		return err
	}
	name := "the whole"
	if wrong.Field != "" {
		name = "its " + wrong.Field
	}
	value, is := map[string]string{"array": "a list", "object": "an object", "string": "a text", "bool": "true or false"}[wrong.Value]
	if !is {
		value = "a " + wrong.Value
	}
	want, is := map[reflect.Kind]string{reflect.Slice: "a list", reflect.Struct: "an object", reflect.Map: "an object", reflect.String: "a text", reflect.Bool: "true or false"}[wrong.Type.Kind()]
	if !is {
		want = "another number"
		if value != "a "+wrong.Value {
			want = "a number"
		}
	}
	return fmt.Errorf("%s is %s, and %s belongs there", name, value, want)
}
