package trace_test

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/tributary-dev/tributary/trace"
)

// line is a record with this type and payload.
func line(kind, payload string) string {
	return `{"v":1,"session":"s","turn":"t","seq":1,"id":"t.1","ts":"2026-01-02T03:04:05Z","type":"` + kind + `","parent_id":null,"actor":"agent","payload":` + payload + `}`
}

func TestUnknownKindsAreKeptByteForByte(t *testing.T) {
	t.Parallel()
	for _, payload := range []string{
		`null`, `0`, `""`, `{}`, `[ ]`,
		`{ "a" :	1 , "b":[ 1,2 ] }`,
		`{"a":1,"a":2,"A":3}`,
		`123456789012345678901234567890.000e+0099`, `-0`, `1E400`,
		`"\u003c\/<>&\u2028` + "\u2028" + `"`,
		`"\ud83d"`, "\"\xff\"",
		strings.Repeat("[", 200) + strings.Repeat("]", 200),
	} {
		in := line("novel.kind", payload)
		var r trace.Record
		if err := json.Unmarshal([]byte(in), &r); err != nil {
			t.Fatalf("%s: %v", payload, err)
		}
		u, ok := r.Payload.(trace.Unknown)
		if !ok || u.UnknownKind != "novel.kind" || string(u.Raw) != payload {
			t.Errorf("read %s as %#v", payload, r.Payload)
		}
		out, err := r.AppendJSON([]byte("x"))
		if err != nil || string(out) != "x"+in {
			t.Errorf("wrote %s, %v; want %s", out, err, in)
		}
	}
}

func TestARecordIsOneLine(t *testing.T) {
	t.Parallel()
	r := record(trace.Unknown{UnknownKind: "novel", Raw: json.RawMessage("{\r\n\"a\":\n1}")})
	out, err := r.AppendJSON(nil)
	if err != nil || !bytes.HasSuffix(out, []byte(`"payload":{  "a": 1}}`)) {
		t.Errorf("%s, %v", out, err)
	}
	if !bytes.Contains(r.Payload.(trace.Unknown).Raw, []byte("\r\n")) {
		t.Error("the record itself was changed")
	}
	r = record(trace.Unknown{UnknownKind: "novel"})
	if out, err := r.AppendJSON(nil); err != nil || !bytes.HasSuffix(out, []byte(`"payload":null}`)) {
		t.Errorf("%s, %v", out, err)
	}
}

func TestAValueThatCannotBeWrittenIsAnError(t *testing.T) {
	t.Parallel()
	late := record(trace.Pause{})
	late.Time = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)
	infinite := math.Inf(1)
	for name, r := range map[string]trace.Record{
		"no payload":       record(nil),
		"not JSON":         record(trace.Unknown{UnknownKind: "novel", Raw: json.RawMessage("{")}),
		"not JSON inside":  record(trace.Data{Value: json.RawMessage("{")}),
		"no such number":   record(trace.Usage{CostUSD: &infinite}),
		"after year 9999":  late,
		"no JSON metadata": record(trace.Prompt{Message: trace.UserMessage{Metadata: json.RawMessage("x")}}),
	} {
		out, err := r.AppendJSON([]byte("before"))
		if err == nil || string(out) != "before" {
			t.Errorf("%s: %s, %v", name, out, err)
		}
	}
}

func TestALineThatIsNoRecordIsAnError(t *testing.T) {
	t.Parallel()
	good := line("stop", `{}`)
	for _, in := range []string{
		`null`, `{}`, `[]`, `1`, `"x"`, ``, `{`,
		strings.Replace(good, `"v":1`, `"v":2`, 1),
		strings.Replace(good, `"v":1`, `"v":0`, 1),
		strings.Replace(good, `"v":1,`, ``, 1),
		strings.Replace(good, `"stop"`, `""`, 1),
		strings.Replace(good, `"stop"`, `null`, 1),
		strings.Replace(good, `"seq":1`, `"seq":-1`, 1),
		strings.Replace(good, `2026-01-02T03:04:05Z`, `yesterday`, 1),
		strings.Replace(good, `2026-01-02T03:04:05Z`, `9999-12-31T23:59:59-01:00`, 1),
		line("stop", `null`), line("stop", `1`), line("stop", `[]`), line("message", `{"text":1}`),
		strings.Replace(good, `,"payload":{}`, ``, 1),
	} {
		r := record(trace.Pause{})
		if err := r.UnmarshalJSON([]byte(in)); err == nil {
			t.Errorf("%s was read as %+v", in, r)
		}
		if !reflect.DeepEqual(r, record(trace.Pause{})) {
			t.Errorf("%s: the record was changed", in)
		}
	}
	var r trace.Record
	if err := json.Unmarshal([]byte(strings.Replace(good, `"v":1`, `"v":2`, 1)), &r); err == nil || !strings.Contains(err.Error(), "version 2") {
		t.Errorf("error %v does not say which version", err)
	}
}

func TestTimesAreUTCWithNanoseconds(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"2026-01-02T03:04:05+01:30":           "2026-01-02T01:34:05Z",
		"2026-01-02T03:04:05.100000000Z":      "2026-01-02T03:04:05.1Z",
		"2026-01-02T03:04:05.123456789Z":      "2026-01-02T03:04:05.123456789Z",
		"2026-01-02T03:04:05.000000001-12:00": "2026-01-02T15:04:05.000000001Z",
	} {
		var r trace.Record
		if err := json.Unmarshal([]byte(strings.Replace(line("stop", `{}`), "2026-01-02T03:04:05Z", in, 1)), &r); err != nil {
			t.Fatal(err)
		}
		out, err := r.AppendJSON(nil)
		if err != nil || !bytes.Contains(out, []byte(`"ts":"`+want+`"`)) {
			t.Errorf("%s became %s, %v", in, out, err)
		}
		if r.Time.Location() != time.UTC {
			t.Errorf("%s is read in %s", in, r.Time.Location())
		}
	}
}

func TestListsThatBelongToAPayloadAreNeverNull(t *testing.T) {
	t.Parallel()
	for p, want := range map[string]trace.Payload{
		`{"message":{"id":"","parts":[]}}`:                            trace.Prompt{},
		`{"request_id":"","tool_call_id":"","title":"","options":[]}`: trace.PermissionRequest{},
		`{"question_id":"","outcome":"","values":[]}`:                 trace.Answer{},
		`{"requests":[]}`: trace.Pause{},
		`{"entries":[]}`:  trace.Plan{},
		`{"tool_call_id":"","status":"","output":null}`: trace.ToolResult{},
		`{"scope":""}`: trace.Usage{},
		`{"tool_call_id":"","raw_name":"","name":"","kind":"","input":null}`: trace.ToolCall{},
	} {
		if got, err := trace.MarshalPayload(want); err != nil || string(got) != p {
			t.Errorf("%s, %v; want %s", got, err, p)
		}
	}
}

// A record that can be written is read back as what it was; bytes that are no
// UTF-8 cannot be in JSON and become U+FFFD.
func TestRecordsRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.String()
		r := trace.Record{
			Session: name.Draw(t, "session"), Turn: name.Draw(t, "turn"), Seq: rapid.Uint64().Draw(t, "seq"),
			Event: trace.Event{
				ID: name.Draw(t, "id"), Parent: name.Draw(t, "parent"), Actor: trace.Actor(name.Draw(t, "actor")),
				Time: time.Unix(rapid.Int64Range(-62135596800, 253402300799).Draw(t, "s"), rapid.Int64Range(0, 999_999_999).Draw(t, "ns")).UTC(),
			},
		}
		for _, e := range randomTurn(t) {
			r.Payload = e.Payload
			out, err := r.AppendJSON(nil)
			if err != nil {
				t.Fatal(err)
			}
			var back trace.Record
			if err := json.Unmarshal(out, &back); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			utf8 := cmp.Comparer(func(a, b string) bool { return string([]rune(a)) == string([]rune(b)) })
			if diff := cmp.Diff(r, back, cmpopts.EquateEmpty(), utf8); diff != "" {
				t.Fatalf("%s\n%s", out, diff)
			}
		}
	})
}

func FuzzRecord(f *testing.F) {
	for _, p := range examples() {
		out, err := record(p).AppendJSON(nil)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(out)
	}
	f.Add([]byte(line("novel", "{\n\"a\" : 1e999,\"a\":2}")))
	f.Add([]byte(line("stop", `{"reason":"\ud83d"}`)))
	f.Fuzz(func(t *testing.T, data []byte) {
		var r trace.Record
		if r.UnmarshalJSON(data) != nil {
			return
		}
		once, err := r.AppendJSON(nil)
		if err != nil {
			t.Fatalf("read, but not written: %v: %s", err, data)
		}
		if bytes.ContainsAny(once, "\n\r") {
			t.Fatalf("not one line: %s", once)
		}
		var back trace.Record
		if err := back.UnmarshalJSON(once); err != nil {
			t.Fatalf("written, but not read: %v: %s", err, once)
		}
		twice, err := back.AppendJSON(nil)
		if err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("%v\n%s\n%s", err, once, twice)
		}
		if u, ok := r.Payload.(trace.Unknown); ok && !bytes.ContainsAny(u.Raw, "\n\r") && !bytes.Contains(data, u.Raw) {
			t.Fatalf("the payload %s is not in %s", u.Raw, data)
		}
	})
}
