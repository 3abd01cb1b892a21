package yamlfile

import (
	"encoding"
	"fmt"
	"math"
	"reflect"
	"slices"
	"time"

	"github.com/goccy/go-yaml/ast"
)

// word decodes a string, which may be one of a closed set.
func (d *decoder) word(path string, n ast.Node, into reflect.Value) error {
	valid := d.words(into.Type())
	text, ok := plain(n)
	switch {
	case len(valid) > 0 && !slices.Contains(valid, text):
		return d.fault(n, path, "is %s: write %s", describe(n), Or(valid))
	case !ok:
		return d.fault(n, path, "is %s: write text, in quotation marks", describe(n))
	case text == "" && (d.rules.MayBeEmpty == nil || !d.rules.MayBeEmpty(path)):
		return d.fault(n, path, "is empty: give it a value, or remove the key")
	}
	into.SetString(text)
	return nil
}

// words are those of a closed set, nil for another type.
func (d *decoder) words(of reflect.Type) []string {
	if d.rules.Words == nil {
		return nil
	}
	return d.rules.Words(of)
}

// text decodes what reads itself.
func (d *decoder) text(path string, n ast.Node, into encoding.TextUnmarshaler) error {
	text, ok := plain(n)
	if !ok {
		text = n.GetToken().Value
	}
	if err := into.UnmarshalText([]byte(text)); err != nil {
		return d.fault(n, path, "cannot be read: %v", err)
	}
	return nil
}

// number decodes a number or a duration. One that may be 0 can be told from what is not said.
func (d *decoder) number(path string, n ast.Node, into reflect.Value, zero bool) error {
	least := "greater than 0"
	if zero {
		least = "of 0 or more"
	}
	switch {
	case into.Type() == reflect.TypeFor[time.Duration]():
		return d.duration(path, n, into, zero)
	case into.Kind() == reflect.Int:
		i, ok := n.(*ast.IntegerNode)
		if !ok {
			return d.fault(n, path, "is %s: write a whole number", describe(n))
		}
		v, ok := i.Value.(uint64)
		if !ok || v == 0 && !zero || v > math.MaxInt32 {
			return d.fault(n, path, "is %s: write a whole number %s", i.Token.Value, least)
		}
		into.SetInt(int64(v))
	default:
		var v float64
		switch n := n.(type) {
		case *ast.FloatNode:
			v = n.Value
		case *ast.IntegerNode:
			i, _ := n.Value.(uint64)
			v = float64(i)
		default:
			return d.fault(n, path, "is %s: write a number", describe(n))
		}
		if v < 0 || v == 0 && !zero {
			return d.fault(n, path, "is %s: write a number %s", describe(n), least)
		}
		into.SetFloat(v)
	}
	return nil
}

func (d *decoder) duration(path string, n ast.Node, into reflect.Value, zero bool) error {
	const form = "write a duration such as 500ms, 5s or 2m"
	text, ok := plain(n)
	if !ok {
		return d.fault(n, path, "is %s: "+form, describe(n))
	}
	v, err := time.ParseDuration(text)
	switch {
	case err != nil:
		return d.fault(n, path, "is %q: "+form, text)
	case v <= 0 && !zero:
		return d.fault(n, path, "is %q: it must be greater than 0", text)
	case v < 0:
		return d.fault(n, path, "is %q: it must not be less than 0", text)
	}
	into.SetInt(int64(v))
	return nil
}

// plain is the text of a string.
func plain(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		return n.Value.Value, true
	}
	return "", false
}

// describe says what stands at a node.
func describe(n ast.Node) string {
	if text, ok := plain(n); ok {
		return fmt.Sprintf("%q", text)
	}
	switch n := n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return "a group of keys"
	case *ast.SequenceNode:
		return "a list"
	case *ast.BoolNode, *ast.IntegerNode, *ast.FloatNode:
		return n.GetToken().Value
	}
	return "something else"
}

// inPlace is describe. If the whole file is a text, it may be quite another file, which is not quoted.
func inPlace(path string, n ast.Node) string {
	if _, ok := plain(n); ok && path == "" {
		return "a text"
	}
	return describe(n)
}

func line(n ast.Node) int {
	if t := n.GetToken(); t != nil && t.Position != nil {
		return t.Position.Line
	}
	return 0
}

// entries are the keys and values of a mapping, nil for another node.
func entries(n ast.Node) []*ast.MappingValueNode {
	switch n := n.(type) {
	case *ast.MappingNode:
		return append([]*ast.MappingValueNode{}, n.Values...)
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}
	}
	return nil
}

func key(e *ast.MappingValueNode) string {
	if s, ok := e.Key.(*ast.StringNode); ok {
		return s.Value
	}
	return e.Key.GetToken().Value
}

func join(path, key string) string {
	if path == "" || key == "" {
		return path + key
	}
	return path + "." + key
}
