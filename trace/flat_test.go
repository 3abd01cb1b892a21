package trace_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tributary-dev/tributary/trace"
)

// A payload that is read the quick way, and the same one after a space, which only encoding/json reads, are the same.
func sameBothWays(t interface {
	Helper()
	Errorf(string, ...any)
}, kind trace.Kind, raw []byte,
) {
	t.Helper()
	quick, errQuick := trace.UnmarshalPayload(kind, raw)
	slow, errSlow := trace.UnmarshalPayload(kind, append([]byte(" "), raw...))
	if u, is := slow.(trace.Unknown); is {
		u.Raw = u.Raw[1:]
		slow = u
	}
	if (errQuick == nil) != (errSlow == nil) || errQuick == nil && !reflect.DeepEqual(quick, slow) {
		t.Errorf("%s %s\nis read as %#v, %v\nand else as %#v, %v", kind, raw, quick, errQuick, slow, errSlow)
	}
}

// flat are payloads of each kind that is read quickly, and others that are like them.
func flat(text string) (all [][2]string) {
	quoted, _ := json.Marshal(text)
	for _, line := range []string{
		`message.start {"part":"text-1","role":Q}`,
		`message {"part":"text-1","role":"assistant","text":Q}`,
		`message {"part":"text-1","role":"user","text":Q,"superseded":true}`,
		`message {"part":"text-1","role":"user","text":"\b\f\n\r\t\/\"\\` + "T" + `","superseded":false}`,
		`message {"text":Q,"part":"text-1"}`,
		`message {"part":"a","part":Q,"text":"x"}`,
		`message {"part":null,"text":Q}`,
		`message {"PART":Q,"text":1}`,
		`message {}`,
		`message {"part":"T"}}`,
		`thought.start {"part":Q}`,
		`thought {"part":"thought-1","text":Q,"signature":Q,"superseded":true}`,
		`thought {"part":"thought-1","text":"\n\u000aT","more":1}`,
		`tool_call.start {"tool_call_id":"c","raw_name":Q,"name":"n","kind":"read","title":Q}`,
		`tool_call.start {"tool_call_id":"c","raw_name":"r","name":"n","kind":Q}`,
		`step {"phase":"start","name":Q}`,
		`step {"phase":Q}`,
		`step {"phase":"start","native_id":Q}`,
		`step {"phase":"end","name":"n","native_id":Q,"finish":Q}`,
		`reply {"message_id":Q,"cause":"prompt","resume":Q}`,
		`reply {"message_id":"m","cause":Q}`,
		`stop {"reason":Q,"outcome":"failed","class":Q,"error":Q,"final_output":Q}`,
		`stop {"reason":"r","outcome":Q,"final_output":""}`,
		`message.delta {"part":"p","delta":Q}`,
		`message null`,
		`message Q`,
		`novel {"part":Q}`,
	} {
		kind, raw, _ := strings.Cut(line, " ")
		all = append(all, [2]string{kind, strings.NewReplacer("Q", string(quoted), "T", text).Replace(raw)})
	}
	return all
}

func FuzzPayloadsAreReadTheSameBothWays(f *testing.F) {
	for _, seed := range flat("a \"b\" \\ \n \u2028 é \xff <>") {
		f.Add(seed[0], []byte(seed[1]))
	}
	f.Fuzz(func(t *testing.T, kind string, raw []byte) { sameBothWays(t, trace.Kind(kind), raw) })
}

// The smallest changes to what we write ourselves: a byte that is another one,
// or missing, or twice there.
func TestPayloadsAreReadTheSameBothWays(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 8), func(b []byte) string { return string(b) })).Draw(t, "text")
		drawn := rapid.SampledFrom(flat(text)).Draw(t, "payload")
		kind, raw := trace.Kind(drawn[0]), []byte(drawn[1])
		sameBothWays(t, kind, raw)
		at := rapid.IntRange(0, len(raw)-1).Draw(t, "at")
		b := rapid.SampledFrom([]byte("\"\\{}[],:019 e-.nul\x00\x1f\x7f\xc3\xff")).Draw(t, "byte")
		changed := bytes.Clone(raw)
		changed[at] = b
		sameBothWays(t, kind, changed)
		sameBothWays(t, kind, slices.Concat(raw[:at], raw[at+1:]))
		sameBothWays(t, kind, slices.Concat(raw[:at], []byte{b}, raw[at:]))
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
