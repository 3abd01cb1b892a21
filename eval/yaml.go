package eval

import (
	"fmt"
	"os"
	"reflect"

	"github.com/tributary-dev/tributary/internal/yamlfile"
	"github.com/tributary-dev/tributary/policy/permission"
	"github.com/tributary-dev/tributary/policy/toolkind"
	"github.com/tributary-dev/tributary/trace"
)

// This file reads suites and cases.

// Fault is something in a file that cannot be meant.
type Fault = yamlfile.Fault

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
	d, err := yamlfile.Parse(file, data)
	switch {
	case err != nil:
		return nil, nil, err //nolint:wrapcheck // a Fault
	case d.Empty():
		return nil, nil, &Fault{File: file, Sentence: "the file is empty: write a case or a suite"}
	}
	_, cases := d.At("cases")
	agents, ok := d.At("agents")
	if cases || ok && agents.IsGroup() {
		s := &Suite{}
		return nil, s, decode(d, s, s.fault)
	}
	c := &Case{File: file}
	return c, nil, decode(d, c, c.fault)
}

// decode decodes what has the right keys and kinds of values, and asks what else is wrong.
func decode(d *yamlfile.Document, into any, wrong func() *fault) error {
	lines, err := d.Decode(into, yamlfile.Rules{Words: words})
	if err != nil {
		return err //nolint:wrapcheck // a Fault
	}
	if f := wrong(); f != nil {
		return lines.Fault(f.path, "%s", f.sentence) //nolint:wrapcheck // a Fault
	}
	return nil
}

// DecodeYAML implements yamlfile.Decoder: the keys of a grader are those of its type.
func (g *Grader) DecodeYAML(v yamlfile.Value) error {
	kind, ok := v.At("type")
	if !ok {
		return v.Fault("has no type: write type: and one of %s", yamlfile.Or(Types()))
	}
	if g.check = newCheck(kind.Text()); g.check == nil {
		return kind.Fault("is %s: write %s", kind, yamlfile.Or(Types()))
	}
	return v.Decode(&g.common, g.check) //nolint:wrapcheck // a Fault
}

// words are those that may stand where a closed set belongs, nil for other types.
func words(t reflect.Type) []string {
	switch t {
	case reflect.TypeFor[trace.ToolKind]():
		return yamlfile.Words(toolkind.Kinds()...)
	case reflect.TypeFor[trace.ToolStatus]():
		return yamlfile.Words(trace.ToolStatuses()...)
	case reflect.TypeFor[permission.Verdict]():
		return yamlfile.Words(permission.Allow, permission.Deny, permission.Ask)
	case reflect.TypeFor[Match]():
		return yamlfile.Words(MatchExact, MatchInOrder, MatchAnyOrder, MatchSubset)
	case reflect.TypeFor[Unknown]():
		return yamlfile.Words(UnknownFails, UnknownSkips)
	}
	return nil
}
