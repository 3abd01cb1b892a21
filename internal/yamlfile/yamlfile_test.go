package yamlfile_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/internal/yamlfile"
)

type colour string

type file struct {
	Common `yaml:",inline"`

	Name    string           `yaml:"name"`
	Colour  colour           `yaml:"colour"`
	Many    int              `yaml:"many"`
	Rate    float64          `yaml:"rate"`
	Wait    time.Duration    `yaml:"wait"`
	Zero    *int             `yaml:"zero"`
	On      *bool            `yaml:"on"`
	List    []string         `yaml:"list"`
	Groups  map[string]group `yaml:"groups"`
	Any     map[string]any   `yaml:"any"`
	Options json.RawMessage  `yaml:"options"`
	Shape   shape            `yaml:"shape"`
}

// Common are keys that stand at the top of the file too.
type Common struct {
	Tag string `yaml:"tag"`
}

type group struct {
	Command string `yaml:"command"`
}

// shape has the keys of its type.
type shape struct {
	Common
	circle
}

type circle struct {
	Type   string `yaml:"type"`
	Radius int    `yaml:"radius"`
}

func (s *shape) DecodeYAML(v yamlfile.Value) error {
	kind, ok := v.At("type")
	if !ok || kind.Text() != "circle" {
		return v.Fault("is %s: write type: circle", v)
	}
	return v.Decode(&s.Common, &s.circle)
}

func decode(text string) (f file, err error) {
	d, err := yamlfile.Parse("a.yaml", []byte(text))
	if err != nil {
		return f, err
	}
	_, err = d.Decode(&f, yamlfile.Rules{Words: func(t reflect.Type) []string {
		if t == reflect.TypeFor[colour]() {
			return []string{"red", "green"}
		}
		return nil
	}})
	return f, err
}

func TestAFileIsDecoded(t *testing.T) {
	t.Parallel()
	got, err := decode(`
tag: t
name: one
colour: green
many: 3
rate: 0.5
wait: 5s
zero: 0
on: false
list: [a, "b c"]
groups: {alone:, full: {command: run}}
any: {a: [1, {b: null}], alone:}
options: {deep: {x: 1.5}}
shape: {type: circle, radius: 2, tag: s}
`)
	if err != nil {
		t.Fatal(err)
	}
	zero, off := 0, false
	want := file{
		Common{"t"},
		"one", "green", 3, 0.5, 5 * time.Second, &zero, &off,
		[]string{"a", "b c"},
		map[string]group{"alone": {}, "full": {"run"}},
		map[string]any{"a": []any{uint64(1), map[string]any{"b": nil}}, "alone": nil},
		json.RawMessage(`{"deep":{"x":1.5}}`),
		shape{Common{"s"}, circle{"circle", 2}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// A fault is one sentence with the line, and says what could stand there.
func TestFaults(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"name: a\nname: b":               `a.yaml:2: the YAML cannot be read: mapping key "name" already defined at [1:1]`,
		"name: a\n---\nname: b":          "a.yaml:3: a second document begins here: write it into a file of its own",
		"- a":                            "a.yaml:1: the file is a list: write keys and values, each key on a line of its own",
		"sk-secret of another file":      "a.yaml:1: the file is a text: write keys and values, each key on a line of its own",
		"name: a\ntag: \"a\x00\"":        "a.yaml:2: a control character stands here: remove it, or write it as an escape in quotation marks",
		"name: \x1b[31m":                 "a.yaml:1: a control character stands here: remove it, or write it as an escape in quotation marks",
		"name: \xff":                     "a.yaml: the file is not in UTF-8: save it in this encoding",
		"nme: a":                         "a.yaml:1: nme is not a key here: the keys are tag, name, colour, many, rate, wait, zero, on, list, groups, any, options, shape",
		"name:":                          "a.yaml:1: name has no value: give it one, or remove the key",
		"name: ''":                       "a.yaml:1: name is empty: give it a value, or remove the key",
		"name: 5":                        "a.yaml:1: name is 5: write text, in quotation marks",
		"colour: blue":                   `a.yaml:1: colour is "blue": write red or green`,
		"many: 0":                        "a.yaml:1: many is 0: write a whole number greater than 0",
		"zero: -1":                       "a.yaml:1: zero is -1: write a whole number of 0 or more",
		"many: 1.5":                      "a.yaml:1: many is 1.5: write a whole number",
		"rate: .nan":                     "a.yaml:1: rate is something else: write a number",
		"rate: -0.5":                     "a.yaml:1: rate is -0.5: write a number greater than 0",
		"wait: 5":                        "a.yaml:1: wait is 5: write a duration such as 500ms, 5s or 2m",
		"wait: -5s":                      `a.yaml:1: wait is "-5s": it must be greater than 0`,
		"on: yes":                        `a.yaml:1: on is "yes": write true or false`,
		"list: a":                        `a.yaml:1: list is "a": write a list, each entry on a line that begins with -`,
		"list:\n- a\n- [b]":              "a.yaml:3: list[1] is a list: write text, in quotation marks",
		"groups:\n  a:\n    comand: x":   "a.yaml:3: groups.a.comand is not a key here: the keys are command",
		"options: 5":                     "a.yaml:1: options is 5: write keys and values, each key on a line of its own",
		"name: &a x":                     "a.yaml:1: name uses an anchor, an alias or a tag: write the value itself",
		"any: {a: &a [x, x], b: [*a]}":   "a.yaml:1: any.a uses an anchor, an alias or a tag: write the value itself",
		"options: {a: &a [x], b: [*a]}":  "a.yaml:1: options uses an anchor, an alias or a tag: write the value itself",
		"shape: {type: square}":          "a.yaml:1: shape is a group of keys: write type: circle",
		"shape:\n  type: circle\n  r: 5": "a.yaml:3: shape.r is not a key here: the keys are tag, type, radius",
	} {
		_, err := decode(text)
		if _, is := errors.AsType[*yamlfile.Fault](err); !is || err.Error() != want {
			t.Errorf("%q:\ngot  %v\nwant %s", text, err, want)
		}
	}
}

func TestMarksAndCharactersThatStay(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"\ufeffname: a": "a", "name: \ufffd": "\ufffd", "name: \"a\\0\"": "a\x00", "name: a\r\n": "a", "name: é\n": "é"} {
		if got, err := decode(text); err != nil || got.Name != want {
			t.Errorf("%q: %q, %v", text, got.Name, err)
		}
	}
}

func TestNothingButCommentsIsNothing(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "# nothing\n", "---\n"} {
		if got, err := decode(text); err != nil || !reflect.DeepEqual(got, file{}) {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
}

// No text makes the decoder crash, or say something that is not a Fault.
func FuzzDecode(f *testing.F) {
	f.Add("name: a\nany: {a: [1, {b: null}]}\nshape: {type: circle}")
	f.Add("any: &a {b: *a}")
	f.Add("? [a]\n: b")
	f.Fuzz(func(t *testing.T, text string) {
		_, err := decode(text)
		if _, is := errors.AsType[*yamlfile.Fault](err); err != nil && (!is || strings.TrimSpace(err.Error()) == "") {
			t.Errorf("%q: %v", text, err)
		}
	})
}
