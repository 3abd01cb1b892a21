package trace_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/tributary-dev/tributary/trace"
)

// A record that is read the quick way, and the same one after a space, which only
// encoding/json reads, are the same.
func sameBothWays(t interface {
	Helper()
	Errorf(string, ...any)
}, line []byte,
) {
	t.Helper()
	quick, slow := trace.Record{Session: "s", Turn: "of old"}, trace.Record{Session: "s", Turn: "of old"}
	errQuick := quick.UnmarshalJSON(line)
	errSlow := slow.UnmarshalJSON(append([]byte(" "), line...))
	if (errQuick == nil) != (errSlow == nil) || !reflect.DeepEqual(quick, slow) {
		t.Errorf("%s\nis read as %#v, %v\nand else as %#v, %v", line, quick, errQuick, slow, errSlow)
	}
}

func own(text string) []string {
	quoted, _ := json.Marshal(text)
	return []string{
		line("message.delta", `{"part":"text-1","delta":`+string(quoted)+`}`),
		line("thought.delta", `{"part":`+string(quoted)+`,"delta":"x"}`),
		line("tool_call.delta", `{"tool_call_id":"c","delta":"`+text+`"}`),
		line("message.start", `{"part":"text-1","role":`+string(quoted)+`}`),
		line("message", `{"part":"text-1","role":"assistant","text":`+string(quoted)+`}`),
		line("message", `{"part":"text-1","role":"user","text":`+string(quoted)+`,"superseded":true}`),
		line("message", `{"part":"text-1","role":"user","text":"\b\f\n\r\t\/\"\\`+text+`","superseded":false}`),
		line("thought.start", `{"part":`+string(quoted)+`}`),
		line("thought", `{"part":"thought-1","text":`+string(quoted)+`,"signature":`+string(quoted)+`,"superseded":true}`),
		line("thought", `{"part":"thought-1","text":"\n\u000a`+text+`"}`),
		line("tool_call.start", `{"tool_call_id":"c","raw_name":`+string(quoted)+`,"name":"n","kind":"read","title":`+string(quoted)+`}`),
		line("tool_call.start", `{"tool_call_id":"c","raw_name":"r","name":"n","kind":`+string(quoted)+`}`),
		line("step", `{"phase":"start","name":`+string(quoted)+`}`),
		line("step", `{"phase":`+string(quoted)+`}`),
		line("step", `{"phase":"start","native_id":`+string(quoted)+`}`),
		line("step", `{"phase":"start","name":"n","native_id":`+string(quoted)+`}`),
		line("reply", `{"message_id":`+string(quoted)+`,"cause":"prompt","resume":`+string(quoted)+`}`),
		line("reply", `{"message_id":"m","cause":`+string(quoted)+`}`),
		line("stop", `{"reason":`+string(quoted)+`,"outcome":"failed","error":`+string(quoted)+`,"final_output":`+string(quoted)+`}`),
		line("stop", `{"reason":"r","outcome":`+string(quoted)+`,"final_output":""}`),
		line("message.delta", `{"part":"p","delta":"d"},"seq":7`),
		line("message.delta", `{"part":"p","delta":"d","more":1}`),
		line("message.delta", `{"delta":"d","part":"p"}`),
		line("message.delta", `{"part":"p"}`),
		line("message.delta", `null`),
		line("novel", `{"part":"p","delta":"d"`),
		line("novel", string(quoted)),
		line(text, `{}`),
	}
}

func FuzzRecordsAreReadTheSameBothWays(f *testing.F) {
	for _, seed := range own("a \"b\" \\ \n \u2028 é \xff <>") {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) { sameBothWays(t, line) })
}

// The smallest changes to what we write ourselves: a byte that is another one,
// or missing, or twice there.
func TestRecordsAreReadTheSameBothWays(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 8), func(b []byte) string { return string(b) })).Draw(t, "text")
		line := []byte(rapid.SampledFrom(own(text)).Draw(t, "line"))
		sameBothWays(t, line)
		at := rapid.IntRange(0, len(line)-1).Draw(t, "at")
		b := rapid.SampledFrom([]byte("\"\\{}[],:019 e-.nul\x00\x1f\x7f\xc3\xff")).Draw(t, "byte")
		changed := bytes.Clone(line)
		changed[at] = b
		sameBothWays(t, changed)
		sameBothWays(t, append(bytes.Clone(line[:at]), line[at+1:]...))
		sameBothWays(t, append(append(bytes.Clone(line[:at]), b), line[at:]...))
	})
}

// Strings are written as encoding/json writes them.
func TestStringsAreWrittenAsJSON(t *testing.T) {
	t.Parallel()
	check := func(t interface {
		Fatalf(string, ...any)
	}, text string,
	) {
		var want bytes.Buffer
		enc := json.NewEncoder(&want)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(map[string]string{"delta": text}); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		got, err := record(trace.MessageDelta{Part: "p", Delta: text}).AppendJSON(nil)
		tail := append([]byte(`"payload":{"part":"p",`), bytes.TrimPrefix(bytes.TrimSpace(want.Bytes()), []byte("{"))...)
		if err != nil || !bytes.HasSuffix(got, append(tail, '}')) {
			t.Fatalf("%q is written as %s, %v; want …%s", text, got, err, tail)
		}
	}
	for c := range 0x3000 {
		check(t, "a"+string(rune(c))+"b")
	}
	for c := range 0x100 {
		check(t, "a"+string([]byte{byte(c)})+"b")
	}
	rapid.Check(t, func(t *rapid.T) {
		check(t, string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))+rapid.String().Draw(t, "text"))
	})
}
