package uiendpoint_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tributary-dev/tributary/uistream"
)

// A client shows the same message with and without the gateway, and gets the same transient
// data: whatever an endpoint of its major writes comes through the trace.
func TestChunksThatPassThroughTheTraceAreEqual(t *testing.T) {
	t.Parallel()
	for major, client := range map[int]string{5: "5.0.277", 6: "6.0.323", 7: "7.0.173"} {
		t.Run(client, func(t *testing.T) {
			t.Parallel()
			types := map[string]bool{}
			rapid.Check(t, func(rt *rapid.T) {
				chunks := drawStream(rt, major)
				through := streamed(t, records(t, body(chunks...)), client)
				direct := make([]object, len(chunks))
				for i, c := range chunks {
					direct[i] = parsed(t, c)
					types[fmt.Sprint(direct[i]["type"])] = true
				}
				if got, want := seen(rt, through), seen(rt, direct); !reflect.DeepEqual(got, want) {
					rt.Fatalf("chunks\n%s\ngot\n%s\nwant\n%s", chunks, line(got), line(want))
				}
			})
			if len(types) < map[int]int{5: 18, 6: 20, 7: 26}[major] {
				t.Errorf("only these types were drawn: %v", slices.Sorted(maps.Keys(types)))
			}
		})
	}
}

func line(v any) string {
	text, _ := json.Marshal(v)
	return string(text)
}

// seen is what a client keeps of a stream. The ids of messages and of reasoning are the
// gateway's own, and a text without words or metadata is nothing. Neither is the step that the
// gateway adds after a call of the client's form.
func seen(t *rapid.T, chunks []object) object {
	var r uistream.Reducer
	transient := []any{}
	for _, c := range chunks {
		parsed, err := uistream.ParseChunk([]byte(line(c)))
		if err == nil {
			err = r.Add(parsed)
		}
		if err != nil {
			t.Fatalf("%s: %v", line(c), err)
		}
		if c["transient"] == true {
			transient = append(transient, c)
		}
		if reason := c["finishReason"]; reason != nil {
			transient = append(transient, reason)
		}
	}
	var m object
	if err := json.Unmarshal(r.Message().AppendJSON(nil), &m); err != nil {
		t.Fatal(err)
	}
	delete(m, "id")
	if meta, _ := m["metadata"].(object); meta["outcome"] != nil {
		if delete(meta, "outcome"); len(meta) == 0 {
			delete(m, "metadata")
		}
		parts := m["parts"].([]any)
		m["parts"] = parts[:len(parts)-1]
	}
	m["parts"] = slices.DeleteFunc(m["parts"].([]any), func(p any) bool {
		part := p.(object)
		if part["type"] == "reasoning" {
			delete(part, "id")
		}
		_, shows := part["providerMetadata"]
		return (part["type"] == "text" || part["type"] == "reasoning") && part["text"] == "" && !shows
	})
	m["transient"] = transient
	return m
}

// drawing draws a stream as an endpoint of a major writes it.
type drawing struct {
	*rapid.T
	major  int
	calls  int
	chunks []string
}

func drawStream(t *rapid.T, major int) []string {
	d := &drawing{T: t, major: major}
	d.add(object{"type": "start", "messageId": "theirs"}, "messageMetadata")
	for step := range rapid.IntRange(1, 3).Draw(t, "steps") {
		d.add(object{"type": "start-step"})
		for range rapid.IntRange(1, 6).Draw(t, "items") {
			rapid.SampledFrom(d.items()).Draw(t, "item")(step)
		}
		d.add(object{"type": "text-start", "id": "last"}) // no step is empty
		d.add(object{"type": "text-delta", "id": "last", "delta": "x"})
		d.add(object{"type": "text-end", "id": "last"})
		d.add(object{"type": "finish-step"})
	}
	reason := rapid.SampledFrom([]string{"stop", "length", "content-filter", "other"}).Draw(t, "reason")
	d.add(object{"type": "finish", "finishReason": reason}, "messageMetadata")
	return d.chunks
}

// add adds a chunk, with some of the optional keys.
func (d *drawing) add(c object, optional ...string) {
	for _, key := range optional {
		if !rapid.Bool().Draw(d.T, key) {
			continue
		}
		n := rapid.IntRange(0, 9).Draw(d.T, "n")
		switch key {
		case "providerMetadata", "messageMetadata":
			c[key] = object{fmt.Sprint("acme", n%2): object{"n": n}}
		case "toolMetadata", "data", "approvalDescriptor", "inputSchemaInput":
			c[key] = []any{object{"n": n}, 1.5, nil, "text", []any{n}}[n%5]
		case "citations":
			c[key] = []any{object{"u": n}}
		case "dynamic", "providerExecuted", "preliminary":
			c[key] = true
		default:
			c[key] = fmt.Sprint(key, n)
		}
	}
	d.chunks = append(d.chunks, line(c))
}

func (d *drawing) text() string {
	return rapid.SampledFrom([]string{"", "a", "b ", "\n\n", "ü🦀", "\u2028\"\\", "data: x\n\nevent: y"}).Draw(d.T, "text")
}

// items are what a step may hold.
func (d *drawing) items() []func(step int) {
	all := []func(int){
		d.words, d.tool,
		func(int) {
			d.add(object{"type": "source-url", "sourceId": "s" + d.text(), "url": "https://a.test"}, "title", "providerMetadata")
		},
		func(int) {
			d.add(object{"type": "source-document", "sourceId": "s", "mediaType": "text/plain", "title": "B"}, "filename", "providerMetadata")
		},
		func(int) {
			d.add(object{"type": "file", "url": "data:text/plain,hi", "mediaType": "text/plain"}, "providerMetadata")
		},
		func(int) { d.add(object{"type": "data-weather", "data": d.text()}, "id", "data") },
		func(int) { d.add(object{"type": "data-blink", "data": nil, "transient": true}, "id", "data") },
		func(int) {
			d.add(object{"type": "message-metadata", "messageMetadata": object{d.text() + "k": d.text()}})
		},
	}
	if d.major == 7 {
		all = append(all,
			func(int) { d.add(object{"type": "custom", "kind": "acme." + d.text()}, "providerMetadata") },
			func(int) {
				d.add(object{"type": "reasoning-file", "url": "data:,x", "mediaType": "text/plain"}, "providerMetadata")
			},
			func(int) {
				d.add(object{"type": "steering-message", "id": "m", "parts": []any{object{"type": "text", "text": d.text()}}})
			},
			func(step int) { d.words(step); d.add(object{"type": "reset-step"}) },
		)
	}
	return all
}

// words is a text or a reasoning, or two of them at the same time.
func (d *drawing) words(step int) {
	kind := rapid.SampledFrom([]string{"text", "reasoning"}).Draw(d.T, "kind")
	ends := []string{"providerMetadata"}
	if d.major == 7 && kind == "text" {
		ends = append(ends, "citations")
	}
	ids := []string{"a", "b"}[:rapid.IntRange(1, 2).Draw(d.T, "parts")]
	for _, id := range ids {
		d.add(object{"type": kind + "-start", "id": id}, "providerMetadata")
		first := d.text()
		if len(ids) > 1 { // parts stand in the order of their first words
			first += "."
		}
		d.add(object{"type": kind + "-delta", "id": id, "delta": first}, "providerMetadata")
	}
	for range rapid.IntRange(0, 3).Draw(d.T, "deltas") {
		d.add(object{"type": kind + "-delta", "id": rapid.SampledFrom(ids).Draw(d.T, "id"), "delta": d.text()}, "providerMetadata")
	}
	for _, id := range ids {
		d.add(object{"type": kind + "-end", "id": id}, ends...)
	}
}

// tool is a call and its end.
func (d *drawing) tool(int) {
	d.calls++
	id, early, late := fmt.Sprint("c", d.calls), []string{"providerMetadata"}, []string{}
	if d.major > 5 {
		early, late = append(early, "title", "toolMetadata"), append(late, "providerMetadata", "toolMetadata")
	}
	form := object{}
	for _, key := range []string{"dynamic", "providerExecuted"} {
		if rapid.Bool().Draw(d.T, key) {
			form[key] = true
		}
	}
	chunk := func(typ string, keys object) object {
		c := maps.Clone(form)
		c["type"], c["toolCallId"] = typ, id
		maps.Copy(c, keys)
		return c
	}
	named := object{"toolName": "weather", "input": []any{object{"a": 1}, "text", nil, []any{}}[d.calls%4]}
	if rapid.Bool().Draw(d.T, "streamed") {
		start := chunk("tool-input-start", object{"toolName": "weather"})
		d.add(start, late...)
		d.add(object{"type": "tool-input-delta", "toolCallId": id, "inputTextDelta": `{"a":`})
		d.add(object{"type": "tool-input-delta", "toolCallId": id, "inputTextDelta": `1}`})
		named["input"] = object{"a": 1}
	}
	if rapid.IntRange(0, 5).Draw(d.T, "unusable") == 0 {
		named["errorText"] = "not JSON"
		d.add(chunk("tool-input-error", named), early...)
		return
	}
	d.add(chunk("tool-input-available", named), early...)
	if d.major == 7 && rapid.IntRange(0, 2).Draw(d.T, "asks") == 0 {
		approved := rapid.Bool().Draw(d.T, "approved")
		d.add(object{"type": "tool-approval-request", "toolCallId": id, "approvalId": "auto" + id, "isAutomatic": true}, "reason", "signature", "approvalDescriptor", "inputSchemaInput")
		d.add(object{"type": "tool-approval-response", "approvalId": "auto" + id, "approved": approved}, "reason")
		if !approved {
			d.add(object{"type": "tool-output-denied", "toolCallId": id})
			return
		}
	}
	if rapid.Bool().Draw(d.T, "preliminary") {
		d.add(chunk("tool-output-available", object{"output": object{"so": "far"}, "preliminary": true}))
	}
	if rapid.Bool().Draw(d.T, "fails") {
		d.add(chunk("tool-output-error", object{"errorText": "no " + d.text()}), late...)
		return
	}
	d.add(chunk("tool-output-available", object{"output": d.text()}), late...)
}
