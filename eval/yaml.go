package eval

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/tributary-dev/tributary/policy/permission"
	"github.com/tributary-dev/tributary/policy/toolkind"
	"github.com/tributary-dev/tributary/trace"
)

// This file reads suites and cases. It looks at the syntax tree before it decodes: so every error
// names the line, and what could stand there.

// Fault is something in a file that cannot be meant.
type Fault struct {
	File     string
	Line     int // 0 if no line is to blame
	Sentence string
}

// Error implements error.
func (f *Fault) Error() string {
	if f.Line == 0 {
		return f.File + ": " + f.Sentence
	}
	return fmt.Sprintf("%s:%d: %s", f.File, f.Line, f.Sentence)
}

// Load reads a file with a case or a suite. One of the two results is nil. A file that cannot be
// meant gives a [Fault]. Whether the files and agents that it names exist is not checked.
func Load(file string) (*Case, *Suite, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, nil, fmt.Errorf("the case cannot be read: %w", err)
	}
	return Parse(file, data)
}

// Parse is Load for a file that was read.
func Parse(file string, data []byte) (*Case, *Suite, error) {
	d := &document{file: file, lines: map[string]int{}}
	body, err := d.parse(data)
	if err != nil {
		return nil, nil, err
	}
	if d.suite {
		s := &Suite{}
		return nil, s, d.into(body, s, s.fault)
	}
	c := &Case{File: file}
	return c, nil, d.into(body, c, c.fault)
}

// document is a file that is read.
type document struct {
	file  string
	lines map[string]int // by path
	suite bool
}

func (d *document) parse(data []byte) (ast.Node, error) {
	tree, err := parser.ParseBytes(data, 0)
	if err != nil {
		return nil, d.located(err)
	}
	docs := slices.DeleteFunc(tree.Docs, func(d *ast.DocumentNode) bool { return d.Body == nil })
	switch len(docs) {
	case 0:
		return nil, &Fault{File: d.file, Sentence: "the file is empty: write a case or a suite"}
	case 1:
	default:
		return nil, &Fault{d.file, line(docs[1].Body), "a second document begins here: write each case into a file of its own"}
	}
	for _, e := range entries(docs[0].Body) {
		d.lines[key(e)] = line(e.Key)
		d.suite = d.suite || key(e) == "cases" || key(e) == "agents" && entries(e.Value) != nil
	}
	return docs[0].Body, nil
}

// into decodes what has the right keys and kinds of values, and asks what else is wrong.
func (d *document) into(body ast.Node, v any, wrong func() *fault) error {
	if err := d.check("", body, reflect.TypeOf(v).Elem()); err != nil {
		return err
	}
	if err := yaml.NodeToValue(body, v); err != nil {
		return d.located(err)
	}
	if f := wrong(); f != nil {
		return &Fault{d.file, d.line(f.path), f.path + " " + f.sentence}
	}
	return nil
}

// located makes one sentence of an error of the YAML library.
func (d *document) located(err error) error {
	f := &Fault{File: d.file, Sentence: "the YAML cannot be read: " + strings.TrimSpace(err.Error())}
	if located, ok := errors.AsType[yaml.Error](err); ok {
		f.Sentence = "the YAML cannot be read: " + located.GetMessage()
		if t := located.GetToken(); t != nil && t.Position != nil {
			f.Line = t.Position.Line
		}
	}
	return f
}

// line is where the value stands, or the nearest value around it.
func (d *document) line(path string) int {
	for path != "" {
		if n := d.lines[path]; n > 0 {
			return n
		}
		path = path[:max(strings.LastIndexAny(path, ".["), 0)]
	}
	return 1
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
		return n.Values
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

// fields are the keys of a struct, in order, with their types.
func fields(t reflect.Type) (names []string, types map[string]reflect.Type) {
	types = map[string]reflect.Type{}
	for f := range t.Fields() {
		name, more, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		switch {
		case more == "inline":
			inner, of := fields(f.Type)
			for _, n := range inner {
				names, types[n] = append(names, n), of[n]
			}
		case name != "" && name != "-":
			names, types[name] = append(names, name), f.Type
		}
	}
	return names, types
}

// check looks for keys and values that cannot stand where they are.
func (d *document) check(path string, n ast.Node, t reflect.Type) error {
	if d.lines[path] == 0 {
		d.lines[path] = line(n)
	}
	wrong := func(format string, args ...any) error {
		if path == "" {
			path = "the file"
		}
		return &Fault{d.file, line(n), path + " " + fmt.Sprintf(format, args...)}
	}
	switch n.(type) {
	case *ast.NullNode:
		return wrong("has no value: give it one, or remove the key")
	case *ast.AnchorNode, *ast.AliasNode, *ast.TagNode:
		return wrong("uses an anchor, an alias or a tag: write the value itself")
	}
	text, isText := plain(n)
	valid := words(t)
	switch {
	case t.Kind() == reflect.Pointer:
		return d.check(path, n, t.Elem())
	case len(valid) > 0:
		if !slices.Contains(valid, text) {
			return wrong("is %s: write %s", describe(n), or(valid))
		}
	case t == reflect.TypeFor[time.Duration]():
		if v, err := time.ParseDuration(text); err != nil || v <= 0 {
			return wrong("is %s: write a duration such as 30s or 5m", describe(n))
		}
	case t == reflect.TypeFor[Grader]():
		return d.grader(path, n)
	case t.Kind() == reflect.Struct:
		names, types := fields(t)
		return d.mapping(path, n, names, types)
	case t.Kind() == reflect.Map:
		if entries(n) == nil {
			return wrong("is %s: write keys and values", describe(n))
		}
	case t.Kind() == reflect.Slice:
		list, ok := n.(*ast.SequenceNode)
		if !ok {
			return wrong("is %s: write a list, each entry on a line that begins with -", describe(n))
		}
		for i, v := range list.Values {
			if err := d.check(fmt.Sprintf("%s[%d]", path, i), v, t.Elem()); err != nil {
				return err
			}
		}
	case t.Kind() == reflect.Bool:
		if _, ok := n.(*ast.BoolNode); !ok {
			return wrong("is %s: write true or false", describe(n))
		}
	case t.Kind() == reflect.Int:
		if v, ok := n.(*ast.IntegerNode); !ok || !small(v) {
			return wrong("is %s: write a whole number, 0 or greater", describe(n))
		}
	case t.Kind() == reflect.Float64:
		if v, ok := n.(*ast.FloatNode); (!ok || v.Value < 0) && !isInt(n) {
			return wrong("is %s: write a number, 0 or greater", describe(n))
		}
	case t.Kind() == reflect.String && (!isText || text == ""):
		return wrong("is %s: write text, in quotation marks", describe(n))
	}
	return nil
}

func small(n *ast.IntegerNode) bool {
	v, ok := n.Value.(uint64)
	return ok && v < 1<<53
}

func isInt(n ast.Node) bool {
	v, ok := n.(*ast.IntegerNode)
	return ok && small(v)
}

func (d *document) mapping(path string, n ast.Node, names []string, types map[string]reflect.Type) error {
	all := entries(n)
	if all == nil {
		return &Fault{d.file, line(n), strings.TrimSpace(path + " is " + describe(n) + ": write keys and values, each key on a line of its own")}
	}
	for _, e := range all {
		at := join(path, key(e))
		t, known := types[key(e)]
		if !known {
			return &Fault{d.file, line(e.Key), fmt.Sprintf("%s is not a key here: the keys are %s", at, strings.Join(names, ", "))}
		}
		d.lines[at] = line(e.Key)
		if err := d.check(at, e.Value, t); err != nil {
			return err
		}
	}
	return nil
}

// grader checks the keys of a grader, which are those of its type.
func (d *document) grader(path string, n ast.Node) error {
	names, types := fields(reflect.TypeFor[common]())
	for _, e := range entries(n) {
		if key(e) != "type" {
			continue
		}
		text, _ := plain(e.Value)
		made := newCheck(text)
		if made == nil {
			return &Fault{d.file, line(e.Value), fmt.Sprintf("%s.type is %s: write %s", path, describe(e.Value), or(Types()))}
		}
		own, of := fields(reflect.TypeOf(made).Elem())
		for _, name := range own {
			names, types[name] = append(names, name), of[name]
		}
		return d.mapping(path, n, names, types)
	}
	return &Fault{d.file, line(n), fmt.Sprintf("%s has no type: write type: and one of %s", path, or(Types()))}
}

// words are those that may stand where a closed set belongs, nil for other types.
func words(t reflect.Type) []string {
	switch t {
	case reflect.TypeFor[trace.ToolKind]():
		return texts(toolkind.Kinds()...)
	case reflect.TypeFor[trace.ToolStatus]():
		return texts(trace.ToolCompleted, trace.ToolFailed, trace.ToolDenied, trace.ToolCanceled)
	case reflect.TypeFor[permission.Verdict]():
		return texts(permission.Allow, permission.Deny, permission.Ask)
	case reflect.TypeFor[Match]():
		return texts(MatchExact, MatchInOrder, MatchAnyOrder, MatchSubset)
	case reflect.TypeFor[Unknown]():
		return texts(UnknownFails, UnknownSkips)
	}
	return nil
}

func texts[T ~string](all ...T) (words []string) {
	for _, one := range all {
		words = append(words, string(one))
	}
	return words
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
