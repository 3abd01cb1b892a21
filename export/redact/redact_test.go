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
		"secrets.env": false, "notes.txt:12": false, "bob@example.com": false, "c++": false, "删除所有文件": false,
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

// The parameters of a media type can be any text, and an address can be a path.
func TestTypesAndAddressesOfFiles(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"text/plain": "text/plain", "application/vnd.ms-excel": "application/vnd.ms-excel", `text/plain; name="salaries.csv"`: "text/plain",
		"salaries of all": "", "my/file.txt": "", "text/our salaries": "", "image/": "",
	} {
		turn := &reader.Turn{
			Prompts: []*reader.Prompt{{Prompt: trace.Prompt{Message: trace.UserMessage{Parts: []trace.InputPart{{MediaType: text, URL: "file:///a"}, {URL: "https://a.example"}}}}}},
			Notes:   []*reader.Note{{Payload: trace.Source{MediaType: text, URL: "/a"}}, {Payload: trace.File{MediaType: text, URL: "a"}}},
		}
		redact.Turn(turn, []redact.Class{redact.Path})
		parts := turn.Prompts[0].Message.Parts
		if parts[0].MediaType != want || parts[0].URL != "" || parts[1].URL == "" {
			t.Errorf("%q in a prompt: %+v", text, parts)
		}
		if s, f := turn.Notes[0].Payload, turn.Notes[1].Payload; s != (trace.Source{MediaType: want}) || f != (trace.File{MediaType: want}) {
			t.Errorf("%q: %+v %+v", text, s, f)
		}
	}
}

// The summary behind the sentence of its notice is the agent's own text.
func TestASummaryIsOutput(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		code, want string
		drop       []redact.Class
	}{
		{"summary", "I have summed up.\n\nAnn wants tea.\n\nAt five.", []redact.Class{redact.Path}},
		{"summary", "I have summed up.", []redact.Class{redact.Output}},
		{"summary", "Ann wants tea.\n\nAt five.", []redact.Class{redact.Error}},
		{"summary", "", redact.Classes()},
		{"retry", "I have summed up.\n\nAnn wants tea.\n\nAt five.", []redact.Class{redact.Output}},
		{"retry", "", []redact.Class{redact.Error}},
	} {
		turn := &reader.Turn{Notes: []*reader.Note{{Payload: trace.Notice(c.code, "I have summed up.\n\nAnn wants tea.\n\nAt five.")}}}
		redact.Turn(turn, c.drop)
		if got := turn.Notes[0].Payload; got != trace.Notice(c.code, c.want) {
			t.Errorf("%s without %s: %+v", c.code, c.drop, got)
		}
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	for keep, want := range map[string]int{"all": 0, "none": len(redact.Classes()), "prompt,output": len(redact.Classes()) - 2} {
		if drop, err := redact.Parse(keep); err != nil || len(drop) != want {
			t.Errorf("%q: %v %v", keep, drop, err)
		}
	}
	for _, keep := range []string{"prompts", "", "all,none", "prompt,"} {
		if _, err := redact.Parse(keep); err == nil || !strings.Contains(err.Error(), "tool-output") {
			t.Errorf("%q: %v", keep, err)
		}
	}
}
