package yamlfile

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
)

type decoder struct {
	rules Rules
	lines Lines
}

// fault is an error at a node.
func (d *decoder) fault(n ast.Node, path, format string, args ...any) error {
	if path == "" {
		path = "the file"
	}
	return &Fault{d.lines.file, line(n), path + " " + fmt.Sprintf(format, args...)}
}

// note keeps the line of the value at a path: that of its key, if it has one.
func (d *decoder) note(path string, n ast.Node) {
	if d.lines.byPath[path] == 0 {
		d.lines.byPath[path] = line(n)
	}
}

// value decodes a node.
func (d *decoder) value(path string, n ast.Node, into reflect.Value) error {
	d.note(path, n)
	switch n := n.(type) {
	case *ast.NullNode:
		return d.fault(n, path, "has no value: give it one, or remove the key")
	case *ast.AnchorNode, *ast.AliasNode, *ast.TagNode:
		return d.fault(n, path, "uses an anchor, an alias or a tag: write the value itself")
	}
	if into.CanAddr() {
		if own, is := reflect.TypeAssert[Decoder](into.Addr()); is {
			return own.DecodeYAML(Value{d, path, n}) //nolint:wrapcheck // a Fault
		}
		if own, is := reflect.TypeAssert[encoding.TextUnmarshaler](into.Addr()); is {
			return d.text(path, n, own)
		}
	}
	switch {
	case into.Kind() == reflect.Pointer:
		into.Set(reflect.New(into.Type().Elem()))
		if isNumber(into.Type().Elem()) {
			return d.number(path, n, into.Elem(), true)
		}
		return d.value(path, n, into.Elem())
	case isNumber(into.Type()):
		return d.number(path, n, into, false)
	case into.Type() == reflect.TypeFor[json.RawMessage]():
		return d.raw(path, n, into)
	}
	switch into.Kind() {
	case reflect.Struct:
		return d.group(path, n, fields(into))
	case reflect.Map:
		return d.table(path, n, into)
	case reflect.Slice:
		return d.list(path, n, into)
	case reflect.Bool:
		b, ok := n.(*ast.BoolNode)
		if !ok {
			return d.fault(n, path, "is %s: write true or false", describe(n))
		}
		into.SetBool(b.Value)
		return nil
	case reflect.Interface:
		return d.anything(path, n, into)
	default:
		return d.word(path, n, into)
	}
}

// field is a key of a struct, and the place of its value.
type field struct {
	key  string
	into reflect.Value
}

// fields are the keys of a struct, in order.
func fields(of reflect.Value) (all []field) {
	for f, v := range of.Fields() {
		name, more, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		switch {
		case more == "inline":
			all = append(all, fields(v)...)
		case name != "" && name != "-":
			all = append(all, field{name, v})
		}
	}
	return all
}

// group decodes a mapping whose keys are known.
func (d *decoder) group(path string, n ast.Node, into []field) error {
	all := entries(n)
	if all == nil {
		return d.fault(n, path, "is %s: write keys and values, each key on a line of its own", inPlace(path, n))
	}
	places, known := map[string]reflect.Value{}, make([]string, len(into))
	for i, f := range into {
		places[f.key], known[i] = f.into, f.key
	}
	for _, e := range all {
		at := join(path, key(e))
		place, ok := places[key(e)]
		if !ok {
			return d.fault(e.Key, at, "is not a key here: the keys are %s", strings.Join(known, ", "))
		}
		d.note(at, e.Key)
		if err := d.value(at, e.Value, place); err != nil {
			return err
		}
	}
	return nil
}

// table decodes a mapping whose keys are free.
func (d *decoder) table(path string, n ast.Node, into reflect.Value) error {
	all := entries(n)
	if all == nil {
		return d.fault(n, path, "is %s: write keys and values, each key on a line of its own", inPlace(path, n))
	}
	into.Set(reflect.MakeMap(into.Type()))
	for _, e := range all {
		at := join(path, key(e))
		d.note(at, e.Key)
		v := reflect.New(into.Type().Elem()).Elem()
		if _, null := e.Value.(*ast.NullNode); !null || v.Kind() != reflect.Struct && v.Kind() != reflect.Interface { // a name alone is a group like any other
			if err := d.value(at, e.Value, v); err != nil {
				return err
			}
		}
		into.SetMapIndex(reflect.ValueOf(key(e)), v)
	}
	return nil
}

func (d *decoder) list(path string, n ast.Node, into reflect.Value) error {
	of := into.Type().Elem()
	if _, is := plain(n); is && (reflect.PointerTo(of).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) || len(d.words(of)) > 0) { // one word is a list of one
		into.Set(reflect.MakeSlice(into.Type(), 1, 1))
		return d.value(path, n, into.Index(0))
	}
	s, ok := n.(*ast.SequenceNode)
	if !ok {
		return d.fault(n, path, "is %s: write a list, each entry on a line that begins with -", describe(n))
	}
	into.Set(reflect.MakeSlice(into.Type(), len(s.Values), len(s.Values)))
	for i, v := range s.Values {
		if err := d.value(fmt.Sprintf("%s[%d]", path, i), v, into.Index(i)); err != nil {
			return err
		}
	}
	return nil
}

// raw takes a group of keys as JSON: somebody else reads it.
func (d *decoder) raw(path string, n ast.Node, into reflect.Value) error {
	if entries(n) == nil {
		return d.fault(n, path, "is %s: write keys and values, each key on a line of its own", inPlace(path, n))
	}
	v := reflect.New(reflect.TypeFor[any]()).Elem()
	if err := d.anything(path, n, v); err != nil {
		return err
	}
	data, err := json.Marshal(v.Interface())
	if err != nil {
		return d.fault(n, path, "cannot be read: write texts, numbers, true, false, lists and groups of keys")
	}
	into.SetBytes(data)
	return nil
}

// anything takes a value as YAML says it.
func (d *decoder) anything(path string, n ast.Node, into reflect.Value) error {
	if found := ast.Filter(ast.AliasType, n); len(found) > 0 { // a few of them can stand for more than there is memory
		return d.fault(found[0], path, "uses an anchor, an alias or a tag: write the value itself")
	}
	var v any
	if err := yaml.NodeToValue(n, &v); err != nil {
		return d.fault(n, path, "cannot be read: write texts, numbers, true, false, lists and groups of keys")
	}
	if v != nil {
		into.Set(reflect.ValueOf(v))
	}
	return nil
}

func isNumber(t reflect.Type) bool {
	return t == reflect.TypeFor[time.Duration]() || t.Kind() == reflect.Int || t.Kind() == reflect.Float64
}
