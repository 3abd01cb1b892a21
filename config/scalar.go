package config

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
)

// plain returns the text of a string.
func plain(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		return n.Value.Value, true
	}
	return "", false
}

// word decodes a string, which may be one of a closed set.
func (c *Config) word(path string, n ast.Node, into reflect.Value) error {
	valid := words(into.Type())
	text, ok := plain(n)
	switch {
	case len(valid) > 0 && !slices.Contains(valid, text):
		return c.fault(n, path, "is %s: write %s", describe(n), or(valid))
	case !ok:
		return c.fault(n, path, "is %s: write text, in quotation marks", describe(n))
	case text == "" && !mayBeEmpty(path):
		return c.fault(n, path, "is empty: give it a value, or remove the key")
	}
	into.SetString(text)
	return nil
}

// mayBeEmpty is true of what is handed to an agent's process as it is.
func mayBeEmpty(path string) bool {
	return strings.HasPrefix(path, "agents.") && (strings.Contains(path, ".env.") || strings.Contains(path, ".args["))
}

func (c *Config) text(path string, n ast.Node, into reflect.Value) error {
	text, ok := plain(n)
	if !ok {
		text = n.GetToken().Value
	}
	u, _ := reflect.TypeAssert[encoding.TextUnmarshaler](into.Addr())
	if err := u.UnmarshalText([]byte(text)); err != nil {
		return c.fault(n, path, "cannot be read: %v", err)
	}
	return nil
}

// duration decodes a duration of at least so many nanoseconds.
func (c *Config) duration(path string, n ast.Node, into reflect.Value, least time.Duration) error {
	const form = "write a duration such as 500ms, 5s or 2m"
	text, ok := plain(n)
	if !ok {
		return c.fault(n, path, "is %s: "+form, describe(n))
	}
	d, err := time.ParseDuration(text)
	switch {
	case err != nil:
		return c.fault(n, path, "is %q: "+form, text)
	case d < least && least > 0:
		return c.fault(n, path, "is %q: it must be greater than 0", text)
	case d < least:
		return c.fault(n, path, "is %q: it must not be less than 0", text)
	}
	into.SetInt(int64(d))
	return nil
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
