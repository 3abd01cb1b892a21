package redact_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tributary-dev/tributary/export/exporttest"
	"github.com/tributary-dev/tributary/export/reader"
	"github.com/tributary-dev/tributary/export/redact"
	"github.com/tributary-dev/tributary/trace"
)

// everything is all text that a turn has, for an encoder that would write all of it.
func everything(t *rapid.T, turn *reader.Turn) string {
	var texts []string
	seen := map[any]bool{}
	var walk func(v reflect.Value)
	walk = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.String:
			texts = append(texts, `"`+v.String()+`"`)
		case reflect.Pointer, reflect.Interface:
			if v.IsNil() || v.Kind() == reflect.Pointer && seen[v.Interface()] {
				return
			}
			if v.Kind() == reflect.Pointer {
				seen[v.Interface()] = true
			}
			walk(v.Elem())
		case reflect.Slice:
			if raw, is := reflect.TypeAssert[json.RawMessage](v); is {
				texts = append(texts, string(raw))
				return
			}
			for i := range v.Len() {
				walk(v.Index(i))
			}
		case reflect.Struct:
			for i := range v.NumField() {
				if v.Type().Field(i).IsExported() {
					walk(v.Field(i))
				}
			}
		default:
		}
	}
	walk(reflect.ValueOf(turn))
	return strings.Join(texts, "\n")
}

func TestNoneLeavesNamesKindsNumbersAndTimes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		records := exporttest.Random(rt)
		outline, err := reader.Survey(exporttest.Durable(records)())
		if err != nil {
			rt.Fatal(err)
		}
		for turn, err := range reader.Turns(exporttest.Durable(records)(), outline) {
			if err != nil {
				rt.Fatal(err)
			}
			redact.Turn(turn, redact.Classes())
			exporttest.Silent(rt, records, everything(rt, turn))
			if turn.Calls != nil && turn.Calls[0].RawName == "" {
				rt.Fatal("the name of a tool is lost")
			}
		}
	})
}

func TestWhatStandsInThePlaceOfANameOrAWordIsLeftOut(t *testing.T) {
	t.Parallel()
	for text, kept := range map[string]bool{
		"Bash": true, "mcp__db__query": true, "default_api:read-file": true, "max_tokens": true,
		"delete all of my files": false, "Web Search": false, "/home/ann/plan.txt": false, strings.Repeat("x", 201): false,
	} {
		for _, c := range []struct {
			drop         redact.Class
			name, reason bool // may stay whatever they are
		}{{redact.Title, false, true}, {redact.Error, true, false}, {redact.Person, true, true}} {
			turn := &reader.Turn{Stop: trace.Stop{Reason: text}, Calls: []*reader.Call{{ToolCall: trace.ToolCall{RawName: text}}}}
			redact.Turn(turn, []redact.Class{c.drop})
			if name, reason := turn.Calls[0].RawName != "", turn.Stop.Reason != ""; name != (kept || c.name) || reason != (kept || c.reason) {
				t.Errorf("%q without %s: the name stays: %t, the reason stays: %t", text, c.drop, name, reason)
			}
		}
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	for keep, want := range map[string]int{"": 0, "all": 0, "none": len(redact.Classes()), "prompt,output": len(redact.Classes()) - 2} {
		if drop, err := redact.Parse(keep); err != nil || len(drop) != want {
			t.Errorf("%q: %v %v", keep, drop, err)
		}
	}
	if _, err := redact.Parse("prompts"); err == nil || !strings.Contains(err.Error(), "tool-output") {
		t.Errorf("prompts: %v", err)
	}
}
