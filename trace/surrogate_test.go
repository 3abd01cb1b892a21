package trace_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/tributary-dev/tributary/trace"
)

// said streams the pieces as one part and returns its text.
func said(t interface{ Fatal(args ...any) }, pieces ...string) string {
	b, log := newTurn()
	b.MessageDelta("k", "^") // so that half a character alone is no empty part
	for _, p := range pieces {
		b.MessageDelta("k", p)
	}
	b.MessageEnd("k")
	if err := b.Finish(trace.Stop{}); err != nil {
		t.Fatal(err)
	}
	if err := check(log.events); err != nil {
		t.Fatal(err)
	}
	for _, e := range log.events {
		if m, ok := e.Payload.(trace.Message); ok {
			return strings.TrimPrefix(m.Text, "^")
		}
	}
	return ""
}

// units writes UTF-16 as a JSON string that escapes whatever is not ASCII.
func units(u []uint16) []byte {
	out := []byte{'"'}
	for _, c := range u {
		out = fmt.Appendf(out, `\u%04x`, c)
	}
	return append(out, '"')
}

func jsonText(t interface{ Fatal(args ...any) }, quoted []byte) string {
	var s trace.JSONText
	if err := json.Unmarshal(quoted, &s); err != nil {
		t.Fatal(err)
	}
	return string(s)
}

const emoji = "a😀b👩🏽‍🚀é€\U0010FFFF\uFFFD\uE000\uD7FFz"

func TestEverySplitOfEscapesGivesTheSameText(t *testing.T) {
	t.Parallel()
	u := utf16.Encode([]rune(emoji))
	for i := range len(u) + 1 {
		for j := i; j <= len(u); j++ {
			got := said(t, jsonText(t, units(u[:i])), jsonText(t, units(u[i:j])), jsonText(t, units(u[j:])))
			if got != emoji {
				t.Fatalf("cut at %d and %d: %q", i, j, got)
			}
		}
	}
}

func TestEverySplitOfBytesGivesTheSameText(t *testing.T) {
	t.Parallel()
	for i := range len(emoji) + 1 {
		for j := i; j <= len(emoji); j++ {
			if got := said(t, emoji[:i], emoji[i:j], emoji[j:]); got != emoji {
				t.Fatalf("cut at %d and %d: %q", i, j, got)
			}
			quote := func(s string) []byte { return []byte(`"` + s + `"`) } // bytes as they are, as from a cut line
			if got := said(t, jsonText(t, quote(emoji[:i])), jsonText(t, quote(emoji[i:j])), jsonText(t, quote(emoji[j:]))); got != emoji {
				t.Fatalf("raw, cut at %d and %d: %q", i, j, got)
			}
		}
	}
}

// Surrogates as three bytes each, which JSONText makes of halves, may be cut too.
func TestEverySplitOfSurrogateBytesGivesTheSameText(t *testing.T) {
	t.Parallel()
	for _, in := range []string{"a\xed\xa0\xbd\xed\xb8\x80b", "\xed\xa0\xbd\xed\x9f\xbf", "\xed\xb8\x80\xed\xa0\xbd", "\xed\xa0\xbd\xed\xa0\xbd\xed\xb8\x80"} {
		whole := said(t, in)
		for i := range len(in) + 1 {
			for j := i; j <= len(in); j++ {
				if got := said(t, in[:i], in[i:j], in[j:]); got != whole {
					t.Fatalf("%q cut at %d and %d: %q, at once %q", in, i, j, got, whole)
				}
			}
		}
	}
}

// Where text is cut never matters, whatever the text is.
func TestSplitsNeverMatter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOfN(rapid.OneOf(
			rapid.SampledFrom([]string{"\xed\xa0\xbd", "\xed\xb8\x80", "\xed\xa0", "\xed", "\xf0\x9f\x98\x80", "\xf0\x9f", "\x80", "\xff", "a", "\xe2\x82", "\ufffd"}),
			rapid.String(),
		), 0, 8).Draw(t, "pieces")
		whole := said(t, strings.Join(pieces, ""))
		if got := said(t, pieces...); got != whole {
			t.Fatalf("in pieces %q, at once %q", got, whole)
		}
		if !utf8.ValidString(whole) {
			t.Fatalf("%q is not UTF-8", whole)
		}
		if s := strings.Join(pieces, ""); utf8.ValidString(s) && s != whole {
			t.Fatalf("%q became %q", s, whole)
		}
	})
}

// UTF-16 of any kind, cut anywhere and escaped, is what Go makes of it at once.
func TestRandomUnitsEqualTheirWhole(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		unit := rapid.OneOf(rapid.Uint16(), rapid.Uint16Range(0xD800, 0xDFFF), rapid.SampledFrom([]uint16{0xD83D, 0xDE00, 'a'}))
		var all []uint16
		var texts []string
		for _, piece := range rapid.SliceOfN(rapid.SliceOfN(unit, 0, 4), 0, 8).Draw(t, "pieces") {
			all = append(all, piece...)
			texts = append(texts, jsonText(t, units(piece)))
		}
		if got, want := said(t, texts...), string(utf16.Decode(all)); got != want {
			t.Fatalf("%q, want %q", got, want)
		}
	})
}

func TestLoneHalvesBecomeReplacementCharacters(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, want string }{
		{`"\ud83d"`, "\ufffd"},
		{`"\ude00"`, "\ufffd"},
		{`"\ud83dx"`, "\ufffdx"},
		{`"\ud83d\ud83d\ude00"`, "\ufffd😀"},
		{`"\ude00\ud83d"`, "\ufffd\ufffd"},
		{`"\ud83d\n\ude00"`, "\ufffd\n\ufffd"},
		{`"\"\\\/\b\f\n\r\t\ud83d"`, "\"\\/\b\f\n\r\t\ufffd"},
	} {
		if got := said(t, jsonText(t, []byte(c.in))); got != c.want {
			t.Errorf("%s became %q, want %q", c.in, got, c.want)
		}
	}
}

func TestHalvesOfACallsInput(t *testing.T) {
	t.Parallel()
	b, log := newTurn()
	for _, d := range []string{`{"a":"`, "\xed\xa0\xbd", "\xed\xb8\x80", `"}`} {
		if d == `{"a":"` {
			b.ToolCallStart(trace.ToolCallStart{ToolCallID: "c"})
		}
		b.ToolCallDelta("c", d)
	}
	if err := b.Finish(trace.Stop{}); err != nil {
		t.Fatal(err)
	}
	for _, e := range log.events {
		if c, ok := e.Payload.(trace.ToolCall); ok && string(c.Input) != `{"a":"😀"}` {
			t.Errorf("input %s", c.Input)
		}
	}
}

func TestJSONTextRefusesValuesThatAreNoString(t *testing.T) {
	t.Parallel()
	for _, in := range []string{`1`, `{}`, `[]`, `true`} {
		var s trace.JSONText
		if err := json.Unmarshal([]byte(in), &s); err == nil {
			t.Errorf("%s was read as %q", in, s)
		}
	}
	s := trace.JSONText("kept")
	if err := json.Unmarshal([]byte(`null`), &s); err != nil || s != "kept" {
		t.Errorf("null: %q, %v", s, err)
	}
}

// JSONText is a string's text, but for halves, which it keeps.
func FuzzJSONText(f *testing.F) {
	for _, s := range []string{`"a"`, `"\ud83d\ude00"`, `"\ud83d"`, "\"\xf0\x9f\"", `"\ud83d\u"`, `"\uD83D\\uDE00"`, `null`, "\"\xed\xa0\xbd\\ude00\"", `1`, ` "a" `} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var plain string
		var text trace.JSONText
		err := json.Unmarshal(data, &plain)
		if (err == nil) != (json.Unmarshal(data, &text) == nil) {
			t.Fatalf("%q: %v", data, err)
		}
		_ = text.UnmarshalJSON(data) // called by itself it must not panic either
		if err != nil || bytes.IndexByte(data, 0xED) >= 0 {
			return
		}
		if got := said(t, string(text)); strings.ReplaceAll(got, "\ufffd", "") != strings.ReplaceAll(plain, "\ufffd", "") {
			t.Fatalf("%q became %q, want %q", data, got, plain)
		}
	})
}
