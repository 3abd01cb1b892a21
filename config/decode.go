package config

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/tributary-dev/tributary/access"
)

// decode fills the configuration from YAML. It walks the syntax tree itself: so
// every error can name the line and what could stand there.
func (c *Config) decode(data []byte) error {
	tree, err := parser.ParseBytes(data, 0)
	if err != nil {
		return c.syntax(err)
	}
	docs := slices.DeleteFunc(tree.Docs, func(d *ast.DocumentNode) bool { return d.Body == nil })
	if len(docs) == 0 {
		return nil
	}
	if len(docs) > 1 {
		return &Fault{c.file, line(docs[1].Body), "a second document begins here: write everything into one"}
	}
	return c.value("", docs[0].Body, reflect.ValueOf(c).Elem())
}

// syntax makes one sentence of a parser's error.
func (c *Config) syntax(err error) error {
	f := &Fault{File: c.file, Sentence: "the YAML cannot be read: " + err.Error()}
	if located, ok := errors.AsType[yaml.Error](err); ok {
		f.Sentence = "the YAML cannot be read: " + located.GetMessage()
		if t := located.GetToken(); t != nil && t.Position != nil {
			f.Line = t.Position.Line
		}
	}
	return f
}

func line(n ast.Node) int {
	if t := n.GetToken(); t != nil && t.Position != nil {
		return t.Position.Line
	}
	return 0
}

// fault is an error at a node.
func (c *Config) fault(n ast.Node, path, format string, args ...any) error {
	if path == "" {
		path = "the file"
	}
	return &Fault{c.file, line(n), path + " " + fmt.Sprintf(format, args...)}
}

// value decodes a node into a Go value.
func (c *Config) value(path string, n ast.Node, into reflect.Value) error {
	if _, known := c.lines[path]; !known {
		c.lines[path] = line(n)
	}
	switch n := n.(type) {
	case *ast.NullNode:
		return c.fault(n, path, "has no value: give it one, or remove the key")
	case *ast.AnchorNode, *ast.AliasNode, *ast.TagNode:
		return c.fault(n, path, "uses an anchor, an alias or a tag: write the value itself")
	}
	switch {
	case into.Kind() == reflect.Pointer:
		into.Set(reflect.New(into.Type().Elem()))
		return c.pointed(path, n, into.Elem())
	case reflect.PointerTo(into.Type()).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()):
		return c.text(path, n, into)
	case into.Type() == reflect.TypeFor[time.Duration]():
		return c.duration(path, n, into, 1)
	case into.Type() == reflect.TypeFor[json.RawMessage]():
		return c.raw(path, n, into)
	}
	switch into.Kind() {
	case reflect.Struct:
		return c.section(path, n, into)
	case reflect.Map:
		return c.table(path, n, into)
	case reflect.Slice:
		return c.list(path, n, into)
	case reflect.Bool:
		b, ok := n.(*ast.BoolNode)
		if !ok {
			return c.fault(n, path, "is %s: write true or false", describe(n))
		}
		into.SetBool(b.Value)
		return nil
	case reflect.Int:
		return c.number(path, n, into)
	default:
		return c.word(path, n, into)
	}
}

// pointed decodes what may be zero, since it can be told from what is not said.
func (c *Config) pointed(path string, n ast.Node, into reflect.Value) error {
	if into.Type() == reflect.TypeFor[time.Duration]() {
		return c.duration(path, n, into, 0)
	}
	return c.value(path, n, into)
}

// entries lists the keys and values of a mapping.
func (c *Config) entries(path string, n ast.Node) ([]*ast.MappingValueNode, error) {
	switch n := n.(type) {
	case *ast.MappingNode:
		return n.Values, nil
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}, nil
	}
	return nil, c.fault(n, path, "is %s: write keys and values, each key on a line of its own", describe(n))
}

func key(n *ast.MappingValueNode) string {
	if s, ok := n.Key.(*ast.StringNode); ok {
		return s.Value
	}
	return n.Key.GetToken().Value
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// section decodes a mapping into a struct.
func (c *Config) section(path string, n ast.Node, into reflect.Value) error {
	entries, err := c.entries(path, n)
	if err != nil {
		return err
	}
	fields := map[string]int{}
	var known []string
	for i := range into.NumField() {
		if name, _, _ := strings.Cut(into.Type().Field(i).Tag.Get("yaml"), ","); name != "" {
			fields[name] = i
			known = append(known, name)
		}
	}
	for _, e := range entries {
		name := key(e)
		i, ok := fields[name]
		if !ok {
			return c.fault(e.Key, join(path, name), "is not a key here: the keys are %s", strings.Join(known, ", "))
		}
		c.lines[join(path, name)] = line(e.Key)
		if err := c.value(join(path, name), e.Value, into.Field(i)); err != nil {
			return err
		}
	}
	return nil
}

// table decodes a mapping into a map.
func (c *Config) table(path string, n ast.Node, into reflect.Value) error {
	entries, err := c.entries(path, n)
	if err != nil {
		return err
	}
	into.Set(reflect.MakeMap(into.Type()))
	for _, e := range entries {
		at := join(path, key(e))
		c.lines[at] = line(e.Key)
		v := reflect.New(into.Type().Elem()).Elem()
		if _, null := e.Value.(*ast.NullNode); !null || v.Kind() != reflect.Struct { // `demo:` alone is an agent like any other
			if err := c.value(at, e.Value, v); err != nil {
				return err
			}
		}
		into.SetMapIndex(reflect.ValueOf(key(e)), v)
	}
	return nil
}

// raw takes a group of keys as JSON: somebody else reads it.
func (c *Config) raw(path string, n ast.Node, into reflect.Value) error {
	if _, err := c.entries(path, n); err != nil {
		return err
	}
	var v map[string]any
	err := yaml.NodeToValue(n, &v)
	if err != nil {
		return c.fault(n, path, "cannot be read: write keys and values")
	}
	data, err := json.Marshal(v)
	if err != nil {
		return c.fault(n, path, "cannot be read: write texts, numbers, true, false, lists and groups of keys")
	}
	into.SetBytes(data)
	return nil
}

func (c *Config) list(path string, n ast.Node, into reflect.Value) error {
	s, ok := n.(*ast.SequenceNode)
	if _, one := plain(n); one && (into.Type() == reflect.TypeFor[[]access.Who]() || into.Type() == reflect.TypeFor[[]Content]()) { // one is a list of one
		into.Set(reflect.MakeSlice(into.Type(), 1, 1))
		return c.value(path, n, into.Index(0))
	}
	if !ok {
		return c.fault(n, path, "is %s: write a list, each entry on a line that begins with -", describe(n))
	}
	into.Set(reflect.MakeSlice(into.Type(), len(s.Values), len(s.Values)))
	for i, v := range s.Values {
		if err := c.value(fmt.Sprintf("%s[%d]", path, i), v, into.Index(i)); err != nil {
			return err
		}
	}
	return nil
}

func (c *Config) number(path string, n ast.Node, into reflect.Value) error {
	i, ok := n.(*ast.IntegerNode)
	if !ok {
		return c.fault(n, path, "is %s: write a whole number", describe(n))
	}
	v, ok := i.Value.(uint64)
	if !ok || v == 0 || v > math.MaxInt32 {
		return c.fault(n, path, "is %s: write a whole number greater than 0", i.Token.Value)
	}
	into.SetInt(int64(v))
	return nil
}
