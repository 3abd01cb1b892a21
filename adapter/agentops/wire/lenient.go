package wire

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
)

// unmarshal decodes data into what v points to. A field of another shape than
// expected counts as absent, except that lost names one that has the tag need. The
// error is [ErrNotJSON].
func unmarshal(data []byte, v any) (lost string, err error) {
	err = json.Unmarshal(data, v)
	if err == nil {
		return "", nil
	}
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) || !json.Valid(data) {
		return "", ErrNotJSON
	}
	to := reflect.ValueOf(v).Elem()
	to.SetZero()
	var l lenient
	if !l.decode(data, to) {
		return "", ErrNotJSON
	}
	return l.lost, nil
}

// lenient decodes field by field, and element by element, and leaves out what has
// another shape.
type lenient struct{ lost string }

// decode reports whether anything fitted. data is valid JSON.
func (l *lenient) decode(data []byte, v reflect.Value) bool {
	_, own := reflect.TypeAssert[json.Unmarshaler](v.Addr())
	switch {
	case v.Kind() == reflect.Struct && !own:
		var fields map[string]json.RawMessage
		if json.Unmarshal(data, &fields) != nil || fields == nil {
			return false
		}
		l.into(fields, v)
		return true
	case v.Kind() == reflect.Pointer && !own && v.Type().Elem().Kind() == reflect.Struct:
		to := reflect.New(v.Type().Elem())
		if string(data) != "null" && l.decode(data, to.Elem()) {
			v.Set(to)
		}
		return true
	case v.Kind() == reflect.Slice && !own && v.Type().Elem().Kind() != reflect.Uint8:
		var elements []json.RawMessage
		if json.Unmarshal(first(data, mostElements), &elements) != nil {
			return false
		}
		for _, e := range elements {
			to := reflect.New(v.Type().Elem()).Elem()
			if l.decode(e, to) {
				v.Set(reflect.Append(v, to))
			}
		}
		return true
	}
	to := reflect.New(v.Type())
	if json.Unmarshal(data, to.Interface()) != nil {
		return false
	}
	v.Set(to.Elem())
	return true
}

// into decodes the fields of a struct, and of those that are embedded in it.
func (l *lenient) into(fields map[string]json.RawMessage, v reflect.Value) {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if f.Anonymous {
			l.into(fields, v.Field(i))
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		data, ok := fields[name]
		if !ok || !f.IsExported() || name == "-" || l.decode(data, v.Field(i)) {
			continue
		}
		if _, needed := f.Tag.Lookup("need"); needed {
			l.lost = name
		}
	}
}
