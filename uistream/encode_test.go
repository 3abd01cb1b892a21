package uistream_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/uistream"
)

func TestAppendChunk(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]uistream.Chunk{
		`{"type":"start"}`:                         uistream.Start{},
		`{"type":"start","messageId":"m"}`:         uistream.Start{MessageID: "m"},
		`{"type":"text-delta","id":"","delta":""}`: uistream.TextDelta{},
		`{"type":"text-delta","id":"t","delta":"<a>&\"\\\n\r\t\u0000 \u001f😀"}`:                                              uistream.TextDelta{ID: "t", Delta: "<a>&\"\\\n\r\t\x00 \x1f😀"},
		`{"type":"text-delta","id":"t","delta":"a\ufffd\ufffd\ufffd\u2028b"}`:                                                uistream.TextDelta{ID: "t", Delta: "a\xed\xa0\xbd\u2028b"},
		`{"type":"tool-input-available","toolCallId":"c","toolName":"","input":null,"providerExecuted":true,"dynamic":true}`: uistream.ToolInputAvailable{ToolCallID: "c"},
		`{"type":"tool-input-available","toolCallId":"c","toolName":"AskUser","input":{"a":1}}`:                              uistream.ToolInputAvailable{ToolCallID: "c", ToolName: "AskUser", Input: json.RawMessage(`{"a":1}`), Form: uistream.Form{Static: true, Unmarked: true}},
		`{"type":"tool-output-available","toolCallId":"c","output":null,"providerExecuted":true,"dynamic":true}`:             uistream.ToolOutputAvailable{ToolCallID: "c"},
		`{"type":"tool-output-error","toolCallId":"c","errorText":"","providerExecuted":true,"dynamic":true}`:                uistream.ToolOutputError{ToolCallID: "c"},
		`{"type":"tool-approval-response","approvalId":"a","approved":false}`:                                                uistream.ToolApprovalResponse{ApprovalID: "a"},
		`{"type":"data-x","data":null}`:                                uistream.Data{Name: "x"},
		`{"type":"data-x\"","id":"1","data":0,"transient":true}`:       uistream.Data{Name: `x"`, ID: "1", Value: json.RawMessage("0"), Transient: true},
		`{"type":"error","errorText":""}`:                              uistream.Error{},
		`{"type":"finish"}`:                                            uistream.Finish{Metadata: json.RawMessage("null")},
		`{"type":"finish","finishReason":"stop","messageMetadata":{}}`: uistream.Finish{Reason: "stop", Metadata: json.RawMessage("{}")},
	} {
		if got := string(uistream.AppendChunk(nil, c)); got != want {
			t.Errorf("%#v:\ngot  %s\nwant %s", c, got, want)
		}
	}
}

func TestSafeJSON(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":         "null",
		" \n":      "null",
		"not json": `"not json"`,
		"{\n \"a\" : [ 1 , 2.50e+1 , \"x y\" ] }\n":                       `{"a":[1,2.50e+1,"x y"]}`,
		`{"n":9007199254740993,"m":-0.10}`:                                `{"n":9007199254740993,"m":-0.10}`,
		`{"__proto__":1,"a":{"__proto__":{"__proto__":null}}}`:            `{"[__proto__]":1,"a":{"[__proto__]":{"[__proto__]":null}}}`,
		`{"\u005f_proto_\u005F":1}`:                                       `{"[__proto__]":1}`,
		`["__proto__",{"a":"__proto__"}]`:                                 `["__proto__",{"a":"__proto__"}]`,
		`{"constructor":{"prototype":1}}`:                                 `{"[constructor]":{"prototype":1}}`,
		`{"constructor" : {"a":1,"\u0070rototype":1}}`:                    `{"[constructor]":{"a":1,"\u0070rototype":1}}`,
		`{"c\u006fnstructor":{"prototype":1},"b":[{"constructor":null}]}`: `{"[constructor]":{"prototype":1},"b":[{"[constructor]":null}]}`,
		`{"constructor":{"a":{"prototype":1}}}`:                           `{"constructor":{"a":{"prototype":1}}}`,
		`{"constructor":"prototype","prototype":1}`:                       `{"constructor":"prototype","prototype":1}`,
		`{"constructor":[{"prototype":1}]}`:                               `{"constructor":[{"prototype":1}]}`,
		`{"a":"\ud83d","b":"\u2028"}`:                                     `{"a":"\ud83d","b":"\u2028"}`,
		`"\\"`:                                                            `"\\"`,
		"\"\xff\"":                                                        "\"\uFFFD\"",
	} {
		if got := string(uistream.SafeJSON(json.RawMessage(in))); got != want {
			t.Errorf("SafeJSON(%q)\ngot  %s\nwant %s", in, got, want)
		}
	}
}

// forbidden is what the clients refuse: the check of their JSON reader.
func forbidden(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		if _, ok := v["__proto__"]; ok {
			return true
		}
		if c, ok := v["constructor"]; ok {
			m, isMap := c.(map[string]any)
			if _, has := m["prototype"]; c == nil || isMap && has {
				return true
			}
		}
		for _, e := range v {
			if forbidden(e) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, forbidden)
	}
	return false
}

func FuzzSafeJSON(f *testing.F) {
	for _, s := range []string{`{"constructor":{"prototype":{"__proto__":1}}}`, `[1e400,"\ud800"]`, "{ \"a\"\n:1}", `{"\u005f_proto__":{}}`, "\xff", `{"constructor":{"constructor":null}}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		out := uistream.SafeJSON(slices.Clone(in))
		if !json.Valid(out) || strings.ContainsAny(string(out), "\n\r") {
			t.Fatalf("%q became %q, which is not JSON on one line", in, out)
		}
		if again := uistream.SafeJSON(out); string(again) != string(out) {
			t.Fatalf("not stable: %q, then %q", out, again)
		}
		dec := json.NewDecoder(strings.NewReader(string(out)))
		dec.UseNumber()
		var v any
		if dec.Decode(&v) == nil && forbidden(v) {
			t.Fatalf("%q still holds a forbidden key", out)
		}
	})
}

func FuzzAppendChunkText(f *testing.F) {
	f.Add("a\x00\xff\u2028😀\"\\")
	f.Fuzz(func(t *testing.T, s string) {
		line := uistream.AppendChunk(nil, uistream.TextDelta{ID: s, Delta: s})
		var back struct{ Delta string }
		if err := json.Unmarshal(line, &back); err != nil || strings.ContainsAny(string(line), "\n\r") {
			t.Fatalf("%q became %q: %v", s, line, err)
		}
		if want := string([]rune(s)); back.Delta != want {
			t.Fatalf("%q came back as %q", want, back.Delta)
		}
	})
}
