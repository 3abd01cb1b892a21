package yamlfile

import (
	"bytes"
	"errors"
	"reflect"
	"slices"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// Rules are what the types of a file do not say.
type Rules struct {
	// Words are those of a type that is a closed set of words, nil for other types.
	Words func(reflect.Type) []string
	// MayBeEmpty reports whether the text at a path may be empty; nil is never.
	MayBeEmpty func(path string) bool
}

// Document is a file that was parsed.
type Document struct {
	file string
	body ast.Node // nil if the file is empty
}

// Parse parses the content of a file. It has at most one document. The file's name is for errors.
func Parse(file string, data []byte) (*Document, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if at := bytes.IndexFunc(data, control); at >= 0 {
		return nil, &Fault{file, 1 + bytes.Count(data[:at], []byte("\n")), "a control character stands here: remove it, or write it as an escape in quotation marks"}
	}
	if !utf8.Valid(data) {
		return nil, &Fault{File: file, Sentence: "the file is not in UTF-8: save it in this encoding"}
	}
	tree, err := parser.ParseBytes(data, 0)
	if err != nil {
		f := &Fault{File: file, Sentence: "the YAML cannot be read: " + err.Error()}
		if located, ok := errors.AsType[yaml.Error](err); ok {
			f.Sentence = "the YAML cannot be read: " + located.GetMessage()
			if t := located.GetToken(); t != nil && t.Position != nil {
				f.Line = t.Position.Line
			}
		}
		return nil, f
	}
	docs := slices.DeleteFunc(tree.Docs, func(d *ast.DocumentNode) bool { return d.Body == nil })
	switch len(docs) {
	case 0:
		return &Document{file: file}, nil
	case 1:
		return &Document{file, docs[0].Body}, nil
	}
	return nil, &Fault{file, line(docs[1].Body), "a second document begins here: write it into a file of its own"}
}

// control reports whether a character may not stand in YAML.
func control(r rune) bool { return r < ' ' && r != '\n' && r != '\r' && r != '\t' || r == 0x7f }

// Empty reports whether there is nothing but comments.
func (d *Document) Empty() bool { return d.body == nil }

// At is the value of a key at the top of the file; ok is false if there is none.
func (d *Document) At(key string) (v Value, ok bool) {
	return Value{d: &decoder{lines: Lines{file: d.file}}, node: d.body}.At(key)
}

// Only is the document with one of the keys at its top, for a reader of a part of a file.
func (d *Document) Only(name string) *Document {
	all := entries(d.body)
	if all == nil {
		return d
	}
	only := &Document{file: d.file}
	if at := slices.IndexFunc(all, func(e *ast.MappingValueNode) bool { return key(e) == name }); at >= 0 {
		only.body = all[at]
	}
	return only
}

// Decode decodes the file into a struct, whose fields have tags such as `yaml:"key"` and
// `yaml:",inline"`. The zero value is what is not said: so a number or a duration of 0 needs a
// field that is a pointer. An error is a [Fault].
func (d *Document) Decode(into any, rules Rules) (Lines, error) {
	dec := &decoder{rules, Lines{d.file, map[string]int{}}}
	if d.body == nil {
		return dec.lines, nil
	}
	return dec.lines, dec.value("", d.body, reflect.ValueOf(into).Elem())
}

// Decoder is implemented by a pointer to a type that decodes itself.
type Decoder interface{ DecodeYAML(v Value) error }

// Value is a value in a file.
type Value struct {
	d    *decoder
	path string
	node ast.Node
}

// At is the value of a key; ok is false if there is none.
func (v Value) At(name string) (at Value, ok bool) {
	for _, e := range entries(v.node) {
		if key(e) == name {
			return Value{v.d, join(v.path, name), e.Value}, true
		}
	}
	return Value{}, false
}

// Text is the value, if it is a string.
func (v Value) Text() string {
	text, _ := plain(v.node)
	return text
}

// IsGroup reports whether the value is a group of keys.
func (v Value) IsGroup() bool { return entries(v.node) != nil }

// String says what stands there, for an error.
func (v Value) String() string { return describe(v.node) }

// Fault returns a [Fault] about the value.
func (v Value) Fault(format string, args ...any) error {
	return v.d.fault(v.node, v.path, format, args...)
}

// Decode decodes a group of keys into several structs: each key belongs to one of them.
func (v Value) Decode(into ...any) error {
	var all []field
	for _, one := range into {
		all = append(all, fields(reflect.ValueOf(one).Elem())...)
	}
	return v.d.group(v.path, v.node, all)
}
