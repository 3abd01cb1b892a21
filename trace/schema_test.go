package trace_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
	"pgregory.net/rapid"

	"github.com/tributary-dev/tributary/trace"
)

func readSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	text, err := os.ReadFile("../docs/schemas/trace.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	return &s
}

// resolve prepares the schema. A strict one refuses what it does not list, which
// the schema itself must not, for what later versions add.
func resolve(t *testing.T, s *jsonschema.Schema, strict bool) *jsonschema.Resolved {
	t.Helper()
	if strict {
		s.AdditionalProperties = &jsonschema.Schema{Not: &jsonschema.Schema{}}
		for _, def := range s.Defs {
			if def.Type == "object" {
				def.AdditionalProperties = &jsonschema.Schema{Not: &jsonschema.Schema{}}
			}
		}
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return resolved
}

func validate(s *jsonschema.Resolved, line []byte) error {
	var v any
	if err := json.Unmarshal(line, &v); err != nil {
		return fmt.Errorf("%w: %s", err, line)
	}
	if err := s.Validate(v); err != nil {
		return fmt.Errorf("%w: %s", err, line)
	}
	return nil
}

func TestL16_TheSchemaListsTheClosedSet(t *testing.T) {
	t.Parallel()
	s := readSchema(t)
	if s.Schema != "https://json-schema.org/draft/2020-12/schema" {
		t.Errorf("$schema is %q", s.Schema)
	}
	var kinds, cases []trace.Kind
	for _, k := range s.Defs["kind"].Enum {
		kinds = append(kinds, trace.Kind(k.(string)))
	}
	if diff := cmp.Diff(trace.Kinds(), kinds); diff != "" {
		t.Errorf("the enum of kinds differs:\n%s", diff)
	}
	for _, c := range s.AllOf {
		k, _ := (*c.If.Properties["type"].Const).(string)
		if ref := c.Then.Properties["payload"].Ref; ref != "#/$defs/"+k {
			t.Errorf("a %s payload is taken for %s", k, ref)
		}
		cases = append(cases, trace.Kind(k))
	}
	if diff := cmp.Diff(trace.Kinds(), cases); diff != "" {
		t.Errorf("the cases differ:\n%s", diff)
	}
}

func TestL16_TheSchemaAcceptsEveryGolden(t *testing.T) {
	t.Parallel()
	s := resolve(t, readSchema(t), true)
	files, err := filepath.Glob("testdata/golden/*.json")
	if err != nil || len(files) != len(trace.Kinds())+1 {
		t.Fatalf("%d golden files for %d kinds, error %v", len(files), len(trace.Kinds()), err)
	}
	for _, f := range files {
		line, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if err := validate(s, line); err != nil {
			t.Errorf("%s: %v", f, err)
		}
	}
}

func TestL16_TheSchemaAcceptsWhateverABuilderWrites(t *testing.T) {
	t.Parallel()
	s := resolve(t, readSchema(t), true)
	seen := map[string]bool{} // the validator is slow, and turns are alike
	at := time.Now()
	rapid.Check(t, func(t *rapid.T) {
		for _, e := range randomTurn(t) {
			e.ID, e.Time = "t.1", at
			if e.Parent != "" {
				e.Parent = "t.0"
			}
			line, err := trace.Record{Session: "s", Turn: "t", Seq: 1, Event: e}.AppendJSON(nil)
			if err != nil {
				t.Fatal(err)
			}
			if seen[string(line)] || strings.Contains(string(line), "1e999") { // JSON, but no number that Go has
				continue
			}
			seen[string(line)] = true
			if err := validate(s, line); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestTheSchemaRefusesAndAllows(t *testing.T) {
	t.Parallel()
	const stop = `{"v":1,"session":"s","turn":"t","seq":1,"id":"t.1","ts":"2026-01-02T03:04:05Z","type":"stop","parent_id":null,"actor":"agent","payload":{"reason":"","outcome":"completed","final_output":""}}`
	s := resolve(t, readSchema(t), false)
	for _, c := range []struct {
		name, old, new string
		ok             bool
	}{
		{"as it is", "", "", true},
		{"a property of a later version", `"reason":""`, `"reason":"","mood":1`, true},
		{"an envelope of a later version", `"v":1`, `"v":1,"node":"a"`, true},
		{"a kind of a later version", `"type":"stop"`, `"type":"novel"`, true},
		{"outside a turn", `"turn":"t"`, `"turn":null`, true},
		{"a sub-agent", `"actor":"agent"`, `"actor":"subagent:c\n"`, true},
		{"no turn", `"turn":"t",`, ``, false},
		{"empty turn", `"turn":"t"`, `"turn":""`, false},
		{"other version", `"v":1`, `"v":2`, false},
		{"no type", `"type":"stop"`, `"type":""`, false},
		{"a word that the enum lacks", `"completed"`, `"done"`, false},
		{"an actor that nobody is", `"actor":"agent"`, `"actor":"agents"`, false},
		{"a time elsewhere", `05Z`, `05+01:00`, false},
		{"a required property is missing", `,"final_output":""`, ``, false},
		{"a payload of another kind", `"type":"stop"`, `"type":"message"`, false},
		{"a broken sequence", `"seq":1`, `"seq":1.5`, false},
	} {
		line := strings.Replace(stop, c.old, c.new, 1)
		if err := validate(s, []byte(line)); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
